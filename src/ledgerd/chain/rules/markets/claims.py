"""Claims of those who left a market early: what they get of its end (spec 08, sections 3.13, 5.4 and 9.2)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.constants import MAX_PM_DEFERRED_CLAIMS_PER_MARKET
from ledgerd.protocol.names import AccountName
from ledgerd.state.objects.markets import PmMarket
from ledgerd.state.objects.settlements import PM_DEFERRED_CLAIMS, PmDeferredClaim


def defer_claim(ledger: Ledger, market: PmMarket, account: AccountName, kind: int, outcome: int, amount: int) -> None:
    """Take a claim in, unless it is of nothing; beyond the most that a market may have it is lost."""
    if amount <= 0 or market.deferred_claim_count >= MAX_PM_DEFERRED_CLAIMS_PER_MARKET:
        return
    ledger.store.create(
        PM_DEFERRED_CLAIMS,
        PmDeferredClaim(
            market=market.id,
            account=account,
            kind=kind,
            outcome_index=outcome & 0xFF,
            claim_amount=amount,
            exit_time=ledger.now,
        ),
    )
    with ledger.editing(market):
        market.deferred_claim_count += 1
