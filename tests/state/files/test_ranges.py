"""Ranges of entries, beside a sorted list."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import lmdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledgerd.state.files.disk import Database, LmdbTransaction
from ledgerd.state.files.ranges import LONGEST_RUN, Range, entries, first_entry, runs

KEYS = [bytes(key) for key in ([1], [1, 0], [1, 255], [2], [3], [3, 3], [7], [255, 255])]
BOUNDS = st.binary(min_size=1, max_size=3) | st.sampled_from(KEYS)


@pytest.fixture(scope="module")
def opened() -> Iterator[tuple[LmdbTransaction, Database]]:
    """An open transaction of a sub-database with these keys."""
    with database_of(KEYS) as found:
        yield found


@contextmanager
def database_of(keys: list[bytes]) -> Iterator[tuple[LmdbTransaction, Database]]:
    with TemporaryDirectory() as folder, lmdb.Environment(str(Path(folder)), max_dbs=1) as environment:
        database = environment.open_db(b"one")
        with environment.begin(write=True) as transaction:
            for key in keys:
                transaction.put(key, key[::-1], db=database)
            yield transaction, database


@given(low=st.just(b"") | BOUNDS, high=st.none() | BOUNDS, is_reverse=st.booleans(), position=st.none() | BOUNDS)
def test_a_range_is_what_a_sorted_list_has_between_its_bounds(
    opened: tuple[LmdbTransaction, Database], low: bytes, high: bytes | None, is_reverse: bool, position: bytes | None
) -> None:
    if position is not None and (position < low or (high is not None and position >= high)):
        position = None  # positions are those of entries of the range
    wanted = [key for key in KEYS if key >= low and (high is None or key < high)]
    if is_reverse:
        wanted = [key for key in reversed(wanted) if position is None or key < position]
    else:
        wanted = [key for key in wanted if position is None or key > position]
    span = Range(low, high, is_reverse)

    assert list(entries(*opened, span, position)) == [(key, key[::-1]) for key in wanted]
    first = first_entry(*opened, span, position)
    assert first == ((wanted[0], wanted[0][::-1]) if wanted else None)


NUMBERS = [number.to_bytes(2, "big") for number in range(0, 3_000, 2)]


@pytest.fixture(scope="module")
def long() -> Iterator[tuple[LmdbTransaction, Database]]:
    """A sub-database of more entries than are ever read together."""
    with database_of(NUMBERS) as found:
        yield found


ENDS = st.just(b"") | st.integers(0, 3_100).map(lambda number: number.to_bytes(2, "big"))


@given(low=ENDS, high=st.none() | ENDS, is_reverse=st.booleans())
@example(low=b"", high=None, is_reverse=False)
@example(low=b"", high=None, is_reverse=True)
@example(low=NUMBERS[0], high=NUMBERS[16], is_reverse=False)
@example(low=NUMBERS[-16], high=None, is_reverse=True)
def test_runs_are_the_same_range_many_at_a_time(
    long: tuple[LmdbTransaction, Database], low: bytes, high: bytes | None, is_reverse: bool
) -> None:
    span = Range(low, high, is_reverse)
    wanted = list(entries(*long, span))
    assert list(chain.from_iterable(runs(*long, span))) == [value for _, value in wanted]
    assert list(chain.from_iterable(runs(*long, span, of_keys=True))) == [key for key, _ in wanted]
    assert all(0 < len(run) <= LONGEST_RUN for run in runs(*long, span))
