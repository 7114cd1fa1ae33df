from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.lazy_pool import (
    allocate,
    find_pool,
    recall,
    return_to_pool,
    serve_queue,
    settle_allocation,
)
from ledgerd.protocol.types.names import NO_NAME
from ledgerd.state.objects.markets.lazy_pool import (
    LAZY_ALLOCATION_BY_MARKET,
    PM_LAZY_ALLOCATIONS,
    PM_LAZY_WITHDRAW_REQUESTS,
    RETURNED,
    PmLazyAllocation,
    PmLazyWithdrawRequest,
)
from ledgerd.state.objects.markets.liquidity import ACTIVE, CLOSED, PM_LIQUIDITY, PmLiquidity
from ledgerd.state.objects.markets.markets import PmMarket
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, change, fresh_ledger, set_median
from tests.chain.market_scenes import (
    RICH,
    create_market,
    create_multi_market,
    create_oracle,
    pool_of,
)
from tests.chain.whole_state import first_change, whole_state

BILLION = 10**9
MILLION = 10**6


def create_requests(ledger: Ledger) -> None:
    """Bob, carol and alice wait for 100, 200 and 300."""
    for place, name in enumerate((BOB, CAROL, ALICE), start=1):
        ledger.store.create(PM_LAZY_WITHDRAW_REQUESTS, PmLazyWithdrawRequest(account=name, amount=100 * place))


def waiting(ledger: Ledger) -> list[int]:
    return [row.amount for row in ledger.store.scan(PM_LAZY_WITHDRAW_REQUESTS)]


@pytest.mark.parametrize(
    ("free", "limit", "served", "left"),
    [
        (1_000, 0, 0, [100, 200, 300]),
        (1_000, 1, 1, [200, 300]),
        (1_000, 2, 2, [300]),
        (1_000, 9, 3, []),
        (300, 9, 2, [300]),
        (299, 9, 2, [1, 300]),
        (101, 9, 2, [199, 300]),
        (100, 9, 1, [200, 300]),
        (1, 9, 1, [99, 200, 300]),
        (0, 9, 0, [100, 200, 300]),
        (-1, 9, 0, [100, 200, 300]),
    ],
)
def test_who_waits_is_paid_in_order(markets: Ledger, free: int, limit: int, served: int, left: list[int]) -> None:
    pool = pool_of(markets, free_balance=free, pending_withdrawals=600)
    create_requests(markets)

    assert serve_queue(markets, limit) == served

    paid = 600 - sum(left)
    assert (waiting(markets), pool.free_balance, pool.pending_withdrawals) == (left, free - paid, 600 - paid)
    assert sum(markets.account(name).balance - RICH for name in (ALICE, BOB, CAROL)) == paid


def test_a_request_of_nothing_stops_the_queue(markets: Ledger) -> None:
    pool_of(markets, free_balance=1_000)
    markets.store.create(PM_LAZY_WITHDRAW_REQUESTS, PmLazyWithdrawRequest(account=BOB, amount=0))
    create_requests(markets)

    assert serve_queue(markets, 9) == 0
    assert waiting(markets) == [0, 100, 200, 300]


def test_before_hardfork_14_there_is_no_pool(tmp_path: Path) -> None:
    ledger = fresh_ledger(tmp_path)
    market = create_wanted_market(ledger)
    before = whole_state(ledger.store)

    assert find_pool(ledger) is None
    assert serve_queue(ledger, 9) == 0
    return_to_pool(ledger, 5, 5)
    allocate(ledger, market)

    assert first_change(before, whole_state(ledger.store)) is None


