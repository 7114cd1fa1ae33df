"""Which accounts a key belongs to, for `account_by_key` (spec 05, section 14).

Only the operations that give an account its keys are followed, as in the reference: accounts of the genesis, and
accounts that were bought, are not known by their keys until they change them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ledgerd.chain.ledger.ledger import Followers, Ledger
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.accounts import AccountCreate, AccountUpdate
from ledgerd.protocol.operations.invites import InviteRegistration
from ledgerd.protocol.operations.recovery import RecoverAccount
from ledgerd.state.objects.accounts import AUTHORITY_BY_ACCOUNT
from ledgerd.state.objects.key_references import KEY_REFERENCES, REFERENCE_BY_KEY, KeyReference


@contextmanager
def _new_account(ledger: Ledger, operation: AccountCreate | InviteRegistration) -> Iterator[None]:
    yield
    _note(ledger, operation.new_account_name, set())


@contextmanager
def _updated_account(ledger: Ledger, operation: AccountUpdate) -> Iterator[None]:
    before = _keys_of(ledger, operation.account)
    yield
    _note(ledger, operation.account, before)


@contextmanager
def _recovered_account(ledger: Ledger, operation: RecoverAccount) -> Iterator[None]:
    before = _keys_of(ledger, operation.account_to_recover)
    yield
    _note(ledger, operation.account_to_recover, before)


def _keys_of(ledger: Ledger, name: AccountName) -> set[PublicKey]:
    authority = ledger.store.lookup(AUTHORITY_BY_ACCOUNT, name)
    if authority is None:
        return set()
    return {*authority.master.key_auths, *authority.active.key_auths, *authority.regular.key_auths}


def _note(ledger: Ledger, name: AccountName, before: set[PublicKey]) -> None:
    """Add the keys that have come, drop those that have gone; what has stayed is left as it is known."""
    after = _keys_of(ledger, name)
    for key in sorted(after - before):
        if ledger.store.lookup(REFERENCE_BY_KEY, key, name) is None:
            ledger.store.create(KEY_REFERENCES, KeyReference(key=key, account=name))
    for key in sorted(before - after):
        reference = ledger.store.lookup(REFERENCE_BY_KEY, key, name)
        if reference is not None:
            ledger.store.remove(reference)


KEY_FOLLOWERS: Followers = {
    AccountCreate: _new_account,
    InviteRegistration: _new_account,
    AccountUpdate: _updated_account,
    RecoverAccount: _recovered_account,
}
