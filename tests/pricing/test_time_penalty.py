"""The penalty for a late bet: specified values, and that it grows with time up to its bound."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.pricing.parimutuel import PenaltyTerms, time_penalty

MOST = 1_000_000
SECONDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        (0, {9000: 0, 9001: 1000, 9250: 250000, 9500: 500000, 9999: 999000, 10000: MOST, 10500: MOST}),
        (1, {9000: 0, 9001: 1, 9250: 62500, 9500: 250000, 9999: 998001, 10000: MOST, 10500: MOST}),
    ],
)
def test_a_window_of_seconds_gives_the_specified_penalties(curve: int, expected: dict[int, int]) -> None:
    terms = PenaltyTerms(created=0, betting_expiration=10000, kind=0, value=1000, curve=curve)

    assert {risk_time: time_penalty(terms, risk_time, MOST) for risk_time in expected} == expected


@pytest.mark.parametrize(
    ("terms", "risk_time", "most", "expected"),
    [
        (PenaltyTerms(1000, 10000, 1, 10, 0), 9500, 500000, 222222),
        (PenaltyTerms(1000, 10007, 1, 33, 1), 9000, 777777, 340002),
        (PenaltyTerms(900000, 1000000, 0, 3600, 0), 997300, MOST, 250000),
        (PenaltyTerms(900000, 1000000, 0, 3600, 1), 997300, MOST, 62500),
        (PenaltyTerms(900000, 1000000, 1, 10, 0), 995000, MOST, 500000),
        (PenaltyTerms(900000, 1000000, 1, 10, 1), 999999, 500000, 499900),
        (PenaltyTerms(900000, 1000000, 0, 3600, 0), 996400, MOST, 0),
        (PenaltyTerms(900000, 1000000, 0, 3600, 0), 996401, MOST, 277),
        (PenaltyTerms(900000, 1000000, 7, 10, 9), 995000, MOST, 500000),
        (PenaltyTerms(1000, 10000, 0, 0, 0), 9999, MOST, 0),
        (PenaltyTerms(1000, 0, 0, 10, 0), 9999, MOST, 0),
        (PenaltyTerms(1000, 1000, 1, 10, 0), 1000, MOST, 0),
        (PenaltyTerms(1000, 1009, 1, 10, 0), 1009, MOST, 0),
    ],
)
def test_a_penalty_is_the_specified_one(terms: PenaltyTerms, risk_time: int, most: int, expected: int) -> None:
    assert time_penalty(terms, risk_time, most) == expected


def test_a_square_beyond_128_bits_loses_what_is_above() -> None:
    """The widest window: 2^32 seconds, 2^32 hundredths of them. The bound times the square is cut before it divides."""
    top = 2**32 - 1
    window = top * top // 100
    late = window - 1

    found = time_penalty(PenaltyTerms(0, top, 1, top, 1), top - 1, top)

    cut = top * late**2 % 2**128 // window**2
    assert cut != top * late**2 // window**2
    assert found == cut


@given(
    st.builds(
        PenaltyTerms, st.integers(0, 10**6), st.integers(0, 10**7), st.integers(0, 2), SECONDS, st.integers(0, 2)
    ),
    st.integers(0, 10**7),
    st.integers(0, 10**6),
    st.integers(0, MOST),
)
def test_a_penalty_grows_with_time_up_to_its_bound(terms: PenaltyTerms, risk_time: int, later: int, most: int) -> None:
    assert 0 <= time_penalty(terms, risk_time, most) <= time_penalty(terms, risk_time + later, most) <= most
