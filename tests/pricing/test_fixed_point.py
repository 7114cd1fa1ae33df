"""Numbers with 96 bits after the point: the specified values, the plain steps, and where they end."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledgerd.pricing.errors import ExpOutOfDomain, LogOutOfDomain
from ledgerd.pricing.fixed_point import EXP_DOMAIN, LN2, ONE, div_q, exp_q, ln_q, mul_q
from tests.pricing import plain_lmsr

HALF_LN2 = 27458388733853736675570735564


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (LN2, 158456325028528675187087900672),
        (-LN2, 39614081257132168796771975168),
        (ONE, 215364474464724850177511348332),
        (-ONE, 29146412150787779157341161346),
        (2 * ONE, 585421337433093623126455912472),
        (-5 * ONE, 533835159856043089203045521),
        (HALF_LN2, 112045541949572279837463876445),
        (-HALF_LN2, 56022770974786139918731938226),
        (-HALF_LN2 - 1, 56022770974786139918731938222),
        (7922816251426433759354395033, 87560661103336128385318961295),
        (12345678901234567890, 79228162526610016495740397074),
        (-98765432109876543210, 79228162415498905545227654557),
        (-130 * ONE, 0),
        (0, ONE),
    ],
)
def test_an_exponential_is_the_specified_one(x: int, expected: int) -> None:
    assert exp_q(x) == expected


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (ONE, 0),
        (ONE + 1, 0),
        (2 * ONE, LN2),
        (ONE // 2, -LN2),
        (2 * ONE - 1, 54916777467707473351141471098),
        (3 * ONE, 87041032946764879767665216836),
        (10 * ONE, 182429585950654714090129938590),
        (128 * ONE, 384417442273952313457990297896),
        (7922816251426433759354395033, -182429585950654714090129938636),
        (79228162514264337593543950, -547288757851964142270389816164),
        (10**6 * ONE, 1094577515703928284540779631608),
    ],
)
def test_a_logarithm_is_the_specified_one(x: int, expected: int) -> None:
    assert ln_q(x) == expected


def test_products_round_down_and_quotients_toward_zero() -> None:
    assert mul_q(LN2, LN2) == 38065409467179368169621602747
    assert mul_q(-ONE, ONE // 2) == -39614081257132168796771975168
    assert mul_q(-1, 1) == -1
    assert div_q(7 * ONE, 3 * ONE) == 184865712533283454384935884117
    assert div_q(-ONE, 4 * ONE) == -19807040628566084398385987584
    assert div_q(-ONE, 3 * ONE) == -(ONE // 3)
    assert div_q(ONE, -3 * ONE) == -(ONE // 3)


@pytest.mark.parametrize("x", [EXP_DOMAIN + 1, -EXP_DOMAIN - 1, 2**255, -(2**255)])
def test_an_exponent_beyond_130_is_refused(x: int) -> None:
    with pytest.raises(ExpOutOfDomain, match="LMSR_OVERFLOW: exp_q domain exceeded"):
        exp_q(x)


@pytest.mark.parametrize("x", [0, -1, -ONE])
def test_a_logarithm_of_nothing_is_refused(x: int) -> None:
    with pytest.raises(LogOutOfDomain, match="LMSR_DOMAIN_LN: ln_q called with x <= 0"):
        ln_q(x)


@given(st.one_of(st.integers(-EXP_DOMAIN, EXP_DOMAIN), st.integers(-2 * ONE, 2 * ONE), st.integers(-(2**40), 2**40)))
@example(-97 * LN2)
@example(-97 * LN2 + HALF_LN2)
@example(-98 * LN2 - HALF_LN2)
@example(EXP_DOMAIN)
def test_an_exponential_takes_the_plain_steps(x: int) -> None:
    assert exp_q(x) == plain_lmsr.exp_q(x)


@given(st.integers(-187, 187), st.sampled_from([-1, 0, 1]))
def test_an_exponent_halfway_between_doublings_takes_the_even_one(doublings: int, beside: int) -> None:
    x = doublings * LN2 + HALF_LN2 + beside

    assert exp_q(x) == plain_lmsr.exp_q(x)


@given(st.one_of(st.integers(1, 2**200), st.integers(ONE, 128 * ONE), st.integers(1, 2**20)))
def test_a_logarithm_takes_the_plain_steps(x: int) -> None:
    assert ln_q(x) == plain_lmsr.ln_q(x)


@given(st.integers(-40 * ONE, 40 * ONE))
def test_a_logarithm_undoes_an_exponential(x: int) -> None:
    power = exp_q(x)

    assert abs(ln_q(power) - x) <= 1000 + ONE // power


@given(st.integers(-EXP_DOMAIN, EXP_DOMAIN - ONE), st.integers(1000, ONE))
def test_an_exponential_grows_with_its_exponent(x: int, more: int) -> None:
    assert exp_q(x + more) >= exp_q(x)
