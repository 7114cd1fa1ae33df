from __future__ import annotations

import pytest
from msgspec.structs import replace

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.markets.markets import PmCreateMarket
from ledgerd.protocol.operations.markets.virtual_markets import PmMarketAccepted
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.names import NO_NAME
from ledgerd.state.objects.markets.disputes import PM_CREATOR_BANS, PmCreatorBan
from ledgerd.state.objects.markets.liquidity import PM_LIQUIDITY, PmLiquidity
from ledgerd.state.objects.markets.markets import (
    ACTIVE,
    OUTCOME_BY_MARKET,
    PM_MARKETS,
    WAITING,
    PmMarket,
)
from ledgerd.state.objects.markets.oracles import PmOracle
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, carry_out, change, pass_time, refuses, set_median
from tests.chain.market_scenes import (
    NOBODY,
    ORACLE,
    RICH,
    UNKNOWN,
    Rule,
    Scene,
    create_oracle,
)

FEE, LEAST = 5_000, 100_000
YEAR = 31_536_000

CREATE = PmCreateMarket(
    creator=ALICE,
    oracle=ORACLE,
    market_type=0,
    outcomes=("yes", "no"),
    url="https://market.test",
    oracle_fee_percent=300,
    oracle_fixed_fee=tokens(40),
    creator_fee_percent=100,
    liquidity_fee_percent=199,
    liquidity=tokens(LEAST),
    lmsr_b=0,
    betting_expiration=NOW + 100,
    result_expiration=NOW + 200,
    time_penalty_type=1,
    time_penalty_value=10,
    penalty_curve_type=1,
    allow_early_resolution=False,
    allow_cancellation=True,
    allow_batch=True,
    allow_instant_bet=False,
    endogeneity_tier=3,
    dispute_mode=0,
    dispute_resolver=NO_NAME,
    dispute_penalty_percent=-7,
    metadata="not stored",
    extensions=(),
)

MULTI = replace(
    CREATE, market_type=1, outcomes=("red", "green", "blue"), lmsr_b=91_023, allow_instant_bet=True, allow_batch=False
)

DURATION = "o.result_expiration <= now + fc::seconds(mp.pm_max_market_duration): Market duration exceeds maximum"


@pytest.fixture
def oracle(markets: Ledger) -> PmOracle:
    return create_oracle(markets, fee_percent=300, fixed_fee=40)


def created(ledger: Ledger) -> PmMarket:
    return ledger.store.get(PM_MARKETS, ledger.store.next_id(PM_MARKETS) - 1)


SIZE = (
    Rule("o.liquidity.symbol == TOKEN_SYMBOL: Liquidity must be VIZ", {"operation": {"liquidity": shares(LEAST)}}),
    Rule(
        "o.liquidity.amount >= mp.pm_min_liquidity.amount: Liquidity below minimum",
        {"operation": {"liquidity": tokens(LEAST - 1)}},
        {"operation": {"liquidity": tokens(LEAST)}},
    ),
    Rule(
        "o.url.size() <= MAX_PM_MARKET_TITLE_LEN: Market url too long",
        {"operation": {"url": "ж" * 128 + "a"}},
        {"operation": {"url": "ж" * 128}},
    ),
)
TIMES = (
    Rule(
        "o.betting_expiration > now: betting_expiration must be in the future",
        {"operation": {"betting_expiration": NOW}},
        {"operation": {"betting_expiration": NOW + 1}},
    ),
    Rule(
        "o.result_expiration > o.betting_expiration: result_expiration must be after betting_expiration",
        {"operation": {"result_expiration": NOW + 1}},
        {"operation": {"result_expiration": NOW + 2}},
    ),
    Rule(
        DURATION,
        {"operation": {"result_expiration": NOW + YEAR + 1}},
        {"operation": {"result_expiration": NOW + YEAR}},
    ),
)
LABELS = Rule(
    "label.size() <= MAX_PM_OUTCOME_LABEL_LEN: Outcome label too long",
    {"operation": {"outcomes": ("yes", "a" * 65)}},
    {"operation": {"outcomes": ("yes", "a" * 64)}},
)
RESOLVER = (
    Rule(
        "o.dispute_resolver.size() > 0: dispute_resolver required",
        {"operation": {"dispute_mode": 1, "dispute_resolver": NO_NAME}},
    ),
    Rule(
        "o.dispute_resolver != o.oracle: dispute_resolver must differ from oracle",
        {"operation": {"oracle": BOB, "dispute_resolver": BOB}},
    ),
    Rule(
        "o.dispute_resolver != o.creator: dispute_resolver must differ from creator",
        {"operation": {"dispute_resolver": ALICE}},
    ),
    Rule(UNKNOWN, {"operation": {"dispute_resolver": NOBODY}}, {"operation": {"dispute_resolver": CAROL}}),
)


