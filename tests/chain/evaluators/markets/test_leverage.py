from __future__ import annotations

import pytest
from msgspec.structs import replace

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.pricing.constant_product import Reserves
from ledgerd.pricing.leverage import LeverageLimits, max_loan
from ledgerd.protocol.operations.markets.bets import PmPlaceBet
from ledgerd.protocol.operations.markets.virtual_markets import PmLeverageLiquidate
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.state.objects.markets.leverage import (
    ACTIVE,
    LEVERAGE_END_BY_MARKET,
    LIQUIDATED,
    NEVER,
    PmLeveragePosition,
)
from ledgerd.state.objects.markets.settlements import PM_DEFERRED_CLAIMS
from tests.chain.ledgers import BOB, CAROL, NOW, carry_out, refuses, set_median
from tests.chain.leverage_scenes import DAY, LENDABLE, OPEN, K, create_deep_market, position_of
from tests.chain.market_scenes import (
    FAR_ID,
    NOBODY,
    RICH,
    UNKNOWN,
    Rule,
    Scene,
    create_position,
    pool_of,
)

NOT_BINARY = "o.outcome_index == 0 || o.outcome_index == 1: outcome_index must be 0/1"
NOT_TOKENS = "o.collateral.symbol == TOKEN_SYMBOL && o.loan.symbol == TOKEN_SYMBOL: Must be VIZ"

OF_THE_MARKET = (
    Rule(
        "mp.pm_leverage_enabled: Leverage not enabled",
        {"median": {"pm_leverage_enabled": False}},
        {"median": {"pm_leverage_enabled": True}},
    ),
    Rule(UNKNOWN, {"operation": {"market_id": FAR_ID}}, {"operation": {"market_id": 0}}),
    Rule("mkt.status == 1: Market not active", {"market": {"status": 0}}, {"market": {"status": 1}}),
    Rule(
        "mkt.market_type == 0: Leverage is CPMM-binary only",
        {"market": {"market_type": 1}},
        {"market": {"market_type": 0}},
    ),
    Rule(NOT_BINARY, {"operation": {"outcome_index": -1}}),
    Rule(NOT_BINARY, {"operation": {"outcome_index": 2}}, {"operation": {"outcome_index": 0}}),
    Rule(
        "now < mkt.betting_expiration - fc::seconds(mp.pm_leverage_expiration_buffer_sec): "
        "Too close to betting expiration for leverage",
        {"market": {"betting_expiration": NOW + DAY}},
        {"market": {"betting_expiration": NOW + DAY + 1}},
    ),
    Rule(
        "mkt.liquidity_sum >= mp.pm_leverage_min_market_liquidity.amount: Market liquidity below leverage minimum",
        {"market": {"liquidity_sum": 4_999_999}},
        {"market": {"liquidity_sum": 5_000_000}},
    ),
    Rule(
        NOT_TOKENS,
        {"operation": {"collateral": shares(500_000)}},
        {"operation": {"collateral": tokens(500_000)}},
    ),
    Rule(NOT_TOKENS, {"operation": {"loan": shares(200_000)}}, {"operation": {"loan": tokens(200_000)}}),
    Rule(
        "o.loan.amount >= mp.pm_min_liquidity.amount: Leverage loan below minimum (pm_min_liquidity)",
        {"median": {"pm_min_liquidity": tokens(200_001)}},
        {"median": {"pm_min_liquidity": tokens(200_000)}},
    ),
)
OF_THE_LOAN = (
    Rule(UNKNOWN, {"operation": {"account": NOBODY}}, {"operation": {"account": BOB}}),
    Rule(
        "acct.balance >= o.collateral: Insufficient balance for collateral",
        {"bob": {"balance": 499_999}},
        {"bob": {"balance": 500_000}},
    ),
    Rule(
        "loan <= free_amount: Loan exceeds pool free capital",
        {"pool": {"free_balance": 199_999}},
        {"pool": {"free_balance": 200_000}},
    ),
    Rule(
        "fund_available > 0: Leverage fund exhausted",
        {"pool": {"free_balance": 200_000, "leverage_fund_used": 20_000}},
        {"pool": {"leverage_fund_used": 19_999}},
    ),
    Rule(
        "loan <= per_pos_cap: Loan exceeds per-position cap",
        {"pool": {"free_balance": LENDABLE + 199_989}},
        {"pool": {"free_balance": LENDABLE + 199_990}},
    ),
    Rule(
        "total_bet <= pos_cap: Position exceeds market size limit",
        {"market": {"liquidity_sum": 13_999_999}},
        {"market": {"liquidity_sum": 14_000_000}},
    ),
    Rule("fill.tokens > 0: Zero tokens", {"market": {"k": 50_000_000 * 50_700_000}}, {"market": {"k": K}}),
    Rule(
        "fill.tokens >= o.min_tokens.value: Slippage: tokens below min_tokens",
        {"operation": {"min_tokens": 690_337}},
        {"operation": {"min_tokens": 690_336}},
    ),
    Rule(
        "cvw >= threshold_safe: Position fails worst-case safety check",
        {"median": {"pm_leverage_safety_margin_percent": 189}},
        {"median": {"pm_leverage_safety_margin_percent": 188}},
    ),
)


