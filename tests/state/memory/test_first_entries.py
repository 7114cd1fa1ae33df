"""Ranges that are asked for again and again: their first entries are read once, and are right after any change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from ledgerd.state import Store
from ledgerd.state.files.ranges import KeyValue, Range
from ledgerd.state.memory.first_entries import BOUNDED_CHUNK, First, FirstEntries
from tests.state.items import ITEM_BY_TIME, ITEMS, TABLES, Item

EARLY = (0,), (9,)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, TABLES) as store:
        yield store


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[FirstEntries]:
    """What was read of ranges."""
    found: list[FirstEntries] = []
    read = FirstEntries.read

    def reading(first: First, limits: Range, entries: Iterator[KeyValue], version: int) -> FirstEntries:
        found.append(read(first, limits, entries, version))
        return found[-1]

    monkeypatch.setattr(FirstEntries, "read", reading)
    return found


def fill(store: Store, *times: int) -> None:
    for time in times:
        number = store.next_id(ITEMS)
        store.create(ITEMS, Item(name=f"item{number}", time=time))


def early(store: Store) -> list[int]:
    lower, upper = EARLY
    return [item.time for item in store.scan(ITEM_BY_TIME, lower=lower, upper=upper)]


def test_a_range_that_was_read_is_not_read_again_until_an_entry_changes(store: Store, read: list[FirstEntries]) -> None:
    fill(store, 1, 5, 20)
    assert early(store) == early(store) == [1, 5]
    assert len(read) == 1

    with store.editing(item := store.get(ITEMS, 2)):
        item.time = 3
    assert early(store) == early(store) == [1, 3, 5]
    assert len(read) == 2


def test_a_range_of_more_entries_goes_on_behind_those_that_are_remembered(store: Store) -> None:
    fill(store, *range(2 * BOUNDED_CHUNK))
    assert early(store) == early(store) == list(range(10))


@pytest.mark.parametrize("seed", range(3))
def test_a_range_is_right_after_any_changes(store: Store, seed: int) -> None:
    random = Random(seed)  # noqa: S311 - a test
    fill(store, *range(0, 30, 2))
    session = store.begin()
    for _ in range(300):
        items = list(store.scan(ITEMS))
        kind = random.randrange(6)
        if kind == 0:
            fill(store, random.randrange(20))
        elif kind == 1 and len(items) > 1:
            store.remove(random.choice(items))
        elif kind == 2:
            session.push()
            store.commit()
            session = store.begin()
        elif kind == 3:
            session.undo()
            session = store.begin()
        else:
            with store.editing(item := random.choice(items)):
                item.time = random.randrange(20)
        times = [item.time for item in store.scan(ITEMS)]
        assert early(store) == sorted(time for time in times if time <= EARLY[1][0])
    session.push()
