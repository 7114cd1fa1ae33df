from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.pricing.lmsr import depth_of_liquidity
from ledgerd.pricing.lmsr_fill import tokens_for_amount
from ledgerd.protocol.operations.markets.bets import PmPlaceBet
from ledgerd.protocol.operations.markets.virtual_markets import PmLeverageLiquidate
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.state.objects.markets.bets import ACTIVE, PmBet
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_POOLS
from ledgerd.state.objects.markets.leverage import LIQUIDATED
from ledgerd.state.objects.markets.markets import BEING_PAID, OUTCOME_BY_MARKET, PM_OUTCOMES, PmMarket, PmOutcome
from ledgerd.state.objects.markets.settlements import PM_DEFERRED_CLAIMS
from tests.chain.ledgers import BOB, CAROL, NOW, carry_out, change, refuses, set_median
from tests.chain.market_scenes import (
    FAR_ID,
    NOBODY,
    RICH,
    UNKNOWN,
    Rule,
    Scene,
    bet_of,
    create_market,
    create_multi_market,
    create_position,
    market_ledger,
)

BET = PmPlaceBet(
    account=BOB, market_id=0, side=0, outcome_index=-1, amount=tokens(10_000), min_tokens=0, mode=0, extensions=()
)
ON_OUTCOME = replace(BET, side=-1, outcome_index=0)

MOST = 2**63 - 1
WINDOW = "mkt.betting_expiration == time_point_sec() || now < mkt.betting_expiration: "


def outcome_of(ledger: Ledger, market: PmMarket, place: int) -> PmOutcome:
    return ledger.store.at(OUTCOME_BY_MARKET, market.id, place)


OF_THE_MARKET = (
    Rule(UNKNOWN, {"operation": {"market_id": FAR_ID}}, {"operation": {"market_id": 0}}),
    Rule("mkt.status == 1: Market not active", {"market": {"status": 0}}, {"market": {"status": 1}}),
    Rule(
        f"{WINDOW}Betting period ended",
        {"market": {"betting_expiration": NOW}},
        {"market": {"betting_expiration": NOW + 1}},
    ),
)
OF_THE_AMOUNT = (
    Rule("o.amount.symbol == TOKEN_SYMBOL: Amount must be VIZ", {"operation": {"amount": shares(10_000)}}),
    Rule("o.amount.amount > 0: Amount must be positive", {"operation": {"amount": tokens(0)}}),
)
AT_ONCE = (
    Rule("o.mode == 0: Batch bets must use commit and reveal", {"operation": {"mode": 1}}, {"operation": {"mode": 0}}),
    Rule(
        "mkt.allow_instant_bet: Instant betting is disabled for this market",
        {"market": {"allow_instant_bet": False}},
        {"market": {"allow_instant_bet": True}},
    ),
    *OF_THE_AMOUNT,
    Rule(
        "o.amount.amount >= mp.pm_min_bet.amount: Bet below the minimum instant bet (pm_min_bet)",
        {"operation": {"amount": tokens(999)}},
        {"operation": {"amount": tokens(1_000)}},
    ),
)
OF_THE_ACCOUNT = (
    Rule(UNKNOWN, {"operation": {"account": NOBODY}}, {"operation": {"account": BOB}}),
    Rule("acct.balance >= o.amount: Insufficient balance", {"bob": {"balance": 999}}, {"bob": {"balance": 1_000}}),
)


def test_a_bet_on_a_side_asks_in_this_order(markets: Ledger) -> None:
    market = create_market(markets)
    scene = Scene(markets, BET, market=market, bob=markets.account(BOB))
    no_side = "o.side == 0 || o.side == 1: Binary market requires side 0 or 1"
    bought = 1_000 * 50_001 // 51_000

    scene.asks_in_order(
        [
            *OF_THE_MARKET,
            *AT_ONCE,
            *OF_THE_ACCOUNT,
            Rule(no_side, {"operation": {"side": -1}}),
            Rule(no_side, {"operation": {"side": 2}}, {"operation": {"side": 0}}),
            Rule(
                "o.outcome_index == -1: Binary market does not use outcome_index",
                {"operation": {"outcome_index": 0}},
                {"operation": {"outcome_index": -1}},
            ),
            Rule(
                "denom.lo > 0 || denom.hi > 0: CPMM overflow",
                {"market": {"reserve_a": -1_000}},
                {"market": {"reserve_a": 50_000}},
            ),
            Rule(
                "tokens_out.value > 0: Zero tokens out",
                {"market": {"k": 51_000 * 50_001}},
                {"market": {"k": 50_000 * 50_001}},
            ),
            Rule(
                "tokens_out.value >= o.min_tokens: Slippage: tokens below min_tokens",
                {"operation": {"min_tokens": bought + 2}},
                {"operation": {"min_tokens": bought + 1}},
            ),
        ]
    )

    assert (bet_of(markets).weight, markets.account(BOB).balance) == (bought + 1, 0)