def test_opening_asks_in_this_order(markets: Ledger) -> None:
    market, pool = create_deep_market(markets), pool_of(markets)
    scene = Scene(markets, OPEN, market=market, pool=pool, bob=markets.account(BOB))
    caused = scene.asks_in_order([*OF_THE_MARKET, *OF_THE_LOAN])

    assert caused == []
    assert position_of(markets).tokens == 690_336


def test_what_is_lent_counts_twice(markets: Ledger) -> None:
    """Of a tenth of what is free, what is lent already is taken off, though it is not free any more."""
    create_deep_market(markets)
    exhausted = "fund_available > 0: Leverage fund exhausted"

    pool_of(markets, free_balance=LENDABLE, leverage_fund_used=LENDABLE // 10)
    refuses(markets, OPEN, exhausted)
    pool_of(markets, leverage_fund_used=LENDABLE // 10 - 1)
    refuses(markets, OPEN, "loan <= per_pos_cap: Loan exceeds per-position cap")
    pool_of(markets, leverage_fund_used=0)
    carry_out(markets, OPEN)


def test_the_least_liquidity_of_all_is_enough(markets: Ledger) -> None:
    """For a position as large as a twentieth of it."""
    create_deep_market(markets, liquidity_sum=5_000_000)
    pool_of(markets, free_balance=LENDABLE)

    refuses(markets, OPEN, "total_bet <= pos_cap: Position exceeds market size limit")
    carry_out(markets, replace(OPEN, collateral=tokens(50_000)))


def test_a_position_of_one_token_is_unsafe_not_empty(markets: Ledger) -> None:
    create_deep_market(markets, k=50_000_000 * 50_700_000 - 1)
    pool_of(markets, free_balance=LENDABLE)

    refuses(markets, replace(OPEN, min_tokens=1), "cvw >= threshold_safe: Position fails worst-case safety check")


def test_the_greatest_safe_loan_is_lent_and_no_more(markets: Ledger) -> None:
    create_deep_market(markets)
    pool_of(markets, free_balance=100 * LENDABLE)
    loan = max_loan(Reserves(50_000_000, 50_000_000, K), 500_000, 0, 4_500_000, LeverageLimits(10, 1, 10, 50))
    assert 200_000 < loan < 4_500_000

    refuses(
        markets,
        replace(OPEN, loan=tokens(loan + 1)),
        "cvw >= threshold_safe: Position fails worst-case safety check",
    )
    carry_out(markets, replace(OPEN, loan=tokens(loan)))

    assert position_of(markets).loan == loan


def test_a_position_is_opened(markets: Ledger) -> None:
    """The figures of spec 08, section 13.6."""
    market, pool = create_deep_market(markets), pool_of(markets, free_balance=LENDABLE)

    assert carry_out(markets, OPEN) == []

    assert (market.reserve_a, market.reserve_b, market.k) == (50_700_000, 49_309_664, K)
    assert (market.bets_sum, market.a_bets_sum, market.liquidity_sum) == (0, 0, 100_000_000)
    assert (pool.free_balance, pool.leverage_fund_used) == (LENDABLE - 200_000, 200_000)
    bob = markets.account(BOB)
    assert (bob.balance, bob.pm_leverage_collateral, bob.pm_bets_staked) == (RICH - 500_000, 500_000, 0)
    assert position_of(markets) == PmLeveragePosition(
        id=0,
        market=0,
        account=BOB,
        outcome_index=0,
        collateral=500_000,
        loan=200_000,
        total_bet=700_000,
        tokens=690_336,
        pool_profit=20_000,
        liquidation_threshold=220_000,
        created_time=NOW,
        last_update=NOW,
        funding_due_time=NOW + DAY,
    )


def test_a_position_on_side_1_mirrors_it(markets: Ledger) -> None:
    market = create_deep_market(markets)
    pool_of(markets, free_balance=LENDABLE)

    carry_out(markets, replace(OPEN, outcome_index=1))

    assert (market.reserve_a, market.reserve_b) == (49_309_664, 50_700_000)
    assert (position_of(markets).outcome_index, position_of(markets).tokens) == (1, 690_336)


@pytest.mark.parametrize(("expiration", "end"), [(0, NEVER), (NOW + DAY + 1, NOW + DAY + 1)])
def test_the_end_of_a_position_is_remembered(markets: Ledger, expiration: int, end: int) -> None:
    """Once for a market, which without an end of betting has no other end than its resolution."""
    create_deep_market(markets, betting_expiration=expiration)
    pool_of(markets, free_balance=2 * LENDABLE)

    carry_out(markets, OPEN)
    carry_out(markets, OPEN)

    assert markets.store.at(LEVERAGE_END_BY_MARKET, 0).time == end


def test_the_end_of_betting_less_the_buffer_stays_within_32_bits(markets: Ledger) -> None:
    """A buffer that reaches back before 1970 wraps to a time far ahead."""
    create_deep_market(markets, betting_expiration=NOW + 1)
    pool_of(markets, free_balance=LENDABLE)

    set_median(markets, pm_leverage_expiration_buffer_sec=NOW + 1)
    refuses(
        markets,
        OPEN,
        "now < mkt.betting_expiration - fc::seconds(mp.pm_leverage_expiration_buffer_sec): "
        "Too close to betting expiration for leverage",
    )
    set_median(markets, pm_leverage_expiration_buffer_sec=NOW + 2)
    carry_out(markets, OPEN)


def test_opening_closes_no_position(markets: Ledger) -> None:
    market = create_deep_market(markets)
    pool_of(markets, free_balance=LENDABLE)
    hopeless = create_position(markets, market, outcome_index=1, liquidation_threshold=10**9)

    assert carry_out(markets, OPEN) == []
    assert hopeless.status == ACTIVE


def test_the_next_bet_closes_a_position_that_the_one_before_it_sank(markets: Ledger) -> None:
    """The last figures of spec 08, section 13.6."""
    market, pool = create_deep_market(markets), pool_of(markets, free_balance=LENDABLE, total_shares=1)
    carry_out(markets, OPEN)
    bet = PmPlaceBet(
        account=CAROL,
        market_id=0,
        side=1,
        outcome_index=-1,
        amount=tokens(60_000_000),
        min_tokens=0,
        mode=0,
        extensions=(),
    )

    assert carry_out(markets, bet) == []
    assert (market.reserve_a, market.reserve_b) == (22_870_804, 109_309_664)
    caused = carry_out(markets, replace(bet, amount=tokens(1_000)))

    assert caused == [PmLeverageLiquidate(BOB, 0, 0, tokens(143_532), tokens(143_532), tokens(0), 0)]
    assert (position_of(markets).status, market.forfeit_pool, market.reserve_b) == (LIQUIDATED, 556_468, 110_001_000)
    assert (pool.free_balance, pool.leverage_fund_used) == (LENDABLE - 56_468, 0)
    assert (pool.earned_balance, pool.reward_per_share, markets.store.count(PM_DEFERRED_CLAIMS)) == (0, 0, 0)
