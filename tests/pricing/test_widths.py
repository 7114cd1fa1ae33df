"""Integers at the ends of their widths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.pricing.errors import DivisionByZero
from ledgerd.pricing.widths import int64, mul_div, quotient128, truncated_quotient, uint64, uint128

INT64 = st.integers(-(2**63), 2**63 - 1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2**63 - 1, 2**63 - 1),
        (2**63, -(2**63)),
        (-(2**63), -(2**63)),
        (-(2**63) - 1, 2**63 - 1),
        (2**64 + 5, 5),
        (-1, -1),
    ],
)
def test_a_plain_integer_wraps_at_64_bits(value: int, expected: int) -> None:
    assert int64(value) == expected


def test_a_negative_number_is_a_huge_unsigned_one() -> None:
    assert uint64(-1) == 2**64 - 1
    assert uint128(-1) == 2**128 - 1


@pytest.mark.parametrize(
    ("a", "b", "expected"), [(7, 2, 3), (-7, 2, -3), (7, -2, -3), (-7, -2, 3), (-1, 3, 0), (0, -3, 0)]
)
def test_a_quotient_is_cut_toward_zero(a: int, b: int, expected: int) -> None:
    assert truncated_quotient(a, b) == expected


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1), st.integers(1, 2**63 - 1))
def test_a_product_of_amounts_is_divided_at_its_full_width(a: int, b: int, c: int) -> None:
    assert mul_div(a, b, c) == int64(a * b // c)


@given(INT64, INT64, st.integers(1, 2**63 - 1))
def test_a_product_is_one_of_unsigned_128_bits_of_which_the_low_64_count(a: int, b: int, c: int) -> None:
    wide = (a % 2**64) * (b % 2**64) % 2**128 // c % 2**64

    assert mul_div(a, b, c) == (wide - 2**64 if wide >= 2**63 else wide)


def test_a_dividend_beyond_128_bits_loses_what_is_above() -> None:
    assert quotient128(2**128 + 10, 5) == 2


def test_a_division_by_nothing_is_refused() -> None:
    with pytest.raises(DivisionByZero):
        mul_div(1, 1, 0)
    for divisor in (0, 2**128):
        with pytest.raises(DivisionByZero):
            quotient128(1, divisor)
