"""Books of outcomes for tests: any depth, and spreads around where the reference's domain ends."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

MAX_QUANTITY = 2**53


class Book(NamedTuple):
    """Quantities sold, and the depth."""

    quantities: list[int]
    depth: int


@st.composite
def books(draw: st.DrawFn, spread: int = 100, most: int = 8, depths: int = 10**12) -> Book:
    """A book whose quantities lie up to `spread` depths above a common one."""
    depth = draw(st.one_of(st.integers(1, 10**6), st.integers(1, depths)))
    lowest = draw(st.integers(0, 10 * depth))
    widest = draw(st.sampled_from([0, depth // 10, depth, 10 * depth, spread * depth]))
    count = draw(st.integers(2, most))
    each = st.integers(lowest, min(MAX_QUANTITY, lowest + widest))
    return Book(draw(st.lists(each, min_size=count, max_size=count)), depth)
