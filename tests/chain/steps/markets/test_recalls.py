"""The lazy pool leaves markets step by step; how often it looks at which (spec 09, section 5.12)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.markets import recalls
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.protocol.operations.markets.virtual_markets import PmLazyRecall
from ledgerd.protocol.types.assets import tokens
from ledgerd.state.objects.markets.lazy_pool import (
    ACTIVE,
    LAZY_ALLOCATION_BY_CHECK,
    PM_LAZY_ALLOCATIONS,
    PM_LAZY_POOLS,
    RETURNED,
    PmLazyAllocation,
)
from ledgerd.state.objects.markets.liquidity import CLOSED, PM_LIQUIDITY
from ledgerd.state.objects.markets.markets import DELETED, RESOLVED, PmMarket
from tests.chain.ledgers import NOW, change, close_all, pass_time, set_median
from tests.chain.market_scenes import create_liquidity, create_market, market_ledger
from tests.chain.steps.markets.market_blocks import next_block, of_kind, this_block
from tests.state.ids import set_next_id


def allocate(ledger: Ledger, market: PmMarket, amount: int = 10_000, **fields: Any) -> PmLazyAllocation:
    """The pool has put tokens into a market; it looked at them last when the market was made."""
    create_liquidity(ledger, market, "", amount)
    row = PmLazyAllocation(market=market.id, amount=amount, original_amount=amount, last_check_time=market.created_time)
    for field, value in fields.items():
        setattr(row, field, value)
    pool = ledger.store.get(PM_LAZY_POOLS, 0)
    change(ledger, pool, allocated_balance=pool.allocated_balance + amount)
    return ledger.store.create(PM_LAZY_ALLOCATIONS, row)


def idle_market(ledger: Ledger, length: int = 10_000, **fields: Any) -> PmMarket:
    """A market with so many seconds from its beginning, now, to its result."""
    return create_market(ledger, 100_000, created_time=NOW, result_expiration=NOW + length, **fields)


def test_after_a_tenth_of_the_time_without_bets_a_tenth_of_the_tokens_comes_back(markets: Ledger) -> None:
    market = idle_market(markets)
    row, pool = allocate(markets, market), markets.store.get(PM_LAZY_POOLS, 0)

    pass_time(markets, 999)
    assert this_block(markets) == []
    assert next_block(markets, 1) == [PmLazyRecall(market.id, tokens(1_000))]

    assert (row.amount, row.recalled_amount, row.check_step, row.last_check_time) == (9_000, 1_000, 1, NOW + 1_000)
    assert (pool.free_balance, pool.allocated_balance) == (1_000, 9_000)
    assert (market.liquidity_sum, markets.store.get(PM_LIQUIDITY, 0).amount) == (99_000, 9_000)
    assert (market.reserve_a, market.reserve_b, market.k) == (49_500, 49_500, 49_500**2)


def test_a_recall_shrinks_both_reserves_as_the_liquidity_shrinks(markets: Ledger) -> None:
    market = idle_market(markets)
    change(markets, market, reserve_a=1_234_567, reserve_b=987_654, liquidity_sum=2_100_000)
    allocate(markets, market, 333_330)
    pass_time(markets, 1_000)

    this_block(markets)

    assert (market.reserve_a, market.reserve_b, market.k) == (1_214_970, 971_977, 1_180_922_895_690)


def test_a_recall_takes_the_pool_out_of_a_books_depth(markets: Ledger) -> None:
    market = idle_market(markets, market_type=1, lmsr_b=5_000)
    allocate(markets, market)
    change(markets, markets.store.get(PM_LIQUIDITY, 0), b_share=777)
    pass_time(markets, 1_000)

    this_block(markets)

    assert (market.lmsr_b, markets.store.get(PM_LIQUIDITY, 0).b_share) == (5_000 - 77, 777 - 77)


def test_the_tenth_step_is_the_last(markets: Ledger) -> None:
    row = allocate(markets, idle_market(markets), check_step=9)
    pass_time(markets, 1_000)

    assert len(this_block(markets)) == 1
    assert (row.check_step, row.status) == (10, ACTIVE)
    assert next_block(markets) == []
    assert row.status == RETURNED


@pytest.mark.parametrize(("amount", "taken"), [(9, 1), (10, 1), (20, 2), (1, 1)])
def test_a_step_takes_one_at_least(amount: int, taken: int, markets: Ledger) -> None:
    row = allocate(markets, idle_market(markets), amount)
    pass_time(markets, 1_000)

    assert this_block(markets) == [PmLazyRecall(0, tokens(taken))]
    assert row.amount == amount - taken
    if row.amount == 0:
        assert markets.store.get(PM_LIQUIDITY, 0).status == CLOSED


def test_new_bets_begin_the_steps_anew(markets: Ledger) -> None:
    market = idle_market(markets)
    row = allocate(markets, market, check_step=4)
    change(markets, market, bets_sum=1)
    pass_time(markets, 1_000)

    assert this_block(markets) == []
    assert (row.check_step, row.bets_sum_at_check, row.last_check_time) == (0, 1, NOW + 1_000)


def test_new_bets_are_seen_in_the_block_after_a_quiet_one(markets: Ledger) -> None:
    market = idle_market(markets)
    row = allocate(markets, market)
    assert this_block(markets) == []
    change(markets, market, bets_sum=1)

    next_block(markets)

    assert row.bets_sum_at_check == 1


def test_a_deleted_market_gives_all_back_and_one_that_is_gone_nothing(markets: Ledger) -> None:
    deleted, gone = idle_market(markets, status=DELETED), idle_market(markets)
    rows = [allocate(markets, deleted), allocate(markets, gone)]
    markets.store.remove(gone)

    assert this_block(markets) == [PmLazyRecall(deleted.id, tokens(10_000))]
    assert [(row.status, row.amount) for row in rows] == [(RETURNED, 10_000)] * 2


def test_of_a_resolved_market_only_the_time_is_noted(markets: Ledger) -> None:
    row = allocate(markets, idle_market(markets, status=RESOLVED))

    next_block(markets, 5_000)

    assert (row.last_check_time, row.amount, row.status) == (NOW + 5_000, 10_000, ACTIVE)


def test_a_pool_that_is_switched_off_stays_where_it_is(markets: Ledger) -> None:
    allocate(markets, idle_market(markets))
    set_median(markets, pm_lazy_pool_enabled=False)
    pass_time(markets, 1_000)

    assert this_block(markets) == []


def test_a_market_of_less_than_ten_seconds_is_left_twice_in_a_block(markets: Ledger) -> None:
    """Quirk: behind another row that moves, the cursor comes by again, and the next step has come already."""
    set_next_id(markets.store, PM_LAZY_ALLOCATIONS, 2)
    first = allocate(markets, idle_market(markets, 9), last_check_time=NOW - 20)
    allocate(markets, idle_market(markets, status=RESOLVED), last_check_time=NOW - 10)

    happened = this_block(markets)

    assert happened == [PmLazyRecall(0, tokens(1_000)), PmLazyRecall(0, tokens(900))]
    assert first.check_step == 2


def visits(rows: list[tuple[int, int]], cap: int, monkeypatch: pytest.MonkeyPatch) -> tuple[list[int], int]:
    """Which allocations are looked at, if all of them move to now, and how many turns that takes."""
    looked_at: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        ledger = market_ledger(Path(folder))
        market = idle_market(ledger, status=RESOLVED)
        for row_id, time in sorted(rows):
            set_next_id(ledger.store, PM_LAZY_ALLOCATIONS, row_id)
            ledger.store.create(PM_LAZY_ALLOCATIONS, PmLazyAllocation(market=row_id, last_check_time=time))

        def look_at(ledger: Ledger, row: PmLazyAllocation) -> None:
            looked_at.append(row.id)
            with ledger.editing(row):
                row.last_check_time = ledger.now

        monkeypatch.setattr(recalls, "_inspect", look_at)
        set_median(ledger, pm_processing_cap_per_block=cap)
        budget = MarketBudget(ledger.median)
        recalls.recall_idle(ledger, budget)
        monkeypatch.undo()
        close_all()
    assert market.status == RESOLVED
    return looked_at, budget.done


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(2, 10)], [2]),
        ([(5, 10), (2, 20)], [5, 2, 5]),
        ([(2, 10), (5, 20)], [2, 5, 2, 5]),
        ([(5, 10), (2, 20), (4, 30)], [5, 2, 4, 2, 4, 5]),
        ([(7, 10), (3, 20), (9, 30)], [7, 3, 9, 3, 7, 9]),
    ],
)
def test_the_cursor_comes_by_again_at_what_has_moved_ahead_of_it(
    rows: list[tuple[int, int]], expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert visits(rows, 100, monkeypatch) == (expected, len(expected))


def by_cursor(rows: list[tuple[int, int]], cap: int) -> list[int]:
    """The walk of section 1, by the letter: the successor is taken before a row is processed, from the index then."""
    index = sorted((time, row_id) for row_id, time in rows)
    looked_at: list[int] = []
    here = index[0] if index else None
    while here is not None and len(looked_at) < cap:
        place = index.index(here)
        following = index[place + 1] if place + 1 < len(index) else None
        looked_at.append(here[1])
        index.remove(here)
        index.append((NOW, here[1]))
        index.sort()
        here = following
    return looked_at


@settings(max_examples=60, deadline=None)
@given(
    ids=st.lists(st.integers(0, 40), unique=True, max_size=9),
    times=st.lists(st.sampled_from([NOW - 3, NOW - 2, NOW - 1, NOW]), min_size=9, max_size=9),
    cap=st.integers(1, 30),
)
def test_looks_are_those_of_the_references_cursor(ids: list[int], times: list[int], cap: int) -> None:
    rows = list(zip(ids, times, strict=False))

    with pytest.MonkeyPatch.context() as patch:
        assert visits(rows, cap, patch)[0] == by_cursor(rows, cap)


def test_looks_take_turns_also_where_all_is_quiet(markets: Ledger) -> None:
    for _ in range(5):
        allocate(markets, idle_market(markets))
    set_median(markets, pm_processing_cap_per_block=3)
    for _ in range(2):
        budget = MarketBudget(markets.median)
        recalls.recall_idle(markets, budget)
        assert budget.turns == 0
    pass_time(markets, 1_000)

    assert [each.market_id for each in of_kind(this_block(markets), PmLazyRecall)] == [0, 1, 2]
    ahead = markets.store.scan(LAZY_ALLOCATION_BY_CHECK)
    assert [row.id for row in ahead] == [3, 4, 0, 1, 2]
