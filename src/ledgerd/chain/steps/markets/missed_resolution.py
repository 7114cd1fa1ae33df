"""Markets whose oracle has not said how they ended: everything is refunded (spec 09, section 5.2)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.gauges import end_market
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.chain.steps.markets.refunding import close_refunded, refund
from ledgerd.chain.steps.markets.slashing import slash_idle
from ledgerd.protocol.assets import tokens
from ledgerd.protocol.operations.virtual_markets import PmOracleMissedPenalty
from ledgerd.state.objects.markets import ACTIVE, BEING_PAID, MARKET_BY_RESULT_EXPIRATION, PmMarket


def refund_unresolved(ledger: Ledger, budget: MarketBudget) -> None:
    """Until the refund is through, which may take several blocks, the market stays active."""
    due = ledger.store.scan(MARKET_BY_RESULT_EXPIRATION, lower=(ACTIVE, 0), upper=(ACTIVE, 0, end_of_grace(ledger)))
    for market in due:
        if budget.turns <= 0:
            return
        if market.payout_status != BEING_PAID:
            _begin(ledger, market)
        if not refund(ledger, market, budget):
            return
        end_market(ledger, market)
        close_refunded(ledger, market)
        budget.take_turn()


def end_of_grace(ledger: Ledger) -> int:
    """Results that were due up to this time are disputed no more."""
    return max(0, ledger.now - ledger.median.pm_dispute_grace_sec)


def _begin(ledger: Ledger, market: PmMarket) -> None:
    slashed = slash_idle(ledger, market, "missed_count")
    with ledger.editing(market):
        market.payout_status = BEING_PAID
    ledger.emit(PmOracleMissedPenalty(market.oracle, market.id, tokens(slashed)))
