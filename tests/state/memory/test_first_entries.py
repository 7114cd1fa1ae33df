"""Ranges that are asked for again and again: their first entries are read once, and are right after any change."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from ledgerd.state import Store
from ledgerd.state.files.ranges import KeyValue, Range
from ledgerd.state.memory import first_entries
from ledgerd.state.memory.first_entries import BOUNDED_CHUNK, FEW, First, FirstEntries
from tests.state.items import ITEM_BY_OPEN_TIME, ITEM_BY_TIME, ITEMS, Item


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[FirstEntries]:
    """What was read of ranges."""
    found: list[FirstEntries] = []
    read = FirstEntries.read

    def reading(first: First, limits: Range, entries: Iterator[KeyValue]) -> FirstEntries:
        found.append(read(first, limits, entries))
        return found[-1]

    monkeypatch.setattr(FirstEntries, "read", reading)
    return found


def fill(store: Store, *times: int, is_open: bool = True) -> None:
    for time in times:
        number = store.next_id(ITEMS)
        store.create(ITEMS, Item(name=f"item{number}", time=time, is_open=is_open))


def times(store: Store, *, is_open: bool) -> list[int]:
    return [item.time for item in store.scan(ITEM_BY_OPEN_TIME, lower=(is_open,), upper=(is_open,))]


def test_a_range_that_was_read_is_not_read_again_until_an_entry_of_it_changes(
    store: Store, read: list[FirstEntries]
) -> None:
    fill(store, 5, 20)
    fill(store, 7, is_open=False)
    for is_open in (True, False, True, False):
        assert times(store, is_open=is_open) == ([5, 20] if is_open else [7])
    assert len(read) == 2

    with store.editing(item := store.get(ITEMS, 1)):
        item.time = 3
    store.commit()
    for is_open in (True, False, True, False):
        assert times(store, is_open=is_open) == ([3, 5] if is_open else [7])
    assert len(read) == 3


def test_a_range_of_more_entries_goes_on_behind_those_that_are_remembered(store: Store) -> None:
    fill(store, *range(2 * BOUNDED_CHUNK))
    assert times(store, is_open=True) == times(store, is_open=True) == [*range(2 * BOUNDED_CHUNK)]

    store.remove(store.get(ITEMS, 2 * BOUNDED_CHUNK - 1))
    assert times(store, is_open=True) == [*range(2 * BOUNDED_CHUNK - 1)]


def test_a_range_may_change_between_the_call_and_the_first_step(store: Store) -> None:
    fill(store, 5, 7)
    found = store.scan(ITEM_BY_OPEN_TIME, lower=(True,), upper=(True,))
    store.remove(store.get(ITEMS, 0))
    fill(store, 6)

    assert [item.time for item in found] == [6, 7]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("few", [1, FEW])
def test_what_is_remembered_is_right_after_any_changes(
    store: Store, monkeypatch: pytest.MonkeyPatch, seed: int, few: int
) -> None:
    monkeypatch.setattr(first_entries, "FEW", few)
    random = Random(seed)  # noqa: S311 - a test
    fill(store, *range(0, 30, 2))
    session = store.begin()
    for _ in range(400):
        items = list(store.scan(ITEMS))
        kind = random.randrange(7)
        if kind == 0:
            fill(store, random.randrange(20), is_open=random.random() < 0.5)
        elif kind == 1 and len(items) > 1:
            store.remove(random.choice(items))
        elif kind == 2:
            session.push()
            store.commit()
            session = store.begin()
        elif kind == 3:
            session.undo()
            session = store.begin()
        elif kind == 4:
            store._disk.abort()  # noqa: SLF001 - as when the map grows
        else:
            with store.editing(item := random.choice(items)):
                item.time, item.is_open = random.randrange(20), random.random() < 0.5
        items = list(store.scan(ITEMS))
        for is_open in (True, False):
            assert times(store, is_open=is_open) == sorted(item.time for item in items if item.is_open == is_open)
        for time in range(0, 20, 5):
            found = store.first(ITEM_BY_TIME, lower=(time,))
            later = [item.time for item in items if item.time >= time]
            assert (None if found is None else found.time) == min(later, default=None)
    session.push()