def test_a_bet_on_an_outcome_asks_in_this_order(markets: Ledger) -> None:
    market = create_multi_market(markets)
    stray = outcome_of(markets, market, 2)
    out_of_range = "o.outcome_index >= 0 && o.outcome_index < (int16_t)mkt.outcome_count: outcome_index out of range"
    scene = Scene(markets, ON_OUTCOME, market=market, stray=stray, bob=markets.account(BOB))
    bought = tokens_for_amount([0, 0, 0], 91_023, 2, 1_000)

    scene.asks_in_order(
        [
            *OF_THE_MARKET,
            *AT_ONCE,
            *OF_THE_ACCOUNT,
            Rule(
                "o.side == -1: Multi market does not use side", {"operation": {"side": 0}}, {"operation": {"side": -1}}
            ),
            Rule(out_of_range, {"operation": {"outcome_index": -1}}),
            Rule(out_of_range, {"operation": {"outcome_index": 3}}, {"operation": {"outcome_index": 2}}),
            Rule(
                "it != oidx_out.end() && it->market == mkt.id && it->outcome_index == i: Outcome missing",
                {"stray": {"market": 9}},
                {"stray": {"market": 0}},
            ),
            Rule("q96(b) <= MAX_B: LMSR_INVALID_B: b exceeds MAX_B (2^53)", {"market": {"lmsr_b": 2**53 + 1}}),
            Rule("tokens > 0: Zero LMSR tokens", {"market": {"lmsr_b": 0}}, {"market": {"lmsr_b": 91_023}}),
            Rule(
                "tokens >= o.min_tokens: Slippage: LMSR tokens below min_tokens",
                {"operation": {"min_tokens": bought + 1}},
                {"operation": {"min_tokens": bought}},
            ),
        ]
    )

    assert bet_of(markets).weight == bought


def test_a_batch_bet_before_hardfork_15_asks_in_this_order(tmp_path: Path) -> None:
    ledger = market_ledger(tmp_path, hardfork=14)
    market = create_market(ledger, allow_instant_bet=False)
    set_median(ledger, pm_min_batch_bet=tokens(700), pm_commit_reveal_enabled=False)
    scene = Scene(ledger, replace(BET, mode=1), market=market, bob=ledger.account(BOB))

    scene.asks_in_order(
        [
            *OF_THE_MARKET,
            Rule(
                "mkt.allow_batch: Batch betting is not enabled for this market",
                {"market": {"allow_batch": False}},
                {"market": {"allow_batch": True}},
            ),
            *OF_THE_AMOUNT,
            Rule(
                "o.amount.amount >= mp.pm_min_batch_bet.amount: Bet below the minimum batch bet (pm_min_batch_bet)",
                {"operation": {"amount": tokens(699)}},
                {"operation": {"amount": tokens(700)}},
            ),
        ]
    )

    bet = bet_of(ledger)
    assert (bet.mode, bet.status, bet.amount, market.bets_sum) == (1, ACTIVE, 700, 700)
    assert bet.weight > 0


def test_a_bet_of_one_unit_that_buys_one_is_taken_and_what_buys_none_is_not(markets: Ledger) -> None:
    """As far as the least that the median may ask for goes."""
    market = create_multi_market(markets)
    set_median(markets, pm_min_bet=tokens(1))
    certain = outcome_of(markets, market, 0)
    change(markets, certain, q=1_000_000)

    refuses(markets, replace(ON_OUTCOME, amount=tokens(0)), "o.amount.amount > 0: Amount must be positive")
    carry_out(markets, replace(ON_OUTCOME, amount=tokens(1)))

    assert (bet_of(markets).amount, bet_of(markets).weight, certain.q) == (1, 1, 1_000_001)


