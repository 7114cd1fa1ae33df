"""The binary curve: specified bets and cancellations, and what nobody can gain."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ledgerd.pricing.constant_product import (
    Cancellation,
    Fill,
    Reserves,
    buy,
    cancel,
    instant_fill,
    opening_reserves,
    queued_fill,
    reserve_at,
    reserves_with,
    reserves_with_halves,
    reserves_without,
)
from ledgerd.pricing.errors import CurveOverflow, DivisionByZero, RefundUnderflow

AMOUNTS = st.integers(1, 10**12)
SIDES = st.sampled_from([0, 1])

OPENING = opening_reserves(100001)
STATE_B = Reserves(60000, 41667, OPENING.k)
STATE_C = Reserves(80000, 31250, OPENING.k)
STATE_D = Reserves(159999, 62499, 9999777501)
STATE_F = Reserves(34884, 71667, OPENING.k)


@st.composite
def markets(draw: st.DrawFn) -> Reserves:
    """Reserves after any number of bets: `k` exceeds their product by less than one of them."""
    opened = opening_reserves(draw(st.integers(100_000, 10**13)))
    reserves = opened
    for amount, side in draw(st.lists(st.tuples(AMOUNTS, SIDES), max_size=4)):
        filled = instant_fill(*reserves, amount, side)
        if filled.tokens > 0 and min(filled.reserve_a, filled.reserve_b) > 0:
            reserves = Reserves(filled.reserve_a, filled.reserve_b, opened.k)
    return reserves


def test_a_market_opens_with_halves_of_its_liquidity() -> None:
    assert OPENING == (50000, 50001, 2500050000)


@pytest.mark.parametrize(
    ("reserves", "amount", "side", "expected"),
    [
        (OPENING, 10000, 0, Fill(8334, 60000, 41667)),
        (STATE_B, 20000, 0, Fill(10417, 80000, 31250)),
        (STATE_B, 30000, 1, Fill(25116, 34884, 71667)),
        (Reserves(10**7, 10**7, 10**14), 10**6, 0, Fill(909091, 11000000, 9090909)),
        (Reserves(50_000_000, 50_000_000, 25 * 10**14), 700_000, 0, Fill(690336, 50_700_000, 49_309_664)),
        (Reserves(50_700_000, 49_309_664, 25 * 10**14), 60_000_000, 1, Fill(27829196, 22_870_804, 109_309_664)),
        (Reserves(51_200_000, 48_828_125, 25 * 10**14), 5_000_000, 1, Fill(4755879, 46_444_121, 53_828_125)),
    ],
)
def test_a_bet_is_filled_as_specified(reserves: Reserves, amount: int, side: int, expected: Fill) -> None:
    assert instant_fill(*reserves, amount, side) == expected
    assert buy(*reserves, amount, side) == expected


@pytest.mark.parametrize(
    ("reserves", "side", "bet", "liquidity", "expected"),
    [
        (STATE_C, 0, (8334, 10000, 100001), 100001, Cancellation(16842, 10000, 6842, 0, 63158, 39584)),
        (STATE_D, 0, (8334, 10000, 100001), 200001, Cancellation(18826, 10000, 6844, 0, 141173, 70833)),
        (STATE_F, 0, (8334, 10000, 100001), 100001, Cancellation(3634, 3634, 0, 6366, 31250, 80001)),
    ],
)
def test_a_cancelled_bet_gets_what_is_specified(
    reserves: Reserves, side: int, bet: tuple[int, int, int], liquidity: int, expected: Cancellation
) -> None:
    assert cancel(reserves, side, *bet, liquidity) == expected


def test_liquidity_comes_and_goes_in_the_proportion_of_the_reserves() -> None:
    assert reserves_with(80000, 31250, 100001, 100000) == STATE_D
    assert reserves_without(159999, 62499, 200001, 100000) == (79999, 31249, 79999 * 31249)
    assert reserves_without(1234567, 987654, 2100000, 33333) == (1214970, 971977, 1180922895690)


def test_liquidity_of_a_market_without_any_and_of_the_pool_is_halved() -> None:
    assert reserves_with(0, 0, 0, 7) == reserves_with_halves(0, 0, 7) == (3, 4, 12)
    assert reserves_with_halves(10, 20, 5) == (12, 23, 276)


def test_a_curve_without_a_reserve_is_refused() -> None:
    with pytest.raises(CurveOverflow, match=r"^denom.lo > 0 \|\| denom.hi > 0: CPMM overflow$"):
        instant_fill(-5, 10, 50, 5, 0)
    with pytest.raises(CurveOverflow):
        instant_fill(10, -5, 50, 5, 1)
    with pytest.raises(CurveOverflow):
        cancel(Reserves(10, -5, 50), 0, 5, 5, 0, 0)
    with pytest.raises(DivisionByZero):
        reserves_without(1, 1, 0, 1)


def test_a_cancellation_that_would_take_from_the_bettor_is_refused() -> None:
    with pytest.raises(RefundUnderflow, match=r"^curve_refund >= 0: curve-priced refund underflow$"):
        cancel(Reserves(10, 10, 10**6), 0, 5, 5, 0, 0)


def test_a_reserve_beside_nothing_is_nothing_where_leverage_asks() -> None:
    assert reserve_at(100, 0) == reserve_at(100, -1) == 0
    assert buy(-5, 10, 50, 5, 0) == Fill(10, 0, 0)


def test_reserves_wrap_at_64_bits() -> None:
    assert instant_fill(2**63 - 1, 1, 2**64, 1, 0) == Fill(1 - 2, -(2**63), 2)
    assert buy(2**63 - 1, 1, 2**64, 1, 0) == Fill(1, -(2**63), 0)


def test_a_queued_bet_is_priced_by_the_reserves_and_not_by_the_market() -> None:
    assert queued_fill(60000, 41667, 20000, 0) == Fill(41667 - 60000 * 41667 // 80000, 80000, 31250)
    assert queued_fill(60000, 41667, 20000, 1) == Fill(60000 - 60000 * 41667 // 61667, 40540, 61667)
    assert queued_fill(0, 5, 20, 0) == Fill(0, 0, 5)
    assert queued_fill(5, 0, 20, 1) == Fill(0, 5, 0)


@given(markets(), AMOUNTS, SIDES)
def test_a_bet_leaves_the_product_below_the_market_by_less_than_a_reserve(
    reserves: Reserves, amount: int, side: int
) -> None:
    filled = instant_fill(*reserves, amount, side)
    grown = filled.reserve_a if side == 0 else filled.reserve_b

    assert filled.reserve_a * filled.reserve_b <= reserves.k < filled.reserve_a * filled.reserve_b + grown
    assert 0 <= filled.tokens <= (reserves.b if side == 0 else reserves.a)


@given(markets(), AMOUNTS, AMOUNTS, SIDES)
def test_a_greater_bet_gets_no_fewer_tokens(reserves: Reserves, amount: int, more: int, side: int) -> None:
    assert instant_fill(*reserves, amount, side).tokens <= instant_fill(*reserves, amount + more, side).tokens


@given(markets(), AMOUNTS, SIDES, st.integers(1, 10**13))
def test_a_bet_cancelled_at_once_gets_no_more_than_its_stake(
    reserves: Reserves, amount: int, side: int, liquidity: int
) -> None:
    filled = instant_fill(*reserves, amount, side)
    assume(filled.tokens > 0)
    left = Reserves(filled.reserve_a, filled.reserve_b, reserves.k)

    found = cancel(left, side, filled.tokens, amount, liquidity, liquidity)

    assert found.curve <= amount
    assert found.tail == 0
    assert found.paid + found.residual == amount


@given(markets(), AMOUNTS, SIDES, st.lists(st.tuples(AMOUNTS, SIDES), max_size=3), AMOUNTS, AMOUNTS)
def test_a_cancelled_bet_takes_no_more_than_leaves_the_curve(
    reserves: Reserves, amount: int, side: int, later: list[tuple[int, int]], entry: int, liquidity: int
) -> None:
    first = instant_fill(*reserves, amount, side)
    assume(first.tokens > 0)
    a, b = first.reserve_a, first.reserve_b
    for stake, its_side in later:
        filled = instant_fill(a, b, reserves.k, stake, its_side)
        if filled.tokens > 0:
            _, a, b = filled

    found = cancel(Reserves(a, b, reserves.k), side, first.tokens, amount, entry, liquidity)

    assert 0 <= found.paid <= amount
    assert found.paid + found.tail <= found.curve
    assert found.paid + found.residual == amount
    assert min(found.tail, found.residual) == 0


@given(markets(), st.integers(1, 10**13), st.integers(1, 10**13))
def test_liquidity_added_and_taken_again_gives_no_more_than_there_was(
    reserves: Reserves, liquidity: int, amount: int
) -> None:
    added = reserves_with(reserves.a, reserves.b, liquidity, amount)
    left = reserves_without(added.a, added.b, liquidity + amount, amount)

    assert left.a <= reserves.a
    assert left.b <= reserves.b
    assert left.k == left.a * left.b
