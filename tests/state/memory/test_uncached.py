"""Scans that keep nothing in memory see what other scans see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.state import Store
from tests.state.items import ITEM_BY_NAME, ITEM_BY_TIME, ITEMS, TABLES, Item

COUNT = 1_500


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A state of which one object is in memory, changed, and one is removed."""
    with Store.open(tmp_path, TABLES, cached=0) as store:
        for number in range(COUNT):
            store.create(ITEMS, Item(name=f"item{number}", time=number % 7))
        store.commit()
    with Store.open(tmp_path, TABLES, cached=0) as store:
        with store.editing(changed := store.get(ITEMS, 3)):
            changed.time = 100
        store.remove(store.get(ITEMS, 4))
        yield store


def test_a_scan_keeps_nothing_in_memory(store: Store) -> None:
    before = set(store.objects(ITEMS))

    assert sum(1 for _ in store.uncached.scan(ITEMS)) == COUNT - 1
    assert sum(1 for _ in store.uncached.scan(ITEM_BY_TIME)) == COUNT - 1

    assert set(store.objects(ITEMS)) == before
    assert store.verify() == []
    assert set(store.objects(ITEMS)) == before


@pytest.mark.parametrize("is_reverse", [False, True])
def test_a_scan_is_the_one_of_the_store(store: Store, is_reverse: bool) -> None:
    uncached, kept = (
        [item.id for item in view.scan(ITEM_BY_TIME, lower=(2,), upper=(100,), reverse=is_reverse)]
        for view in (store.uncached, store)
    )

    assert uncached == kept
    assert (uncached[0] if is_reverse else uncached[-1]) == 3


def test_the_rest_is_what_the_store_says(store: Store) -> None:
    view, third = store.uncached, store.get(ITEMS, 3)

    assert view.find(ITEMS, 3) is view.lookup(ITEM_BY_NAME, "item3") is third
    assert view.position(ITEM_BY_TIME, third) == store.position(ITEM_BY_TIME, third)
    assert next(view.scan(ITEMS, after=third)).id == 5
    assert (view.next_id(ITEMS), view.revision, view.meta("name")) == (COUNT, store.revision, None)
