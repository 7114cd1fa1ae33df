from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.assets import shares, tokens
from ledgerd.protocol.names import NO_NAME, AccountName
from ledgerd.protocol.operations.oracles import PmOracleAcceptMarket, PmOracleRegister, PmOracleUpdate
from ledgerd.protocol.operations.virtual_markets import PmMarketAccepted
from ledgerd.protocol.times import LATEST
from ledgerd.state.objects.lazy_pool import PM_LAZY_ALLOCATIONS, PM_LAZY_POOLS
from ledgerd.state.objects.liquidity import ACTIVE as IN_MARKET
from ledgerd.state.objects.liquidity import CLOSED, PM_LIQUIDITY, PmLiquidity
from ledgerd.state.objects.markets import ACTIVE, DELETED, WAITING, PmMarket
from ledgerd.state.objects.oracles import ORACLE_BY_OWNER, PmOracle
from ledgerd.state.objects.settlements import PM_DEFERRED_CLAIMS, PmDeferredClaim
from tests.chain.ledgers import ALICE, BOB, NOW, carry_out, change, pass_time, refuses, set_median
from tests.chain.market_scenes import (
    FAR_ID,
    NOBODY,
    ORACLE,
    RICH,
    UNKNOWN,
    Rule,
    Scene,
    create_market,
    create_multi_market,
    create_oracle,
)

INSURANCE, FEE = 5_000_000, 10_000

REGISTER = PmOracleRegister(
    owner=BOB,
    insurance=tokens(INSURANCE),
    fee_percent=500,
    fixed_fee=tokens(7),
    rules_url="https://rules.test",
    auto_accept_creator=NOBODY,
    auto_accept_resolver=NO_NAME,
    auto_accept=True,
    extensions=(),
)

UPDATE = PmOracleUpdate(
    owner=ORACLE,
    insurance_delta=None,
    fee_percent=None,
    fixed_fee=None,
    rules_url=None,
    auto_accept_creator=None,
    auto_accept_resolver=None,
    auto_accept=None,
    extensions=(),
)

UNSETTLED = (
    "mit->status < 1: Cannot withdraw insurance while this oracle has unsettled markets (awaiting resolution "
    "or still in the dispute window); settle them first (top-ups are always allowed)"
)


def update(**fields: Any) -> PmOracleUpdate:
    return replace(UPDATE, **fields)


def oracle_of(ledger: Ledger, name: AccountName = ORACLE) -> PmOracle:
    return ledger.store.at(ORACLE_BY_OWNER, name)


def test_registering_asks_in_this_order(markets: Ledger) -> None:
    create_oracle(markets)
    scene = Scene(markets, REGISTER, bob=markets.account(BOB))

    caused = scene.asks_in_order(
        [
            Rule(UNKNOWN, {"operation": {"owner": NOBODY}}, {"operation": {"owner": BOB}}),
            Rule(
                "o.insurance.symbol == TOKEN_SYMBOL: Insurance must be VIZ",
                {"operation": {"insurance": shares(INSURANCE)}},
            ),
            Rule(
                "o.insurance.amount >= mp.pm_min_oracle_insurance.amount: Insurance below minimum",
                {"operation": {"insurance": tokens(INSURANCE - 1)}},
                {"operation": {"insurance": tokens(INSURANCE)}},
            ),
            Rule(
                "o.fee_percent <= mp.pm_max_oracle_fee_percent: fee_percent exceeds maximum",
                {"operation": {"fee_percent": 501}},
                {"operation": {"fee_percent": 500}},
            ),
            Rule("o.fixed_fee.symbol == TOKEN_SYMBOL: fixed_fee must be VIZ", {"operation": {"fixed_fee": shares(0)}}),
            Rule(
                "o.fixed_fee.amount >= 0: fixed_fee cannot be negative",
                {"operation": {"fixed_fee": tokens(-1)}},
                {"operation": {"fixed_fee": tokens(0)}},
            ),
            Rule(
                "o.rules_url.size() <= MAX_PM_PROFILE_URL_LEN: rules_url too long",
                {"operation": {"rules_url": "ж" * 128 + "a"}},
                {"operation": {"rules_url": "ж" * 128}},
            ),
            Rule(
                "oidx.find(o.owner) == oidx.end(): Oracle already registered",
                {"operation": {"owner": ORACLE}},
                {"operation": {"owner": BOB}},
            ),
            Rule(
                "owner.balance >= mp.pm_oracle_registration_fee: Insufficient balance for registration fee",
                {"bob": {"balance": FEE - 1}},
                {"bob": {"balance": FEE}},
            ),
            Rule(
                "owner.balance >= o.insurance: Insufficient balance for insurance",
                {"bob": {"balance": FEE + INSURANCE - 1}},
                {"bob": {"balance": FEE + INSURANCE}},
            ),
        ]
    )

    assert caused == []
    assert (markets.account(BOB).balance, markets.globals.committee_fund) == (0, FEE)


