"""Removing what is left of markets that ended long ago (spec 09, sections 5.9 and 6.5)."""

from __future__ import annotations

from itertools import islice
from typing import Any

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.balances import burn
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.state.objects.bets import BET_BY_MARKET
from ledgerd.state.objects.commitments import COMMIT_BY_MARKET
from ledgerd.state.objects.disputes import DISPUTE_BY_MARKET, DISPUTE_VOTE_BY_MARKET
from ledgerd.state.objects.lazy_pool import LAZY_ALLOCATION_BY_MARKET
from ledgerd.state.objects.leverage import LEVERAGE_BY_MARKET_STATUS
from ledgerd.state.objects.liquidity import LIQUIDITY_BY_MARKET
from ledgerd.state.objects.markets import MARKET_BY_FINALIZED, OUTCOME_BY_MARKET, PmMarket
from ledgerd.state.objects.settlements import DEFERRED_CLAIM_BY_MARKET, SETTLEMENT_BY_MARKET
from ledgerd.state.tables import Index

FINALIZED = 1
"""Markets that are not finalized have time 0."""

PARTS: tuple[Index[Any], ...] = (
    OUTCOME_BY_MARKET,
    BET_BY_MARKET,
    LIQUIDITY_BY_MARKET,
    COMMIT_BY_MARKET,
    DISPUTE_VOTE_BY_MARKET,
    LEVERAGE_BY_MARKET_STATUS,
    DEFERRED_CLAIM_BY_MARKET,
    SETTLEMENT_BY_MARKET,
    DISPUTE_BY_MARKET,
    LAZY_ALLOCATION_BY_MARKET,
)
"""What goes with a market, in the order in which it goes."""


def collect_ended(ledger: Ledger, budget: MarketBudget) -> None:
    """Whatever of a market the budget does not reach goes in a later block."""
    kept_until = max(0, ledger.now - ledger.median.pm_closed_market_retention_sec)
    for market in ledger.store.scan(MARKET_BY_FINALIZED, lower=(FINALIZED,), upper=(kept_until,)):
        if budget.turns <= 0 or not _collect(ledger, market, budget):
            return
        budget.take_turn()


def _collect(ledger: Ledger, market: PmMarket, budget: MarketBudget) -> bool:
    if market.forfeit_pool > 0:
        burn(ledger, market.forfeit_pool)
        with ledger.editing(market):
            market.forfeit_pool = 0
    for index in PARTS:
        for part in list(islice(ledger.store.scan(index, lower=(market.id,), upper=(market.id,)), budget.rows + 1)):
            if not budget.spend():
                return False
            ledger.store.remove(part)
    if not budget.spend():
        return False
    ledger.store.remove(market)
    return True
