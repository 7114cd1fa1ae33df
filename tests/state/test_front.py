"""What is made of the objects at the front of an index is remembered, and never out of date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.state import Space, Store
from tests.state.items import ITEM_BY_OPEN_TIME, ITEMS, TABLES, Item


class Names:
    """The names of the first two open items, and how often they were looked up."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.lookups = 0

    def _derive(self, items: list[Item]) -> list[str]:
        self.lookups += 1
        return [item.name for item in items]

    def now(self) -> list[str]:
        return self._store.front(ITEM_BY_OPEN_TIME, 2, self._derive, lower=(True,), upper=(True,))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, TABLES, space=Space(initial=1 << 20, min_free=0, increment=1 << 20)) as store:
        for time, name in ((3, "late"), (1, "early"), (2, "middle")):
            store.create(ITEMS, Item(name=name, time=time, is_open=True))
        store.create(ITEMS, Item(name="closed", time=0))
        yield store


def test_the_first_objects_of_a_range_are_given_in_its_order(store: Store) -> None:
    assert Names(store).now() == ["early", "middle"]


def test_asking_again_costs_no_lookup_also_after_a_commit(store: Store) -> None:
    names = Names(store)
    names.now()
    store.commit()
    with store.editing(store.get(ITEMS, 0)):
        store.get(ITEMS, 0).weight = 5

    assert names.now() == ["early", "middle"]
    assert names.lookups == 1


def test_changes_of_the_order_are_seen(store: Store) -> None:
    names = Names(store)
    names.now()
    store.create(ITEMS, Item(name="first", time=0, is_open=True))
    assert names.now() == ["first", "early"]

    store.remove(store.get(ITEMS, 4))
    assert names.now() == ["early", "middle"]

    early = store.get(ITEMS, 1)
    with store.editing(early):
        early.time = 9
    assert names.now() == ["middle", "late"]


def test_an_undo_is_seen(store: Store) -> None:
    names = Names(store)
    with store.begin() as session:
        store.remove(store.get(ITEMS, 1))
        assert names.now() == ["middle", "late"]
        session.undo()

    assert names.now() == ["early", "middle"]


def test_an_empty_range_has_no_front(store: Store) -> None:
    found = store.front(ITEM_BY_OPEN_TIME, 2, list, lower=(True, 50), upper=(True,))

    assert found == []