def test_an_oracle_begins_with_what_it_says_of_itself(markets: Ledger) -> None:
    assert carry_out(markets, REGISTER) == []

    assert oracle_of(markets, BOB) == PmOracle(
        id=0,
        owner=BOB,
        insurance=INSURANCE,
        fee_percent=500,
        fixed_fee=7,
        rules_url="https://rules.test",
        active_since=NOW,
        last_active_time=NOW,
        auto_accept_creator=NOBODY,
        auto_accept=True,
    )
    bob = markets.account(BOB)
    assert bob.balance == RICH - FEE - INSURANCE
    assert (bob.pm_liquidity_committed, bob.pm_bets_staked, bob.pm_leverage_collateral) == (0, 0, 0)


def test_who_has_the_fee_alone_lacks_the_insurance(markets: Ledger) -> None:
    bob = markets.account(BOB)
    change(markets, bob, balance=FEE - 1)
    refuses(
        markets,
        REGISTER,
        "owner.balance >= mp.pm_oracle_registration_fee: Insufficient balance for registration fee",
    )

    change(markets, bob, balance=FEE)
    refuses(markets, REGISTER, "owner.balance >= o.insurance: Insufficient balance for insurance")


def test_registering_may_be_free(markets: Ledger) -> None:
    set_median(markets, pm_oracle_registration_fee=tokens(0))
    change(markets, markets.account(BOB), balance=INSURANCE)

    carry_out(markets, REGISTER)

    assert markets.globals.committee_fund == 0


def test_the_greatest_insurance_of_all(markets: Ledger) -> None:
    most = 2**63 - 1
    set_median(markets, pm_oracle_registration_fee=tokens(0))
    change(markets, markets.account(BOB), balance=most - 1)

    refuses(
        markets,
        replace(REGISTER, insurance=tokens(most)),
        "owner.balance >= o.insurance: Insufficient balance for insurance",
    )
    change(markets, markets.account(BOB), balance=most)
    carry_out(markets, replace(REGISTER, insurance=tokens(most)))
    assert (oracle_of(markets, BOB).insurance, markets.account(BOB).balance) == (most, 0)


