"""Resolved markets that are disputed no more: they are paid out (spec 09, section 5.8)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.gauges import IN_DISPUTE_WINDOW, turn_gauge
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.chain.steps.markets.missed_resolution import end_of_grace
from ledgerd.chain.steps.markets.settling import settle
from ledgerd.protocol.assets import tokens
from ledgerd.protocol.operations.virtual_markets import PmAutoPayout
from ledgerd.state.objects.disputes import DISPUTE_BY_MARKET
from ledgerd.state.objects.markets import BEING_PAID, MARKET_BY_PAYMENT, PAID, TO_BE_PAID, PmMarket

NO_BET = -1
"""In the virtual operation, which is of the market as a whole."""


def settle_resolved(ledger: Ledger, budget: MarketBudget) -> None:
    """The one whose result was due first comes first, also before those whose settlement was cut."""
    for market in ledger.store.scan(MARKET_BY_PAYMENT, lower=(True,), upper=(True, end_of_grace(ledger))):
        if budget.turns <= 0:
            return
        if market.payout_status == TO_BE_PAID:
            _begin(ledger, market)
        if not settle(ledger, market, budget):
            return
        with ledger.editing(market):
            market.payout_status = PAID
            market.finalized_time = ledger.now
        ledger.emit(PmAutoPayout(market.oracle, market.id, NO_BET, tokens(market.bets_sum)))
        budget.take_turn()


def _begin(ledger: Ledger, market: PmMarket) -> None:
    if ledger.store.lookup(DISPUTE_BY_MARKET, market.id) is None:
        turn_gauge(ledger, market.oracle, IN_DISPUTE_WINDOW, -1)
    with ledger.editing(market):
        market.payout_status = BEING_PAID
