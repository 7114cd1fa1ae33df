"""Which accounts a key belongs to, for `account_by_key` (spec 05, section 14).

Only the operations that give an account its keys are followed, as in the reference: accounts of the genesis, and
accounts that were bought, are not known by their keys until they change them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ledgerd.chain.ledger.events import BlockApplied, Sample
from ledgerd.chain.ledger.ledger import Ledger, Sampler
from ledgerd.projections.projection import Projection
from ledgerd.projections.tables.key_references import KEY_REFERENCES, REFERENCE_BY_KEY, KeyReference
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.accounts import AccountCreate, AccountUpdate, RecoverAccount
from ledgerd.protocol.operations.money.invites import InviteRegistration
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import AUTHORITY_BY_ACCOUNT
from ledgerd.state.store import Store


class AccountKeys(NamedTuple):
    """The keys of an account before and after an operation."""

    account: AccountName
    before: set[PublicKey]
    after: set[PublicKey]


class KeySampler(Sampler):
    """The keys of an account before and after an operation that gives it keys."""

    def __init__(self, field: str, *, is_new: bool = False) -> None:
        self._field = field
        """The field of the operation that names the account."""
        self._is_new = is_new
        """Whether the operation makes the account: what the state knows of an account before is not its own."""

    def before(self, ledger: Ledger, operation: Operation) -> set[PublicKey]:
        return set() if self._is_new else _keys_of(ledger, getattr(operation, self._field))

    def after(self, ledger: Ledger, operation: Operation, before: set[PublicKey]) -> AccountKeys:
        name = getattr(operation, self._field)
        return AccountKeys(name, before, _keys_of(ledger, name))


def _keys_of(ledger: Ledger, name: AccountName) -> set[PublicKey]:
    authority = ledger.store.lookup(AUTHORITY_BY_ACCOUNT, name)
    if authority is None:
        return set()
    return {*authority.master.key_auths, *authority.active.key_auths, *authority.regular.key_auths}


class KeyReferences(Projection):
    """Which accounts a key has been given to."""

    name = "key references"
    samplers = {  # noqa: RUF012 - shared by all, and never changed
        AccountCreate: (KeySampler("new_account_name", is_new=True),),
        InviteRegistration: (KeySampler("new_account_name", is_new=True),),
        AccountUpdate: (KeySampler("account"),),
        RecoverAccount: (KeySampler("account_to_recover"),),
    }

    def apply(self, _event: BlockApplied, samples: Sequence[Sample], kept: Store) -> None:
        """Add the keys that have come, drop those that have gone; what has stayed is left as it is known."""
        for sample in samples:
            name, before, after = sample.found
            for key in sorted(after - before):
                if kept.lookup(REFERENCE_BY_KEY, key, name) is None:
                    kept.create(KEY_REFERENCES, KeyReference(key=key, account=name))
            for key in sorted(before - after):
                reference = kept.lookup(REFERENCE_BY_KEY, key, name)
                if reference is not None:
                    kept.remove(reference)