def test_an_update_asks_in_this_order(markets: Ledger) -> None:
    oracle = create_oracle(markets, insurance=INSURANCE + 5)
    market = create_market(markets, status=ACTIVE)
    scene = Scene(markets, update(), oracle=oracle, market=market, owner=markets.account(ORACLE))

    scene.asks_in_order(
        [
            Rule(UNKNOWN, {"operation": {"owner": NOBODY}}),
            Rule("it != oidx.end(): Oracle not found", {"operation": {"owner": BOB}}, {"operation": {"owner": ORACLE}}),
            Rule(
                "*o.fee_percent <= mp.pm_max_oracle_fee_percent: fee_percent exceeds maximum",
                {"operation": {"fee_percent": 501}},
                {"operation": {"fee_percent": 500}},
            ),
            Rule("o.fixed_fee->symbol == TOKEN_SYMBOL: fixed_fee must be VIZ", {"operation": {"fixed_fee": shares(0)}}),
            Rule(
                "o.fixed_fee->amount >= 0: fixed_fee cannot be negative",
                {"operation": {"fixed_fee": tokens(-1)}},
                {"operation": {"fixed_fee": tokens(0)}},
            ),
            Rule(
                "o.rules_url->size() <= MAX_PM_PROFILE_URL_LEN: rules_url too long",
                {"operation": {"rules_url": "a" * 257}},
                {"operation": {"rules_url": "a" * 256}},
            ),
            Rule(
                "delta.symbol == TOKEN_SYMBOL: insurance_delta must be VIZ",
                {"operation": {"insurance_delta": shares(-6)}},
            ),
            Rule(
                UNSETTLED,
                {"operation": {"insurance_delta": tokens(-6)}, "market": {"status": ACTIVE}},
                {"market": {"status": WAITING}},
            ),
            Rule(
                "oracle.insurance.value - withdraw.value >= mp.pm_min_oracle_insurance.amount.value: "
                "Withdrawal would push insurance below minimum",
                {"operation": {"insurance_delta": tokens(-6)}},
                {"operation": {"insurance_delta": tokens(-5)}},
            ),
        ]
    )

    assert (oracle.insurance, markets.account(ORACLE).balance) == (INSURANCE, RICH + 5)


def test_insurance_is_added_at_any_time(markets: Ledger) -> None:
    """Below the minimum too, with markets open, and while banned."""
    oracle = create_oracle(markets, insurance=1, banned_until=LATEST)
    create_market(markets)
    change(markets, markets.account(ORACLE), balance=9)

    refuses(
        markets,
        update(insurance_delta=tokens(10)),
        "owner.balance >= delta: Insufficient balance for insurance top-up",
    )
    carry_out(markets, update(insurance_delta=tokens(9)))

    assert (oracle.insurance, oracle.last_active_time, markets.account(ORACLE).balance) == (10, NOW, 0)


@pytest.mark.parametrize(("status", "finalized", "is_free"), [(1, 0, False), (3, 0, False), (0, 0, True), (3, 9, True)])
def test_insurance_leaves_only_beside_settled_markets(
    markets: Ledger, status: int, finalized: int, *, is_free: bool
) -> None:
    create_oracle(markets, insurance=INSURANCE + 1)
    create_market(markets, oracle=ALICE, status=ACTIVE)
    create_market(markets, status=WAITING)
    create_market(markets, status=status, finalized_time=finalized)

    if is_free:
        carry_out(markets, update(insurance_delta=tokens(-1)))
    else:
        refuses(markets, update(insurance_delta=tokens(-1)), UNSETTLED)


def test_no_insurance_goes_beyond_the_width_of_amounts(markets: Ledger) -> None:
    create_oracle(markets)

    refusal = refuses(markets, update(insurance_delta=tokens(-(2**63))), "")

    assert refusal.code == 19


def test_an_update_changes_what_it_gives(markets: Ledger) -> None:
    oracle = create_oracle(markets, fee_percent=1, fixed_fee=2, rules_url="before", auto_accept_creator=BOB)
    pass_time(markets, 3)

    assert carry_out(markets, update(insurance_delta=tokens(0), auto_accept=True, auto_accept_creator=NO_NAME)) == []

    assert (oracle.insurance, oracle.fee_percent, oracle.fixed_fee, oracle.rules_url) == (INSURANCE, 1, 2, "before")
    assert (oracle.auto_accept, oracle.auto_accept_creator, oracle.last_active_time) == (True, NO_NAME, NOW + 3)

    carry_out(markets, update(fee_percent=0, fixed_fee=tokens(8), rules_url="", auto_accept_resolver=ALICE))

    assert (oracle.fee_percent, oracle.fixed_fee, oracle.rules_url, oracle.auto_accept_resolver) == (0, 8, "", ALICE)
    assert markets.account(ORACLE).balance == RICH


ACCEPT = PmOracleAcceptMarket(
    oracle=ORACLE, market_id=0, accept=True, oracle_fee_percent=300, oracle_fixed_fee=tokens(40), extensions=()
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