def test_a_new_market_asks_in_this_order(markets: Ledger, oracle: PmOracle) -> None:
    ban = markets.store.create(PM_CREATOR_BANS, PmCreatorBan(creator=ALICE))
    scene = Scene(markets, CREATE, oracle=oracle, ban=ban, alice=markets.account(ALICE))

    caused = scene.asks_in_order(
        [
            *SIZE,
            *TIMES,
            Rule(
                "o.outcomes.size() == 2: Binary market must have exactly 2 outcomes",
                {"operation": {"outcomes": ("one", "two", "a" * 65)}},
            ),
            LABELS,
            *RESOLVER,
            Rule(
                "oracle_it != oidx.end(): Oracle not registered",
                {"operation": {"oracle": BOB}},
                {"operation": {"oracle": ORACLE}},
            ),
            Rule(
                "oracle_it->banned_until < now: Oracle is banned",
                {"oracle": {"banned_until": NOW}},
                {"oracle": {"banned_until": NOW - 1}},
            ),
            Rule(
                "cb == cbidx.end() || cb->banned_until < now: Creator is banned from creating markets",
                {"ban": {"banned_until": NOW}},
                {"ban": {"banned_until": NOW - 1}},
            ),
            Rule(
                "creator.balance.amount >= total_need: Insufficient balance",
                {"alice": {"balance": FEE + LEAST - 1}},
                {"alice": {"balance": FEE + LEAST}},
            ),
        ]
    )

    assert caused == []
    assert markets.account(ALICE).balance == 0


def test_a_new_market_of_many_outcomes_asks_in_this_order(markets: Ledger, oracle: PmOracle) -> None:
    labels = tuple(map(str, range(64)))
    scene = Scene(markets, MULTI, oracle=oracle, alice=markets.account(ALICE))

    scene.asks_in_order(
        [
            *TIMES,
            Rule("o.market_type == 1: Invalid market_type", {"operation": {"market_type": 2}}),
            Rule(
                "o.outcomes.size() >= 3 && (int)o.outcomes.size() <= mp.pm_max_outcomes: "
                "Multi-outcome count out of range",
                {"operation": {"market_type": 1, "outcomes": (*labels, "a" * 65)}},
            ),
            Rule(
                LABELS.message,
                {"operation": {"outcomes": (*labels[:63], "a" * 65)}},
                {"operation": {"outcomes": labels}},
            ),
            Rule(
                "creator.balance.amount >= total_need: Insufficient balance",
                {"alice": {"balance": 0}},
                {"alice": {"balance": RICH}},
            ),
            Rule(
                "o.lmsr_b == expected_b: lmsr_b mismatch",
                {"operation": {"lmsr_b": 24_046}},
                {"operation": {"lmsr_b": 24_044}},
            ),
        ]
    )

    assert created(markets).outcome_count == 64


def test_a_market_without_an_end_of_betting_asks_in_this_order(markets: Ledger, oracle: PmOracle) -> None:
    scene = Scene(markets, replace(CREATE, betting_expiration=0), oracle=oracle)

    scene.asks_in_order(
        [
            *SIZE,
            Rule(
                "o.allow_early_resolution: open-ended market (betting_expiration=0) requires allow_early_resolution",
                {"operation": {"allow_early_resolution": False}},
                {"operation": {"allow_early_resolution": True}},
            ),
            Rule(
                "o.result_expiration > now: result_expiration must be in the future",
                {"operation": {"result_expiration": NOW}},
                {"operation": {"result_expiration": NOW + 1}},
            ),
            TIMES[2],
            LABELS,
        ]
    )

    assert created(markets).betting_expiration == 0


def test_a_market_without_an_end_of_betting_may_have_its_result_in_a_second(markets: Ledger, oracle: PmOracle) -> None:
    assert oracle
    second = replace(CREATE, betting_expiration=0, allow_early_resolution=True, result_expiration=NOW + 1)

    carry_out(markets, second)

    assert created(markets).result_expiration == NOW + 1


