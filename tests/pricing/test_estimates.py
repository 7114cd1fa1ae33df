"""Estimates are never further off than they say."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from ledgerd.pricing.fixed_point import FRACTION_BITS, LN2, exp_q, ln_q
from ledgerd.pricing.lmsr_fill import BITS, ERROR, UNIT, grown, logarithm, shrunk

FINER = FRACTION_BITS - BITS
LN2_IN_UNITS = LN2 >> FINER


def around_doublings(most: int) -> st.SearchStrategy[int]:
    """Where the next doubling begins, and next to it."""
    return st.builds(
        lambda doublings, beside: max(0, doublings * LN2_IN_UNITS + beside),
        st.integers(0, most),
        st.integers(-300, 300),
    )


@given(st.one_of(st.integers(0, 130 * UNIT), st.integers(0, UNIT), st.integers(0, 2**20), around_doublings(187)))
@example(LN2_IN_UNITS)
@example(0)
def test_a_falling_exponential_is_off_by_no_more_than_the_error(y: int) -> None:
    assert abs((shrunk(y) << FINER) - exp_q(-(y << FINER))) <= ERROR << FINER


@given(st.one_of(st.integers(0, 130 * UNIT), st.integers(0, UNIT), around_doublings(187)))
@example(0)
def test_a_rising_exponential_is_off_by_no_more_than_the_error_of_itself(y: int) -> None:
    exact = exp_q(y << FINER)

    assert abs((grown(y) << FINER) - exact) <= exact * ERROR >> BITS


@given(
    st.one_of(
        st.integers(1, 2**300),
        st.integers(UNIT, 128 * UNIT),
        st.builds(lambda eighth, beside: (256 + eighth << 56) + beside, st.integers(1, 255), st.integers(-2, 2)),
    )
)
@example(UNIT)
@example(2 * UNIT - 1)
@example(1)
def test_a_logarithm_is_off_by_no_more_than_the_error(x: int) -> None:
    assert abs((logarithm(x) << FINER) - ln_q(x << FINER)) <= ERROR << FINER


def test_nothing_is_estimated_far_below_one() -> None:
    assert shrunk(2**60 * UNIT) == 0
