"""The lazy pool leaves markets in which nobody bets, step by step (spec 09, section 5.12)."""

from __future__ import annotations

from bisect import insort
from itertools import islice
from typing import TYPE_CHECKING

from ledgerd.chain.ledger.arithmetic import int64, share, truncated, uint32
from ledgerd.chain.rules.markets.lazy_pool import recall
from ledgerd.protocol.assets import tokens
from ledgerd.protocol.constants import HUNDRED_PERCENT
from ledgerd.protocol.operations.virtual_markets import PmLazyRecall
from ledgerd.state.objects.lazy_pool import (
    ACTIVE,
    LAZY_ALLOCATION_BY_CHECK,
    PM_LAZY_ALLOCATIONS,
    RETURNED,
    PmLazyAllocation,
)
from ledgerd.state.objects.markets import CLOSED, DELETED, PM_MARKETS, PmMarket

if TYPE_CHECKING:
    from ledgerd.chain.ledger.ledger import Ledger
    from ledgerd.chain.steps.markets.budget import Budget

STEPS = 10
"""After so many of them the pool stays where it is, and between two a tenth of the market's time passes."""


def recall_idle(ledger: Ledger, budget: Budget) -> None:
    """Look at allocations, those first that were looked at longest ago.

    Quirk: a look takes a turn, whatever comes of it. One that was dealt with is of now, and stands behind the others:
    it is looked at again if the cursor comes by. The cursor stands on the allocation behind the one that is looked
    at, and has passed the place behind that.
    """
    if not ledger.median.pm_lazy_pool_enabled or budget.turns <= 0:
        return
    rows = ledger.store.scan(LAZY_ALLOCATION_BY_CHECK, lower=(ACTIVE,), upper=(ACTIVE,))
    ahead = [(row.last_check_time, row.id) for row in islice(rows, budget.turns)]
    place = 0
    while place < len(ahead) and budget.turns > 0:
        time, row_id = ahead[place]
        place += 1
        row = ledger.store.get(PM_LAZY_ALLOCATIONS, row_id)
        budget.take_turn()
        _look_at(ledger, row)
        has_moved = row.status == ACTIVE and row.last_check_time != time
        if has_moved and place < len(ahead) and (row.last_check_time, row_id) > ahead[place]:
            insort(ahead, (row.last_check_time, row_id), lo=place + 1)


def _look_at(ledger: Ledger, row: PmLazyAllocation) -> None:
    market = ledger.store.find(PM_MARKETS, row.market)
    if market is None or market.status == DELETED:
        if market is not None:
            _recall(ledger, market, row.amount)
        _give_up(ledger, row)
    elif market.status >= CLOSED:
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
    elif ledger.now >= row.last_check_time + _step_of(market):
        _take_step(ledger, market, row)


def _step_of(market: PmMarket) -> int:
    return max(0, market.result_expiration - market.created_time) // STEPS


def _take_step(ledger: Ledger, market: PmMarket, row: PmLazyAllocation) -> None:
    percent = ledger.median.pm_lazy_recall_step_percent
    wanted = truncated(int64(row.amount * percent), HUNDRED_PERCENT)
    recalled = recall(ledger, market, min(max(1, wanted), row.amount))
    if recalled <= 0:
        _give_up(ledger, row)
        return
    with ledger.editing(row):
        row.amount = share(row.amount - recalled)
        row.recalled_amount = share(row.recalled_amount + recalled)
        row.bets_sum_at_check = market.bets_sum
        row.last_check_time = ledger.now
        row.check_step = uint32(row.check_step + 1)
    ledger.emit(PmLazyRecall(market.id, tokens(recalled)))


def _recall(ledger: Ledger, market: PmMarket, amount: int) -> None:
    """Of a market that was deleted, all."""
    recalled = recall(ledger, market, amount)
    if recalled > 0:
        ledger.emit(PmLazyRecall(market.id, tokens(recalled)))


def _give_up(ledger: Ledger, row: PmLazyAllocation) -> None:
    with ledger.editing(row):
        row.status = RETURNED
