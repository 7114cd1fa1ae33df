"""Disputes that nobody has decided in time: everything is refunded (spec 09, section 5.6)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.gauges import dispute_left_open
from ledgerd.chain.rules.markets.market import market_of
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.chain.steps.markets.refunding import close_refunded, refund
from ledgerd.chain.steps.markets.slashing import slash_idle
from ledgerd.protocol.assets import tokens
from ledgerd.protocol.operations.virtual_markets import PmDisputeAutoClose
from ledgerd.state.objects.disputes import CLOSED_BY_TIME, DISPUTE_BY_AUTO_CLOSE, OPEN, PmDispute
from ledgerd.state.objects.markets import BEING_PAID, PmMarket


def close_undecided(ledger: Ledger, budget: MarketBudget) -> None:
    """Quirk: a refund that is cut here is taken up by the settlement of the same block, which ends or fails it.

    Such a market is resolved, being paid and long due, and so looks like one whose settlement was cut.
    """
    due = ledger.store.scan(DISPUTE_BY_AUTO_CLOSE, lower=(OPEN,), upper=(OPEN, ledger.now))
    for dispute in due:
        if budget.turns <= 0:
            return
        market = market_of(ledger, dispute.market)
        if market.payout_status != BEING_PAID:
            _begin(ledger, market, dispute)
        if not refund(ledger, market, budget):
            return
        close_refunded(ledger, market)
        dispute_left_open(ledger, market.oracle, dispute)
        with ledger.editing(dispute):
            dispute.status = CLOSED_BY_TIME
        budget.take_turn()


def _begin(ledger: Ledger, market: PmMarket, dispute: PmDispute) -> None:
    slashed = slash_idle(ledger, market, "dispute_responses_missed", "disputes_auto_closed")
    if dispute.dispute_fee > 0:
        adjust_balance(ledger, ledger.account(dispute.disputer), dispute.dispute_fee)
    with ledger.editing(market):
        market.payout_status = BEING_PAID
    ledger.emit(PmDisputeAutoClose(market.oracle, market.id, tokens(slashed)))