def test_a_market_may_have_its_result_in_the_second_after_its_last_bet(markets: Ledger, oracle: PmOracle) -> None:
    assert oracle

    carry_out(markets, replace(CREATE, betting_expiration=NOW + 1, result_expiration=NOW + 2))

    assert created(markets).result_expiration == NOW + 2


def test_a_market_for_oneself_asks_in_this_order(markets: Ledger) -> None:
    """The own ban as an oracle is not looked at."""
    create_oracle(markets, ALICE, banned_until=NOW + 9)
    ban = markets.store.create(PM_CREATOR_BANS, PmCreatorBan(creator=ALICE))
    own = replace(MULTI, oracle=ALICE, oracle_fee_percent=500)
    scene = Scene(markets, own, ban=ban, alice=markets.account(ALICE))

    scene.asks_in_order(
        [
            *SIZE,
            Rule(
                "cb == cbidx.end() || cb->banned_until < now: Creator is banned from creating markets",
                {"ban": {"banned_until": NOW}},
                {"ban": {"banned_until": NOW - 1}},
            ),
            Rule("creator.balance.amount >= total_need: Insufficient balance", {"alice": {"balance": FEE + LEAST - 1}}),
            Rule(
                "o.lmsr_b == expected_b: lmsr_b mismatch",
                {"alice": {"balance": RICH}, "operation": {"lmsr_b": 91_022}},
                {"alice": {"balance": RICH}, "operation": {"lmsr_b": 91_023}},
            ),
            Rule(
                "o.oracle_fee_percent <= mp.pm_max_oracle_fee_percent: oracle_fee_percent exceeds cap",
                {"operation": {"oracle_fee_percent": 501}},
                {"operation": {"oracle_fee_percent": 500}},
            ),
        ]
    )


@pytest.mark.parametrize("count", [2, 129])
def test_many_outcomes_are_three_at_least(markets: Ledger, oracle: PmOracle, count: int) -> None:
    assert oracle
    set_median(markets, pm_max_outcomes=128)

    refuses(
        markets,
        replace(MULTI, outcomes=("a",) * count),
        "o.outcomes.size() >= 3 && (int)o.outcomes.size() <= mp.pm_max_outcomes: Multi-outcome count out of range",
    )


def test_the_creator_exists(markets: Ledger, oracle: PmOracle) -> None:
    assert oracle

    refuses(markets, replace(CREATE, creator=NOBODY), UNKNOWN)


def test_a_market_waits_for_its_oracle(markets: Ledger, oracle: PmOracle) -> None:
    pass_time(markets, 5)

    assert carry_out(markets, CREATE) == []

    assert created(markets) == PmMarket(
        id=0,
        creator=ALICE,
        oracle=ORACLE,
        market_type=0,
        outcome_count=2,
        url="https://market.test",
        status=WAITING,
        created_time=NOW + 5,
        accept_deadline=NOW + 3_605,
        betting_expiration=NOW + 100,
        result_expiration=NOW + 200,
        reserve_a=50_000,
        reserve_b=50_000,
        k=2_500_000_000,
        lmsr_subsidy=LEAST,
        liquidity_sum=LEAST,
        oracle_fee_percent=300,
        creator_fee_percent=100,
        liquidity_fee_percent=199,
        oracle_fixed_fee=40,
        time_penalty_type=1,
        time_penalty_value=10,
        penalty_curve_type=1,
        allow_cancellation=True,
        allow_batch=True,
        allow_instant_bet=False,
        endogeneity_tier=3,
        dispute_penalty_percent=-7,
    )
    assert [(each.outcome_index, each.label) for each in markets.store.scan(OUTCOME_BY_MARKET)] == [
        (0, "yes"),
        (1, "no"),
    ]
    assert list(markets.store.scan(PM_LIQUIDITY)) == [
        PmLiquidity(id=0, market=0, provider=ALICE, amount=LEAST, deposit_time=NOW + 5)
    ]
    alice = markets.account(ALICE)
    assert (alice.balance, alice.pm_liquidity_committed) == (RICH - FEE - LEAST, LEAST)
    assert markets.globals.committee_fund == FEE
    assert (oracle.last_active_time, oracle.markets_accepted, oracle.active_markets) == (NOW + 5, 0, 0)


def test_the_odd_unit_of_liquidity_goes_to_side_1(markets: Ledger, oracle: PmOracle) -> None:
    """State A of spec 08, section 13.1."""
    assert oracle

    carry_out(markets, replace(CREATE, liquidity=tokens(100_001)))

    market = created(markets)
    assert (market.reserve_a, market.reserve_b, market.k) == (50_000, 50_001, 2_500_050_000)