@pytest.mark.parametrize(
    ("income", "shares", "earned", "per_share"),
    [(50, 1_000, 57, 3 + BILLION // 20), (50, 0, 57, 3), (0, 1_000, 7, 3), (-50, 1_000, 7, 3), (1, 3, 8, 333_333_336)],
)
def test_income_counts_for_all_shares(markets: Ledger, income: int, shares: int, earned: int, per_share: int) -> None:
    """A loss is in the free tokens alone."""
    pool = pool_of(
        markets, total_shares=shares, free_balance=10_000, allocated_balance=500, earned_balance=7, reward_per_share=3
    )

    return_to_pool(markets, 400, income)

    assert (pool.free_balance, pool.allocated_balance) == (10_400 + income, 100)
    assert (pool.earned_balance, pool.reward_per_share) == (earned, per_share)


def test_what_comes_back_pays_one_who_waits(markets: Ledger) -> None:
    pool = pool_of(markets, pending_withdrawals=600)
    create_requests(markets)

    return_to_pool(markets, 1_000, 0)

    assert (waiting(markets), pool.free_balance) == ([200, 300], 900)


def allocation_of(ledger: Ledger, market: PmMarket) -> PmLazyAllocation | None:
    return ledger.store.lookup(LAZY_ALLOCATION_BY_MARKET, market.id)


def test_an_allocation_ends_once(markets: Ledger) -> None:
    market = create_market(markets)
    row = markets.store.create(
        PM_LAZY_ALLOCATIONS, PmLazyAllocation(market=market.id, amount=70, original_amount=100, returned_amount=5)
    )

    settle_allocation(markets, market)
    settle_allocation(markets, market)
    assert (row.returned_amount, row.amount, row.status, row.original_amount) == (75, 0, RETURNED, 100)

    change(markets, row, amount=9)
    settle_allocation(markets, market)
    assert (row.returned_amount, row.amount) == (75, 9)

    settle_allocation(markets, create_market(markets))
    assert markets.store.count(PM_LAZY_ALLOCATIONS) == 1


def create_wanted_market(ledger: Ledger, **fields: Any) -> PmMarket:
    """A market that pays providers just enough for the pool."""
    return create_market(ledger, **{"liquidity_fee_percent": 200, **fields})


def allocated(ledger: Ledger, market: PmMarket) -> int:
    """What the pool puts into a market; nothing of it else."""
    allocate(ledger, market)
    row = allocation_of(ledger, market)
    return 0 if row is None else row.amount


def test_a_binary_market_gets_both_halves(markets: Ledger) -> None:
    pool = pool_of(markets, free_balance=1_000_005)
    market = create_wanted_market(markets, bets_sum=77)

    allocate(markets, market)

    assert (market.reserve_a, market.reserve_b) == (150_000, 150_002)
    assert (market.k, market.liquidity_sum, market.lmsr_subsidy) == (150_000 * 150_002, 300_002, 100_001)
    assert (pool.free_balance, pool.allocated_balance) == (800_004, 200_001)
    assert markets.store.get(PM_LIQUIDITY, 0) == PmLiquidity(
        id=0, market=0, provider=NO_NAME, amount=200_001, deposit_time=NOW
    )
    assert allocation_of(markets, market) == PmLazyAllocation(
        id=0, market=0, amount=200_001, original_amount=200_001, bets_sum_at_check=77, last_check_time=NOW
    )


@pytest.mark.parametrize(("liquidity", "depth"), [(100_000, 182_046), (0, 0)])
def test_a_book_gets_depth_in_proportion(markets: Ledger, liquidity: int, depth: int) -> None:
    pool_of(markets, free_balance=1_000_000)
    market = create_multi_market(markets, liquidity_fee_percent=200, liquidity_sum=liquidity)

    allocate(markets, market)

    assert (market.lmsr_b, market.lmsr_subsidy) == (91_023 + depth, 300_000)
    assert (market.liquidity_sum, market.reserve_a, market.k) == (liquidity + 200_000, 0, 0)
    assert markets.store.get(PM_LIQUIDITY, 0).b_share == depth


@pytest.mark.parametrize(
    ("median", "fee", "amount"),
    [
        ({}, 199, 0),
        ({}, 200, 200_000),
        ({"pm_lazy_pool_enabled": False}, 10_000, 0),
        ({"pm_lazy_min_liquidity_fee_percent": 0}, 0, 200_000),
        ({"pm_lazy_alloc_percent": 0}, 200, 0),
        ({"pm_lazy_max_total_alloc_percent": 0}, 200, 0),
        ({"pm_lazy_alloc_percent": 10_000}, 200, 700_000),
        ({"pm_lazy_alloc_percent": 10_000, "pm_lazy_max_total_alloc_percent": 10_000}, 200, MILLION),
    ],
)
def test_which_markets_get_how_much(markets: Ledger, median: dict[str, int], fee: int, amount: int) -> None:
    set_median(markets, **median)
    pool = pool_of(markets, free_balance=MILLION)
    market = create_wanted_market(markets, liquidity_fee_percent=fee)

    assert allocated(markets, market) == amount
    assert (market.liquidity_sum, pool.free_balance) == (100_001 + amount, MILLION - amount)
    assert markets.store.count(PM_LIQUIDITY) == (amount > 0)


@pytest.mark.parametrize(
    ("free", "given", "amount"),
    [
        (MILLION, 2_000_000, 100_000),
        (MILLION, 2_300_000, 10_000),
        (MILLION, 2_333_330, 1),
        (MILLION, 2_333_332, 0),
        (MILLION, 2_400_000, 0),
        (5, 0, 1),
        (4, 0, 0),
        (0, 0, 0),
        (-1, 0, 0),
    ],
)
def test_the_pool_keeps_some(markets: Ledger, free: int, given: int, amount: int) -> None:
    """The figures of spec 09, section 14.3, and their ends."""
    pool_of(markets, free_balance=free, allocated_balance=given)

    assert allocated(markets, create_wanted_market(markets)) == amount


@pytest.mark.parametrize("status", [0, RETURNED])
def test_a_market_gets_something_once(markets: Ledger, status: int) -> None:
    pool = pool_of(markets, free_balance=MILLION)
    market = create_wanted_market(markets)
    markets.store.create(PM_LAZY_ALLOCATIONS, PmLazyAllocation(market=market.id, status=status))

    allocate(markets, market)

    assert (pool.free_balance, market.liquidity_sum) == (MILLION, 100_001)


@pytest.mark.parametrize(("others", "amount"), [(1, 1_900_000), (3, 1_714_750), (20, 716_966), (21, 716_966)])
def test_an_oracle_with_other_active_markets_gets_less(markets: Ledger, others: int, amount: int) -> None:
    """A twentieth for each, twenty times at most."""
    pool_of(markets, free_balance=10_000_000, allocated_balance=2_000_000)
    for _ in range(others):
        create_market(markets)
    create_market(markets, oracle=BOB)
    create_market(markets, status=0)

    assert allocated(markets, create_wanted_market(markets)) == amount


@pytest.mark.parametrize(("ended", "amount"), [(127, 1_900_000), (128, 2_000_000)])
def test_only_the_oldest_markets_of_an_oracle_are_looked_at(markets: Ledger, ended: int, amount: int) -> None:
    pool_of(markets, free_balance=10_000_000)
    for _ in range(ended):
        create_market(markets, status=3)
    create_market(markets)

    assert allocated(markets, create_wanted_market(markets)) == amount


def test_the_market_itself_is_one_of_those_looked_at(markets: Ledger) -> None:
    pool_of(markets, free_balance=10_000_000)
    market = create_wanted_market(markets)
    for _ in range(127):
        create_market(markets, status=3)
    create_market(markets)

    assert allocated(markets, market) == 2_000_000


@pytest.mark.parametrize(
    ("stamps", "age", "amount"),
    [
        (0, 0, 2_000_000),
        (1, 0, 1_000_000),
        (4, 0, 125_000),
        (5, 0, 125_000),
        (1, 863_999, 1_000_000),
        (1, 864_000, 2_000_000),
    ],
)
def test_missed_resolutions_halve_it(markets: Ledger, stamps: int, age: int, amount: int) -> None:
    pool_of(markets, free_balance=10_000_000)
    create_oracle(markets, penalty_stamps=stamps, last_penalty_stamp_time=NOW - age)

    assert allocated(markets, create_wanted_market(markets)) == amount


def test_both_together(markets: Ledger) -> None:
    """The figures of spec 08, section 13.5."""
    pool_of(markets, free_balance=10_000_000, allocated_balance=2_000_000)
    create_oracle(markets, penalty_stamps=2, last_penalty_stamp_time=NOW)
    for _ in range(3):
        create_market(markets)

    assert allocated(markets, create_wanted_market(markets)) == 428_687


def test_what_comes_to_nothing_leaves_nothing(markets: Ledger) -> None:
    pool_of(markets, free_balance=5)
    create_oracle(markets, penalty_stamps=1, last_penalty_stamp_time=NOW)
    market = create_wanted_market(markets)

    allocate(markets, market)

    assert (allocation_of(markets, market), markets.store.next_id(PM_LIQUIDITY)) == (None, 0)


def put_in(ledger: Ledger, market: PmMarket, amount: int, **fields: Any) -> PmLiquidity:
    """What the pool has in a market, which has it already."""
    row = PmLiquidity(market=market.id, amount=amount)
    for field, value in fields.items():
        setattr(row, field, value)
    return ledger.store.create(PM_LIQUIDITY, row)


def test_a_curve_gives_back(markets: Ledger) -> None:
    """The figures of spec 09, section 14.3."""
    pool = pool_of(markets, allocated_balance=50_000)
    market = create_market(
        markets, reserve_a=1_234_567, reserve_b=987_654, k=1_234_567 * 987_654, liquidity_sum=2_100_000
    )
    row = put_in(markets, market, 50_000)

    assert recall(markets, market, 33_333) == 33_333

    assert (market.reserve_a, market.reserve_b, market.k) == (1_214_970, 971_977, 1_180_922_895_690)
    assert (market.liquidity_sum, row.amount, row.status) == (2_066_667, 16_667, ACTIVE)
    assert (pool.free_balance, pool.allocated_balance, pool.earned_balance) == (33_333, 16_667, 0)


@pytest.mark.parametrize(
    ("asked", "taken", "depth", "left"),
    [(20_000, 20_000, 18_204, ACTIVE), (50_000, 50_000, 45_511, CLOSED), (50_001, 50_000, 45_511, CLOSED)],
)
def test_a_book_gives_back(markets: Ledger, asked: int, taken: int, depth: int, left: int) -> None:
    """The row shrinks, and of the market its depth but not its subsidy; a row that is gone keeps its numbers."""
    pool_of(markets, allocated_balance=50_000)
    market = create_multi_market(markets, lmsr_subsidy=150_000, liquidity_sum=150_000)
    change(markets, market, lmsr_b=136_534)
    row = put_in(markets, market, 50_000, b_share=45_511)

    assert recall(markets, market, asked) == taken

    assert (market.lmsr_b, market.lmsr_subsidy) == (136_534 - depth, 150_000)
    assert (market.liquidity_sum, market.k, row.status) == (150_000 - taken, 0, left)
    kept = (50_000, 45_511) if left == CLOSED else (30_000, 27_307)
    assert (row.amount, row.b_share) == kept


@pytest.mark.parametrize("amount", [0, -1])
def test_nothing_is_recalled_as_nothing_is_asked(markets: Ledger, amount: int) -> None:
    market = create_market(markets)
    put_in(markets, market, 50_000)

    assert recall(markets, market, amount) == 0
    assert market.liquidity_sum == 100_001


def test_only_what_the_pool_has_is_recalled(markets: Ledger) -> None:
    """Of its rows the first that still stands."""
    market = create_market(markets)
    put_in(markets, market, 7, provider=BOB)
    put_in(markets, market, 8, status=CLOSED)
    assert recall(markets, market, 100) == 0

    rows = [put_in(markets, market, amount) for amount in (9, 10)]
    assert recall(markets, market, 100) == 9
    assert [row.status for row in rows] == [CLOSED, ACTIVE]


def test_a_curve_without_liquidity_keeps_its_reserves(markets: Ledger) -> None:
    market = create_market(markets, reserve_a=7, reserve_b=9, k=63, liquidity_sum=0)
    put_in(markets, market, 5)

    assert recall(markets, market, 5) == 5
    assert (market.reserve_a, market.reserve_b, market.k, market.liquidity_sum) == (7, 9, 63, -5)
