"""Which keys and accounts could sign for an account until when, kept since hardfork 15 (spec 10, section 6)."""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.crypto.keys import NULL_KEY, PublicKey
from ledgerd.protocol.errors import require
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.state.objects.accounts.accounts import (
    KEY_HISTORY,
    KEY_HISTORY_BY_ROLE,
    KeyHistory,
    Role,
)

NO_MEMBER = ((NULL_KEY, NO_NAME, 0),)
"""Of an authority without members one row is kept all the same: what its threshold was, and until when."""


class HeldKeys(NamedTuple):
    """What signs for an account, and reads its memos, at one moment."""

    master: Authority
    active: Authority
    regular: Authority
    memo: PublicKey


def held_keys(ledger: Ledger, name: AccountName) -> HeldKeys:
    authority = ledger.authority(name)
    return HeldKeys(authority.master, authority.active, authority.regular, ledger.account(name).memo_key)


def record_changes(ledger: Ledger, name: AccountName, before: HeldKeys) -> None:
    """Keep what an account had and has no longer: role by role, keys before accounts (spec 10, section 6.2)."""
    if not ledger.hardfork(15):
        return
    now = held_keys(ledger, name)
    roles = (
        (Role.MASTER, before.master, now.master),
        (Role.ACTIVE, before.active, now.active),
        (Role.REGULAR, before.regular, now.regular),
    )
    for role, old, new in roles:
        if old != new:
            for key, account, weight in _members(old):
                _record(ledger, name, role, key, account, weight, old.weight_threshold)
    if before.memo != now.memo:
        _record(ledger, name, Role.MEMO, before.memo)


def _members(authority: Authority) -> tuple[tuple[PublicKey, AccountName, int], ...]:
    keys = tuple((key, NO_NAME, weight) for key, weight in authority.key_auths.items())
    accounts = tuple((NULL_KEY, account, weight) for account, weight in authority.account_auths.items())
    return keys + accounts or NO_MEMBER


def _record(
    ledger: Ledger,
    name: AccountName,
    role: Role,
    key: PublicKey,
    account: AccountName = NO_NAME,
    weight: int = 0,
    threshold: int = 0,
) -> None:
    entry = KeyHistory(
        account=name,
        role=role,
        key=key,
        auth_account=account,
        weight=weight,
        weight_threshold=threshold,
        valid_until_block=ledger.head_number,
        valid_until_time=ledger.now,
    )
    ledger.store.create(KEY_HISTORY, entry)


def require_pause(ledger: Ledger, name: AccountName, role: Role, what: str) -> None:
    """The last change of this role is longer ago than the limit (spec 10, section 6.4); the first is free."""
    last = ledger.store.first(KEY_HISTORY_BY_ROLE, lower=(name, role), upper=(name, role), reverse=True)
    changed = 0 if last is None else last.valid_until_time
    require(
        ledger.now - changed > ledger.network.master_update_limit,
        "now - _db.last_key_change(o.account, role) > CHAIN_MASTER_UPDATE_LIMIT: "
        "${w} can only be changed once an hour.",
        w=what,
    )