@pytest.mark.parametrize(
    ("count", "liquidity", "depth"), [(3, 100_000, 91_023), (4, 100_000, 72_134), (64, 5_000_000, 1_202_245)]
)
def test_the_depth_of_many_outcomes(markets: Ledger, oracle: PmOracle, count: int, liquidity: int, depth: int) -> None:
    """The examples of spec 08, section 13.3."""
    assert oracle
    labels = tuple(map(str, range(count)))

    carry_out(
        markets, replace(MULTI, outcomes=labels, liquidity=tokens(liquidity), lmsr_b=depth, allow_instant_bet=False)
    )

    market = created(markets)
    assert (market.lmsr_b, market.lmsr_subsidy, market.liquidity_sum) == (depth, liquidity, liquidity)
    assert (market.reserve_a, market.reserve_b, market.k, market.allow_instant_bet) == (0, 0, 0, True)
    assert markets.store.get(PM_LIQUIDITY, 0).b_share == depth
    assert tuple(each.label for each in markets.store.scan(OUTCOME_BY_MARKET, lower=(0,))) == labels


def test_a_market_may_have_128_outcomes(markets: Ledger, oracle: PmOracle) -> None:
    assert oracle
    set_median(markets, pm_max_outcomes=128)

    carry_out(markets, replace(MULTI, outcomes=("a",) * 128, lmsr_b=20_609))

    assert created(markets).outcome_count == 128


def test_a_market_has_no_batches_where_nobody_may_hide_a_bet(markets: Ledger, oracle: PmOracle) -> None:
    """It then takes no bets at all, if it allows none at once."""
    assert oracle
    set_median(markets, pm_commit_reveal_enabled=False)

    carry_out(markets, CREATE)

    assert (created(markets).allow_batch, created(markets).allow_instant_bet) == (False, False)


def test_a_market_for_oneself_is_open_at_once(markets: Ledger) -> None:
    own = replace(CREATE, oracle=ALICE, oracle_fee_percent=500)

    assert carry_out(markets, own) == [PmMarketAccepted(ALICE, ALICE, 0, 500, tokens(40), self_oracle=True)]

    market = created(markets)
    assert (market.status, market.accept_deadline, market.oracle_fee_percent) == (ACTIVE, 0, 500)


def test_an_oracle_counts_its_own_markets_as_active_only(markets: Ledger) -> None:
    own = create_oracle(markets, ALICE, active_markets=4)
    pass_time(markets, 5)

    carry_out(markets, replace(CREATE, oracle=ALICE))

    assert (own.active_markets, own.markets_accepted, own.last_active_time) == (5, 0, 0)


def test_the_time_for_an_answer_ends_within_32_bits(markets: Ledger, oracle: PmOracle) -> None:
    """The sum is cut, as is that of the longest duration, so that no market can be made near the end of time."""
    assert oracle
    pass_time(markets, 2**32 - 1 - NOW - 500)
    near_the_end = replace(CREATE, betting_expiration=2**32 - 300, result_expiration=2**32 - 1)

    refuses(markets, near_the_end, DURATION)
    set_median(markets, pm_max_market_duration=500)
    carry_out(markets, near_the_end)

    assert created(markets).accept_deadline == 3_600 - 501


def test_the_sum_of_fee_and_liquidity_wraps(markets: Ledger, oracle: PmOracle) -> None:
    """Spec 08, section 4.3, step 8, has it in 64 bits, unchecked: beyond them no balance is too small."""
    assert oracle
    most = 2**63 - 1

    refuses(
        markets,
        replace(CREATE, liquidity=tokens(most - FEE)),
        "creator.balance.amount >= total_need: Insufficient balance",
    )
    carry_out(markets, replace(CREATE, liquidity=tokens(most - FEE + 1)))

    alice = markets.account(ALICE)
    assert alice.balance == RICH - most - 1
    assert alice.pm_liquidity_committed == created(markets).liquidity_sum == most - FEE + 1


def test_a_balance_stays_within_the_width_of_amounts(markets: Ledger, oracle: PmOracle) -> None:
    assert oracle
    change(markets, markets.account(ALICE), balance=FEE - 2)

    refusal = refuses(markets, replace(CREATE, liquidity=tokens(2**63 - 1)), "")

    assert refusal.code == 20