def test_bets_move_the_curve(markets: Ledger) -> None:
    """States A, B, C and F of spec 08, section 13.1."""
    market = create_market(markets)

    assert carry_out(markets, BET) == []
    assert (market.reserve_a, market.reserve_b, market.k) == (60_000, 41_667, 2_500_050_000)
    assert (market.a_bets_sum, market.b_bets_sum, market.bets_sum) == (10_000, 0, 10_000)
    assert bet_of(markets) == PmBet(
        id=0, market=0, account=BOB, side=0, amount=10_000, weight=8_334, created_time=NOW, entry_liquidity=100_001
    )
    bob = markets.account(BOB)
    assert (bob.balance, bob.pm_bets_staked) == (RICH - 10_000, 10_000)

    with markets.store.begin():
        carry_out(markets, replace(BET, amount=tokens(20_000)))
        assert (market.reserve_a, market.reserve_b, bet_of(markets, 1).weight) == (80_000, 31_250, 10_417)

    carry_out(markets, replace(BET, side=1, amount=tokens(30_000), account=CAROL))
    assert (market.reserve_a, market.reserve_b, bet_of(markets, 1).weight) == (34_884, 71_667, 25_116)
    assert (market.a_bets_sum, market.b_bets_sum, market.bets_sum) == (10_000, 30_000, 40_000)


def test_a_bet_of_all_tokens_that_there_can_be(markets: Ledger) -> None:
    market = create_market(markets, reserve_a=1, reserve_b=1, k=1)
    change(markets, markets.account(BOB), balance=MOST)

    carry_out(markets, replace(BET, amount=tokens(MOST - 1)))

    assert (market.reserve_a, market.reserve_b, market.bets_sum) == (MOST, 0, MOST - 1)
    assert bet_of(markets).weight == 1


def test_sums_of_bets_stay_within_the_width_of_amounts(markets: Ledger) -> None:
    create_market(markets, bets_sum=MOST - 9_999)

    refusal = refuses(markets, BET, "")

    assert refusal.code == 19


@pytest.mark.parametrize("count", [3, 8, 128])
def test_bets_on_markets_of_many_outcomes(markets: Ledger, count: int) -> None:
    market = create_multi_market(markets, count)
    depth, place = depth_of_liquidity(100_000, count), count - 1

    assert carry_out(markets, replace(ON_OUTCOME, outcome_index=place)) == []
    carry_out(markets, replace(ON_OUTCOME, outcome_index=0))

    first = tokens_for_amount([0] * count, depth, place, 10_000)
    second = tokens_for_amount([0] * place + [first], depth, 0, 10_000)
    assert [bet_of(markets, 0).weight, bet_of(markets, 1).weight] == [first, second]
    assert second > first > 0
    sold = outcome_of(markets, market, place)
    assert (sold.q, sold.bets_sum, sold.bets_count, sold.weight_sum) == (first, 10_000, 1, 0)
    assert (market.bets_sum, market.a_bets_sum, market.b_bets_sum, market.lmsr_b) == (20_000, 0, 0, depth)
    assert bet_of(markets) == PmBet(
        id=0, market=0, account=BOB, outcome_index=place, amount=10_000, weight=first, created_time=NOW
    )
    assert markets.account(BOB).pm_bets_staked == 20_000


def test_outcomes_are_found_wherever_they_stand(markets: Ledger) -> None:
    """Their ids follow each other unless something stands between them."""
    market = create_multi_market(markets, 3)
    away = outcome_of(markets, market, 1)
    markets.store.remove(away)
    markets.store.create(PM_OUTCOMES, PmOutcome(market=7, outcome_index=1, q=10**9))
    markets.store.create(PM_OUTCOMES, PmOutcome(market=market.id, outcome_index=1, q=5_000))

    carry_out(markets, replace(ON_OUTCOME, outcome_index=1))

    assert bet_of(markets).weight == tokens_for_amount([0, 5_000, 0], 91_023, 1, 10_000)


