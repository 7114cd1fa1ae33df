"""An oracle accepts a market or refuses it, asked or unasked, and the pool lends to what it accepts."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.markets.virtual_markets import PmMarketAccepted
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import NO_NAME
from ledgerd.protocol.types.times import LATEST
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_ALLOCATIONS, PM_LAZY_POOLS
from ledgerd.state.objects.markets.liquidity import ACTIVE as IN_MARKET
from ledgerd.state.objects.markets.liquidity import CLOSED, PM_LIQUIDITY, PmLiquidity
from ledgerd.state.objects.markets.markets import (
    ACTIVE,
    DELETED,
    WAITING,
    PmMarket,
)
from ledgerd.state.objects.markets.settlements import PM_DEFERRED_CLAIMS, PmDeferredClaim
from tests.chain.evaluators.markets.test_markets import CREATE, LEAST, created
from tests.chain.evaluators.markets.test_oracles import ACCEPT
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, carry_out, change, pass_time, refuses, set_median
from tests.chain.market_scenes import (
    FAR_ID,
    ORACLE,
    RICH,
    UNKNOWN,
    Rule,
    Scene,
    create_market,
    create_multi_market,
    create_oracle,
)


def waiting_market(ledger: Ledger, **fields: Any) -> PmMarket:
    """One whose creator offers 300 and 40, with its first liquidity."""
    terms = {"status": WAITING, "accept_deadline": NOW + 3_600, "oracle_fee_percent": 300, "oracle_fixed_fee": 40}
    market = create_market(ledger, **{**terms, **fields})
    ledger.store.create(PM_LIQUIDITY, PmLiquidity(market=market.id, provider=ALICE, amount=market.liquidity_sum))
    return market


def test_accepting_a_market_asks_in_this_order(markets: Ledger) -> None:
    market = waiting_market(markets)
    scene = Scene(markets, ACCEPT, market=market)

    scene.asks_in_order(
        [
            Rule(UNKNOWN, {"operation": {"market_id": FAR_ID}}, {"operation": {"market_id": market.id}}),
            Rule(
                "mkt.oracle == o.oracle: Not the market oracle",
                {"operation": {"oracle": BOB}},
                {"operation": {"oracle": ORACLE}},
            ),
            Rule(
                "mkt.status == 0: Market not pending acceptance",
                {"market": {"status": ACTIVE}},
                {"market": {"status": WAITING}},
            ),
            Rule(
                "o.oracle_fee_percent <= mkt.oracle_fee_percent: oracle_fee_percent exceeds the creator's offer",
                {"operation": {"oracle_fee_percent": 301}},
                {"operation": {"oracle_fee_percent": 300}},
            ),
            Rule(
                "o.oracle_fixed_fee.amount <= mkt.oracle_fixed_fee: oracle_fixed_fee exceeds the creator's offer",
                {"operation": {"oracle_fixed_fee": tokens(41)}},
                {"operation": {"oracle_fixed_fee": tokens(40)}},
            ),
            Rule(
                "o.oracle_fee_percent <= mp.pm_max_oracle_fee_percent: oracle_fee_percent exceeds cap",
                {"median": {"pm_max_oracle_fee_percent": 299}},
                {"median": {"pm_max_oracle_fee_percent": 300}},
            ),
        ]
    )

    assert market.status == ACTIVE


@pytest.mark.parametrize("status", [DELETED, ACTIVE, 3])
def test_only_a_waiting_market_is_answered(markets: Ledger, status: int) -> None:
    waiting_market(markets, status=status)

    for answer in (ACCEPT, replace(ACCEPT, accept=False)):
        refuses(markets, answer, "mkt.status == 0: Market not pending acceptance")


def test_an_accepted_market_has_the_terms_of_its_oracle(markets: Ledger) -> None:
    """Neither the deadline nor a ban nor a lack of insurance is asked for."""
    oracle = create_oracle(markets, banned_until=LATEST, insurance=0, markets_accepted=4, active_markets=2)
    market = waiting_market(markets)
    pass_time(markets, 4_000)

    caused = carry_out(markets, replace(ACCEPT, oracle_fee_percent=100, oracle_fixed_fee=tokens(0)))

    assert caused == [PmMarketAccepted(ORACLE, ALICE, market.id, 100, tokens(0), self_oracle=False)]
    assert (market.status, market.accept_deadline) == (ACTIVE, NOW + 3_600)
    assert (market.oracle_fee_percent, market.oracle_fixed_fee) == (100, 0)
    assert (oracle.markets_accepted, oracle.active_markets, oracle.last_active_time) == (5, 3, NOW + 4_000)


def test_counters_of_an_oracle_are_of_32_bits(markets: Ledger) -> None:
    oracle = create_oracle(markets, markets_accepted=2**32 - 1, active_markets=2**32 - 1)
    waiting_market(markets)

    carry_out(markets, ACCEPT)

    assert (oracle.markets_accepted, oracle.active_markets) == (0, 0)


def test_an_accepted_market_gets_a_part_of_the_pool(markets: Ledger) -> None:
    """The example of spec 08, section 13.5: three other active markets of the oracle, and two stamps."""
    create_oracle(markets, penalty_stamps=2, last_penalty_stamp_time=NOW - 864_000 + 1)
    pool = markets.store.get(PM_LAZY_POOLS, 0)
    change(markets, pool, free_balance=10_000_000, allocated_balance=2_000_000)
    for status in (ACTIVE, ACTIVE, WAITING, ACTIVE, 3):
        create_market(markets, status=status)
    market = waiting_market(markets, liquidity_fee_percent=200)

    carry_out(markets, replace(ACCEPT, market_id=market.id))

    assert (pool.free_balance, pool.allocated_balance) == (10_000_000 - 428_687, 2_428_687)
    assert market.liquidity_sum == 100_001 + 428_687
    assert (market.reserve_a, market.reserve_b) == (50_000 + 214_343, 50_001 + 214_344)
    assert market.k == market.reserve_a * market.reserve_b
    row = markets.store.get(PM_LIQUIDITY, 1)
    assert (row.market, row.provider, row.amount, row.deposit_time) == (market.id, NO_NAME, 428_687, NOW)
    assert (row.status, row.b_share) == (IN_MARKET, 0)
    allocation = markets.store.get(PM_LAZY_ALLOCATIONS, 0)
    assert (allocation.market, allocation.amount, allocation.original_amount) == (market.id, 428_687, 428_687)
    assert (allocation.bets_sum_at_check, allocation.last_check_time, allocation.status) == (0, NOW, 0)


@pytest.mark.parametrize(
    ("pool", "market", "median"),
    [
        ({}, {}, {"pm_lazy_pool_enabled": False}),
        ({}, {"liquidity_fee_percent": 199}, {}),
        ({"free_balance": 0}, {}, {}),
        ({"free_balance": 4}, {}, {}),
        ({}, {}, {"pm_lazy_max_total_alloc_percent": 0}),
        ({"allocated_balance": 10_000_000}, {}, {"pm_lazy_max_total_alloc_percent": 5_000}),
    ],
)
def test_a_market_gets_nothing_of_the_pool(
    markets: Ledger, pool: dict[str, int], market: dict[str, int], median: dict[str, Any]
) -> None:
    create_oracle(markets)
    change(markets, markets.store.get(PM_LAZY_POOLS, 0), **{"free_balance": 10_000_000, **pool})
    set_median(markets, **median)
    accepted = waiting_market(markets, **{"liquidity_fee_percent": 200, **market})

    carry_out(markets, ACCEPT)

    assert markets.store.count(PM_LAZY_ALLOCATIONS) == 0
    assert accepted.liquidity_sum == 100_001


def test_stamps_count_for_ten_days(markets: Ledger) -> None:
    create_oracle(markets, penalty_stamps=9, last_penalty_stamp_time=NOW - 864_000)
    change(markets, markets.store.get(PM_LAZY_POOLS, 0), free_balance=10_000_000)
    waiting_market(markets, liquidity_fee_percent=200)

    carry_out(markets, ACCEPT)

    assert markets.store.get(PM_LAZY_ALLOCATIONS, 0).amount == 2_000_000


def test_four_stamps_count_at_most(markets: Ledger) -> None:
    create_oracle(markets, penalty_stamps=9, last_penalty_stamp_time=NOW)
    change(markets, markets.store.get(PM_LAZY_POOLS, 0), free_balance=10_000_000)
    waiting_market(markets, liquidity_fee_percent=200)

    carry_out(markets, ACCEPT)

    assert markets.store.get(PM_LAZY_ALLOCATIONS, 0).amount == 125_000


@pytest.mark.parametrize(("ended", "active", "expected"), [(128, 1, 2_000_000), (127, 1, 1_900_000), (0, 25, 716_966)])
def test_of_an_oracle_the_oldest_markets_are_looked_at(markets: Ledger, ended: int, active: int, expected: int) -> None:
    """128 of them; and no more than twenty active ones count."""
    create_oracle(markets)
    change(markets, markets.store.get(PM_LAZY_POOLS, 0), free_balance=10_000_000)
    for _ in range(ended):
        create_market(markets, status=3)
    for _ in range(active):
        create_market(markets)
    market = waiting_market(markets, liquidity_fee_percent=200)

    carry_out(markets, replace(ACCEPT, market_id=market.id))

    assert markets.store.get(PM_LAZY_ALLOCATIONS, 0).amount == expected


def test_a_market_of_many_outcomes_gets_deeper(markets: Ledger) -> None:
    change(markets, markets.store.get(PM_LAZY_POOLS, 0), free_balance=250_000)
    market = create_multi_market(markets, status=WAITING, liquidity_fee_percent=200)

    carry_out(markets, replace(ACCEPT, oracle_fee_percent=0, oracle_fixed_fee=tokens(0)))

    assert (market.liquidity_sum, market.lmsr_subsidy) == (150_000, 150_000)
    assert market.lmsr_b == 91_023 + 45_511
    assert markets.store.get(PM_LIQUIDITY, 0).b_share == 45_511


def test_a_refused_market_gives_its_liquidity_back(markets: Ledger) -> None:
    oracle = create_oracle(markets)
    pool = markets.store.get(PM_LAZY_POOLS, 0)
    change(markets, pool, free_balance=5, allocated_balance=30)
    market = waiting_market(markets)
    change(markets, markets.account(ALICE), pm_liquidity_committed=100_000)
    markets.store.create(PM_LIQUIDITY, PmLiquidity(market=market.id, amount=30))
    markets.store.create(PM_LIQUIDITY, PmLiquidity(market=market.id, provider=BOB, amount=9, status=CLOSED))
    markets.store.create(PM_DEFERRED_CLAIMS, PmDeferredClaim(market=market.id, account=BOB, claim_amount=1))

    caused = carry_out(markets, replace(ACCEPT, accept=False, oracle_fee_percent=9_999, oracle_fixed_fee=tokens(RICH)))

    assert caused == []
    assert (market.status, market.finalized_time) == (DELETED, NOW)
    assert (market.oracle_fee_percent, market.liquidity_sum, market.reserve_a) == (300, 100_001, 50_000)
    alice = markets.account(ALICE)
    assert (alice.balance, alice.pm_liquidity_committed) == (RICH + 100_001, 0)
    assert markets.account(BOB).balance == RICH
    assert (pool.free_balance, pool.allocated_balance, pool.earned_balance) == (35, 0, 0)
    assert [row.status for row in markets.store.scan(PM_LIQUIDITY)] == [CLOSED] * 3
    assert markets.store.count(PM_DEFERRED_CLAIMS) == 0
    assert (oracle.markets_accepted, oracle.last_active_time) == (0, 0)


def test_an_oracle_accepts_unasked_for_its_own_fees(markets: Ledger) -> None:
    oracle = create_oracle(markets, auto_accept=True, fee_percent=200, fixed_fee=30)
    change(markets, markets.store.get(PM_LAZY_POOLS, 0), free_balance=10_000_000)
    pass_time(markets, 5)

    caused = carry_out(markets, replace(CREATE, liquidity_fee_percent=200))

    assert caused == [PmMarketAccepted(ORACLE, ALICE, 0, 200, tokens(30), self_oracle=False)]
    market = created(markets)
    assert (market.status, market.accept_deadline) == (ACTIVE, 0)
    assert (market.oracle_fee_percent, market.oracle_fixed_fee) == (200, 30)
    assert (oracle.markets_accepted, oracle.active_markets, oracle.last_active_time) == (1, 1, NOW + 5)
    assert markets.store.get(PM_LAZY_ALLOCATIONS, 0).amount == 2_000_000
    assert market.liquidity_sum == LEAST + 2_000_000


UNASKED = {"auto_accept": True, "fee_percent": 300, "fixed_fee": 40}


BY_CAROL = {"dispute_mode": 1, "dispute_resolver": CAROL}


@pytest.mark.parametrize(
    ("oracle_fields", "offer", "median", "is_accepted"),
    [
        ({}, {}, {}, True),
        ({"auto_accept": False}, {}, {}, False),
        ({"auto_accept_creator": ALICE}, {}, {}, True),
        ({"auto_accept_creator": BOB}, {}, {}, False),
        ({}, BY_CAROL, {}, False),
        ({"auto_accept_resolver": CAROL}, BY_CAROL, {}, True),
        ({"auto_accept_resolver": CAROL}, {}, {}, False),
        ({"auto_accept_resolver": BOB}, BY_CAROL, {}, False),
        ({}, {"oracle_fee_percent": 299}, {}, False),
        ({}, {"oracle_fixed_fee": tokens(39)}, {}, False),
        ({}, {}, {"pm_max_oracle_fee_percent": 300}, True),
        ({}, {}, {"pm_max_oracle_fee_percent": 299}, False),
        ({"insurance": 4_999_999}, {}, {}, False),
        ({"banned_until": NOW - 1}, {}, {}, True),
    ],
)
def test_which_markets_an_oracle_accepts_unasked(
    markets: Ledger, oracle_fields: dict[str, Any], offer: dict[str, Any], median: dict[str, Any], *, is_accepted: bool
) -> None:
    create_oracle(markets, **{**UNASKED, **oracle_fields})
    set_median(markets, **median)

    caused = carry_out(markets, replace(CREATE, **offer))

    assert (created(markets).status, len(caused)) == ((ACTIVE, 1) if is_accepted else (WAITING, 0))
