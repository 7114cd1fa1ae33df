"""Records of what the reference's rules put out of balance; `audit` compares them with the state."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.types.assets import fits_int64
from ledgerd.state.objects.discrepancies import DISCREPANCIES, DISCREPANCY_BY_OWNER, Discrepancy, Sum


def record_discrepancy(ledger: Ledger, kind: Sum, amount: int, of: int = 0) -> None:
    """Record that a rule has added this amount to one side only."""
    if not amount:
        return
    known = ledger.store.lookup(DISCREPANCY_BY_OWNER, kind, of)
    if known is None:
        ledger.store.create(DISCREPANCIES, Discrepancy(kind=kind, of=of, amount=amount))
        return
    ledger.remember(known)
    known.amount = fits_int64(known.amount + amount)


def forget(ledger: Ledger, kind: Sum) -> None:
    """Drop all records of a kind, after it was counted again."""
    for known in ledger.store.under(DISCREPANCY_BY_OWNER, kind):
        ledger.store.remove(known)


def recorded(ledger: Ledger, kind: Sum) -> dict[int, int]:
    known = ledger.store.under(DISCREPANCY_BY_OWNER, kind)
    return {each.of: each.amount for each in known if each.amount}