@pytest.mark.parametrize(
    ("kind", "value", "curve", "most", "left", "expected"),
    [
        (0, 3_600, 0, 1_000_000, 2_700, 250_000),
        (0, 3_600, 1, 1_000_000, 2_700, 62_500),
        (1, 10, 0, 1_000_000, 5_000, 500_000),
        (1, 10, 1, 500_000, 1, 499_900),
        (0, 3_600, 0, 1_000_000, 3_600, 0),
        (0, 3_600, 0, 1_000_000, 3_599, 277),
    ],
)
def test_late_bets_have_a_penalty(
    markets: Ledger, kind: int, value: int, curve: int, most: int, left: int, expected: int
) -> None:
    """The examples of spec 08, section 13.2, by the median of now."""
    set_median(markets, pm_max_time_penalty=most)
    create_market(
        markets,
        created_time=NOW + left - 100_000,
        betting_expiration=NOW + left,
        time_penalty_type=kind,
        time_penalty_value=value,
        penalty_curve_type=curve,
    )

    carry_out(markets, BET)

    assert bet_of(markets).time_penalty == expected


def test_a_market_without_an_end_of_betting_takes_bets_without_penalty(markets: Ledger) -> None:
    """Also while a refund is under way: the payout is not asked for."""
    create_market(markets, betting_expiration=0, time_penalty_value=3_600, payout_status=BEING_PAID)

    carry_out(markets, BET)

    assert bet_of(markets).time_penalty == 0


LEVERAGED = {
    "collateral": 500_000,
    "loan": 200_000,
    "total_bet": 700_000,
    "tokens": 690_336,
    "pool_profit": 20_000,
    "liquidation_threshold": 220_000,
}


def test_a_bet_closes_positions_that_the_one_before_it_left_too_low(markets: Ledger) -> None:
    """The example of spec 08, section 13.6: not the bet that pushes them down closes them, but the next."""
    market = create_market(markets, reserve_a=50_700_000, reserve_b=49_309_664, k=2_500_000_000_000_000)
    position = create_position(markets, market, funding_due_time=NOW + 1, **LEVERAGED)
    pool = markets.store.get(PM_LAZY_POOLS, 0)
    change(markets, pool, leverage_fund_used=200_000)
    change(markets, markets.account(CAROL), pm_leverage_collateral=500_000)

    assert carry_out(markets, replace(BET, side=1, amount=tokens(60_000_000))) == []
    assert (market.reserve_a, market.reserve_b, position.status) == (22_870_804, 109_309_664, 0)
    on_the_same_side = replace(BET, amount=tokens(1_000))
    with markets.store.begin():
        assert carry_out(markets, on_the_same_side) == []

    caused = carry_out(markets, replace(on_the_same_side, side=1))

    assert caused == [
        PmLeverageLiquidate(CAROL, position.id, market.id, tokens(143_532), tokens(143_532), tokens(0), 0)
    ]
    assert (position.status, position.pool_received, position.bettor_received) == (LIQUIDATED, 143_532, 0)
    assert position.cancel_value_at_liquidation == 143_532
    assert (pool.free_balance, pool.leverage_fund_used, pool.earned_balance) == (143_532, 0, 0)
    assert market.forfeit_pool == 556_468
    assert markets.account(CAROL).pm_leverage_collateral == 0
    assert (market.reserve_b, bet_of(markets, 1).amount) == (110_001_000, 1_000)
    assert market.reserve_a == 2_500_000_000_000_000 // 110_001_000
    assert markets.store.count(PM_DEFERRED_CLAIMS) == 0


@pytest.mark.parametrize("hardfork", [14, 15])
def test_a_batch_bet_on_an_outcome_is_filled_at_once_before_hardfork_15(tmp_path: Path, hardfork: int) -> None:
    ledger = market_ledger(tmp_path, hardfork)
    create_multi_market(ledger)
    batch = replace(ON_OUTCOME, mode=1)

    if hardfork == 15:
        refuses(ledger, batch, "o.mode == 0: Batch bets must use commit and reveal")
    else:
        carry_out(ledger, batch)
        assert (bet_of(ledger).mode, bet_of(ledger).status) == (1, ACTIVE)
        assert bet_of(ledger).weight == tokens_for_amount([0, 0, 0], 91_023, 0, 10_000)
