"""Editing that notes: what objects were before, once each, and only those of the table that is asked about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.state import Store
from tests.state.items import COUNTERS, ITEMS, TABLES, Counter, Item


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, TABLES) as store:
        yield store


def test_an_object_is_noted_as_it_was_before_its_first_change(store: Store) -> None:
    one, two = store.create(ITEMS, Item(name="one", time=1)), store.create(ITEMS, Item(name="two", time=2))
    notes: dict[int, tuple[Item, int]] = {}
    noting = store.noting(ITEMS, notes, lambda item: item.time)

    with noting(one):
        one.time = 5
    with noting(two, one):
        one.time, two.time = 6, 7

    assert notes == {one.id: (one, 1), two.id: (two, 2)}
    assert (one.time, two.time) == (6, 7)
    assert store.verify() == []


def test_objects_of_other_tables_are_not_noted(store: Store) -> None:
    one, count = store.create(ITEMS, Item(name="one", time=1)), store.create(COUNTERS, Counter())
    notes: dict[int, tuple[Item, int]] = {}
    noting = store.noting(ITEMS, notes, lambda item: item.time)

    with noting(count):
        count.value = 1
    with noting(count, one):
        count.value, one.time = 2, 5

    assert notes == {one.id: (one, 1)}
    assert (count.value, one.time) == (2, 5)
