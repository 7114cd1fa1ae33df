"""How many signatures a transaction can use at all: known before any key is recovered, which is what costs.

Whether the signatures suffice is not asked here.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.authority import Authority
from ledgerd.protocol.authority_check import IrrelevantSignature
from ledgerd.protocol.authority_web import MAX_DEPTH
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.transaction import Transaction
from ledgerd.state.objects.accounts import AUTHORITY_BY_ACCOUNT

IDLE = 16
"""Signatures beyond those that could be used: up to so many the rules decide, in their order and with their texts."""

MOST_ACCOUNTS = 256
"""Accounts whose authorities are looked at; with more, the signatures are taken to be of use."""


def require_usable(ledger: Ledger, transaction: Transaction) -> None:
    """Refuse a transaction with more signatures than the authorities that it asks for have keys.

    The rules would recover all the keys first, and then say the same, or that an authority is missing.
    """
    count = len(transaction.signatures) - IDLE
    if count <= 0:
        return
    keys: set[PublicKey] = set()
    for met, authority in enumerate(_authorities(ledger, transaction)):
        keys.update(authority.key_auths)
        if len(keys) >= count or met >= MOST_ACCOUNTS:
            return
    raise IrrelevantSignature("Unnecessary signature(s) detected")


def _authorities(ledger: Ledger, transaction: Transaction) -> Iterator[Authority]:
    """All authorities that may be looked at, of any kind, each once."""
    required = transaction.required
    yield from required.other
    names = {*required.active, *required.master, *required.regular}
    names.update(name for authority in required.other for name in authority.account_auths)
    met: set[AccountName] = set()
    for _ in range(MAX_DEPTH + 1):
        members: set[AccountName] = set()
        for name in sorted(names - met):
            known = ledger.store.lookup(AUTHORITY_BY_ACCOUNT, name)
            for authority in (known.active, known.master, known.regular) if known is not None else ():
                yield authority
                members.update(authority.account_auths)
        met |= names
        names = members
