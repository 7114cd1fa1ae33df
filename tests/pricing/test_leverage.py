"""Positions with a loan: specified values and divisions, and what makes them fall."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.pricing.constant_product import Reserves, buy, instant_fill, opening_reserves
from ledgerd.pricing.errors import DivisionByZero
from ledgerd.pricing.leverage import (
    Division,
    Funding,
    LeverageLimits,
    cancel_value,
    cancel_value_after,
    conversion_fee,
    divide,
    funding,
    leverage_of,
    max_loan,
    safe_threshold,
    threshold,
    unwind,
    worst_opposing,
    worst_value,
)

EVEN = Reserves(10_000_000, 10_000_000, 10**14)
LIMITS = LeverageLimits(profit=10, safety=1, slippage=10, opposing=50)
WIDE = LeverageLimits(profit=10, safety=1, slippage=10, opposing=100)
AMOUNTS = st.integers(1, 10**10)
OUTCOMES = st.sampled_from([0, 1])
MARKETS = st.integers(10**6, 10**11).map(opening_reserves)


def opened(market: Reserves, amount: int, outcome: int) -> tuple[int, Reserves]:
    """The tokens of a bet, and the market that it leaves."""
    tokens, a, b = buy(*market, amount, outcome)
    return tokens, Reserves(a, b, market.k)


def test_a_position_is_worth_what_is_specified() -> None:
    for outcome in (0, 1):
        assert cancel_value(EVEN, 1_000_000, outcome) == 909091
        assert cancel_value(EVEN, 5_000_000, outcome) == 3333334


@pytest.mark.parametrize(("opposing", "expected"), [(0, 909091), (500000, 828157), (2000000, 641026)])
def test_a_bet_against_it_lowers_its_value_as_specified(opposing: int, expected: int) -> None:
    assert cancel_value_after(EVEN, 1_000_000, 0, opposing) == expected
    assert cancel_value_after(EVEN, 1_000_000, 1, opposing) == expected


def test_limits_are_the_specified_ones() -> None:
    assert worst_opposing(10_000_000, 10_000_000, 10, 100) == 1_000_000
    assert worst_opposing(0, 5, 10, 100) == worst_opposing(5, -1, 10, 100) == 0
    assert threshold(1_000_000, 10) == 1_100_000
    assert safe_threshold(1_000_000, LIMITS) == 1_111_000
    assert safe_threshold(19, LIMITS) == 20  # 20.9, then 20.2


def test_the_greatest_loan_is_the_specified_one() -> None:
    small = Reserves(2_500_000, 2_500_000, 625 * 10**10)

    assert max_loan(EVEN, 1_000_000, 0, 10_000_000, WIDE) == 3248104
    assert buy(*EVEN, 4248104, 0) == (2981523, 14248104, 7018477)
    assert [max_loan(small, 150_000, 0, most, LIMITS) for most in (-1, 0, 1, 2, 100_000)] == [0, 0, 1, 2, 100_000]
    assert max_loan(Reserves(50_000_000, 50_000_000, 25 * 10**14), 1_000_000, 0, 4_000_000, LIMITS) == 4_000_000


@pytest.mark.parametrize(
    ("total", "tokens", "current", "worst"),
    [(1016666, 996406, 1016666, 923022), (1033333, 1012410, 1033333, 938168), (1200000, 1171875, 1200000, 1089651)],
)
def test_a_new_position_is_worth_what_is_specified_now_and_at_worst(
    total: int, tokens: int, current: int, worst: int
) -> None:
    got, left = opened(Reserves(50_000_000, 50_000_000, 25 * 10**14), total, 0)

    assert got == tokens
    assert cancel_value(left, tokens, 0) == current
    assert worst_value(left, tokens, 0, LIMITS) == worst


def test_a_position_is_opened_as_specified() -> None:
    tokens, left = opened(Reserves(50_000_000, 50_000_000, 25 * 10**14), 700_000, 0)

    assert (tokens, left.a, left.b) == (690336, 50_700_000, 49_309_664)
    assert worst_opposing(left.a, left.b, 10, 50) == 2465483
    assert worst_value(left, tokens, 0, LIMITS) == 635339
    assert (threshold(200_000, 10), safe_threshold(200_000, LIMITS)) == (220_000, 222_200)
    assert cancel_value(left, tokens, 0) == 700_000
    assert conversion_fee(700_000, 220_300, 50) == 239_850


def test_a_solvent_position_is_divided_as_specified() -> None:
    tokens, left = opened(Reserves(5_000_000, 5_000_000, 25 * 10**12), 150_000, 0)
    value = cancel_value(left, tokens, 0)

    assert (tokens, left.a, left.b) == (145632, 5150000, 4854368)
    assert divide(value, 110_030, 100_000, 150_000, is_void=False) == Division(
        150000, 110030, 39970, 10030, 39970, is_solvent=True
    )
    assert unwind(left, tokens, 0) == (5_000_000, 5_000_000, 25 * 10**12)


def test_an_insolvent_position_is_divided_as_specified() -> None:
    left = Reserves(3647308, 6854368, 24999991241344)
    value = cancel_value(left, 145632, 0)

    assert divide(value, 110_030, 100_000, 150_000, is_void=False) == Division(
        75881, 75881, 0, -24119, 74119, is_solvent=False
    )
    assert unwind(left, 145632, 0)[:2] == (3571427, 7000000)


def test_a_position_that_the_next_bet_liquidates_is_divided_as_specified() -> None:
    left = Reserves(22_870_804, 109_309_664, 25 * 10**14)
    value = cancel_value(left, 690336, 0)

    assert divide(value, 220_000, 200_000, 700_000, is_void=False) == Division(
        143532, 143532, 0, -56468, 556468, is_solvent=False
    )
    assert unwind(left, 690336, 0)[:2] == (22727272, 110000000)


def test_a_position_in_profit_at_a_void_forfeits_nothing() -> None:
    assert divide(900, 300, 200, 700, is_void=True) == Division(900, 300, 600, 100, 0, is_solvent=True)
    assert divide(600, 300, 200, 700, is_void=True).pot == 100


@pytest.mark.parametrize(
    ("loan", "rate", "due", "now", "expected"),
    [
        (100_000, 100, 0, 2 * 86400, Funding(30, 3 * 86400)),
        (123456789, 100, 1000, 1000 + 86400, Funding(24691, 1000 + 2 * 86400)),
        (100_000, 100, 1000, 1000, Funding(10, 87400)),
        (100_000, 100, 1000, 87399, Funding(10, 87400)),
        (100_000, 100, 1000, 87400, Funding(20, 173800)),
        (100_000, 0, 1000, 1000, Funding(0, 87400)),
        (200_000, 500, 0, 2 * 86400, Funding(300, 3 * 86400)),
        (1, 1, 2**32 - 10, 2**32 - 1, Funding(0, 86390)),
    ],
)
def test_funding_counts_every_period_begun(loan: int, rate: int, due: int, now: int, expected: Funding) -> None:
    assert funding(loan, rate, due, now) == expected


def test_leverage_is_told_in_16_bits() -> None:
    assert leverage_of(700_000, 500_000) == 1
    assert leverage_of(65536 * 7, 7) == 0
    assert leverage_of(5, 0) == 0


def test_unwinding_to_no_reserve_is_refused() -> None:
    for outcome in (0, 1):
        with pytest.raises(DivisionByZero):
            unwind(Reserves(0, 0, 5), 0, outcome)


@given(MARKETS, AMOUNTS, OUTCOMES)
def test_a_position_closed_at_once_is_worth_no_more_than_its_bet(market: Reserves, amount: int, outcome: int) -> None:
    tokens, left = opened(market, amount, outcome)

    assert cancel_value(left, tokens, outcome) <= amount
    back = unwind(left, tokens, outcome)
    assert (back.a, back.b) >= (market.a, market.b) if outcome == 0 else (back.b, back.a) >= (market.b, market.a)


@given(MARKETS, AMOUNTS, AMOUNTS, OUTCOMES)
def test_a_bet_against_a_position_lowers_its_value_and_one_with_it_raises_it(
    market: Reserves, amount: int, other: int, outcome: int
) -> None:
    tokens, left = opened(market, amount, outcome)
    _, against = opened(left, other, 1 - outcome)
    _, beside = opened(left, other, outcome)

    now = cancel_value(left, tokens, outcome)
    assert cancel_value(against, tokens, outcome) <= now + 1
    assert cancel_value(beside, tokens, outcome) >= now - 1


@given(MARKETS, AMOUNTS, AMOUNTS, AMOUNTS, OUTCOMES)
def test_the_value_falls_with_the_bet_against_it_but_for_rounding(
    market: Reserves, tokens: int, opposing: int, more: int, outcome: int
) -> None:
    weaker = cancel_value_after(market, tokens, outcome, opposing + more)

    assert 0 <= weaker <= cancel_value_after(market, tokens, outcome, opposing) + 1


@given(MARKETS, AMOUNTS, AMOUNTS, OUTCOMES)
def test_more_tokens_are_worth_no_less(market: Reserves, tokens: int, more: int, outcome: int) -> None:
    assert cancel_value(market, tokens, outcome) <= cancel_value(market, tokens + more, outcome)


@given(MARKETS, st.integers(1, 10**9), OUTCOMES, st.integers(0, 10**9))
def test_the_greatest_loan_is_within_its_bound_and_safe(
    market: Reserves, collateral: int, outcome: int, most: int
) -> None:
    loan = max_loan(market, collateral, outcome, most, LIMITS)

    assert 0 <= loan <= most
    if loan:
        tokens, left = opened(market, collateral + loan, outcome)
        assert worst_value(left, tokens, outcome, LIMITS) >= safe_threshold(loan, LIMITS)


@given(st.integers(0, 10**12), st.integers(0, 10**12), AMOUNTS, st.integers(0, 10**12), st.booleans())
def test_a_value_is_divided_without_loss(value: int, obligation: int, loan: int, bet: int, is_void: bool) -> None:
    found = divide(value, obligation, loan, bet, is_void=is_void)

    assert found.pool + found.bettor == value
    assert found.pool <= obligation
    assert found.is_solvent == (found.pool == obligation)
    assert found.pot == max(0, bet - (value if is_void else found.pool))


@given(MARKETS, AMOUNTS, AMOUNTS, OUTCOMES)
def test_leverage_and_bets_fill_alike(market: Reserves, amount: int, other: int, outcome: int) -> None:
    _, left = opened(market, other, 1 - outcome)

    assert buy(*left, amount, outcome) == instant_fill(*left, amount, outcome)
