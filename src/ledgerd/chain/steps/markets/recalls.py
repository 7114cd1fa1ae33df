"""The lazy pool leaves markets in which nobody bets, step by step (spec 09, section 5.12)."""

from __future__ import annotations

from bisect import insort
from functools import partial
from typing import NamedTuple

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import int64, truncated, uint32
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.lazy_pool import recall
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.protocol.operations.markets.virtual_markets import PmLazyRecall
from ledgerd.protocol.types.assets import fits_int64, tokens
from ledgerd.state.objects.markets import lazy_pool, markets
from ledgerd.state.objects.markets.markets import DELETED, PM_MARKETS, PmMarket
from ledgerd.state.store import Store

STEPS = 10
"""After so many of them the pool stays where it is, and between two a tenth of the market's time passes."""


LIVING = (markets.ACTIVE, markets.WAITING)


class Inspection(NamedTuple):
    """What tells that there is nothing to do with an allocation. Inspections are in the order of their allocations."""

    last_check_time: int
    id: int
    market: int
    limit: int
    """What may have been bet on the market without anything to do."""
    next_step: int
    """When the time for a step comes."""


def recall_idle(ledger: Ledger, budget: MarketBudget) -> None:
    """Quirk: an inspection takes a turn, whatever comes of it. An allocation that was dealt with stands behind the
    others, and is inspected again if the cursor comes by, which has passed the place behind the one it stands on.
    """
    store, left = ledger.store, budget.turns
    if not ledger.median.pm_lazy_pool_enabled or left <= 0:
        return
    span = (lazy_pool.ACTIVE,)
    inspections = store.front(
        lazy_pool.LAZY_ALLOCATION_BY_CHECK, left, partial(_inspection_of, store), lower=span, upper=span
    )
    place = 0
    while (place := _next_to_do(store, inspections, ledger.now, place)) < min(left, len(inspections)):
        row = store.get(lazy_pool.PM_LAZY_ALLOCATIONS, inspections[place].id)
        place += 1
        before = row.last_check_time
        _inspect(ledger, row)
        if row.status == lazy_pool.ACTIVE and row.last_check_time != before and place < len(inspections):
            again = _inspection_of(store, row)
            if again > inspections[place]:
                insort(inspections, again, lo=place + 1)
    budget.done += min(left, len(inspections))


def _next_to_do(store: Store, inspections: list[Inspection], now: int, place: int) -> int:
    """The place of the first of these with which there may be something to do; results move only with statuses."""
    found = store.objects(PM_MARKETS)
    for here in range(place, len(inspections)):
        _, _, market_id, limit, next_step = inspections[here]
        market = found.get(market_id) or store.find(PM_MARKETS, market_id)
        if now >= next_step or market is None or market.bets_sum > limit or market.status not in LIVING:
            return here
    return len(inspections)


def _inspection_of(store: Store, row: lazy_pool.PmLazyAllocation) -> Inspection:
    """Whatever changes in an allocation, the time of its last check or its status does too."""
    next_step = _next_step(row, store.find(PM_MARKETS, row.market))
    return Inspection(row.last_check_time, row.id, row.market, row.bets_sum_at_check, next_step)


def _next_step(row: lazy_pool.PmLazyAllocation, market: PmMarket | None) -> int:
    """When the pool takes its next step out of a market in which nobody bets; 0 if there is none to wait for."""
    if market is None or row.check_step >= STEPS or row.amount <= 0:
        return 0
    return row.last_check_time + max(0, market.result_expiration - market.created_time) // STEPS


def _inspect(ledger: Ledger, row: lazy_pool.PmLazyAllocation) -> None:
    market = ledger.store.find(PM_MARKETS, row.market)
    if market is None or market.status == DELETED:
        if market is not None:
            _recall(ledger, market, row.amount)
        _give_up(ledger, row)
    elif market.status not in LIVING:
        if row.last_check_time != ledger.now:
            with ledger.editing(row):
                row.last_check_time = ledger.now
    elif market.bets_sum > row.bets_sum_at_check:
        with ledger.editing(row):
            row.bets_sum_at_check = market.bets_sum
            row.last_check_time = ledger.now
            row.check_step = 0
    elif row.check_step >= STEPS or row.amount <= 0:
        _give_up(ledger, row)
    elif ledger.now >= _next_step(row, market):
        _recall_step(ledger, market, row)


def _recall_step(ledger: Ledger, market: PmMarket, row: lazy_pool.PmLazyAllocation) -> None:
    percent = ledger.median.pm_lazy_recall_step_percent
    wanted = truncated(int64(row.amount * percent), HUNDRED_PERCENT)
    recalled = recall(ledger, market, min(max(1, wanted), row.amount))
    if recalled <= 0:
        _give_up(ledger, row)
        return
    with ledger.editing(row):
        row.amount = fits_int64(row.amount - recalled)
        row.recalled_amount = fits_int64(row.recalled_amount + recalled)
        row.bets_sum_at_check = market.bets_sum
        row.last_check_time = ledger.now
        row.check_step = uint32(row.check_step + 1)
    ledger.emit(PmLazyRecall(market.id, tokens(recalled)))


def _recall(ledger: Ledger, market: PmMarket, amount: int) -> None:
    """Of a market that was deleted, all."""
    recalled = recall(ledger, market, amount)
    if recalled > 0:
        ledger.emit(PmLazyRecall(market.id, tokens(recalled)))


def _give_up(ledger: Ledger, row: lazy_pool.PmLazyAllocation) -> None:
    with ledger.editing(row):
        row.status = lazy_pool.RETURNED
