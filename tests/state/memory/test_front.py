"""What is made of the objects at the front of an index is remembered, and never out of date."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.state import Space, Store
from ledgerd.state.files.ranges import KeyValue
from ledgerd.state.memory.front import Front
from ledgerd.state.tables.keys import INT64, integer_of
from tests.state.items import ITEM_BY_OPEN_TIME, ITEMS, TABLES, Item


class Names:
    """The names of the first two open items, and how often one was looked up."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.lookups = 0

    def _derive(self, item: Item) -> str:
        self.lookups += 1
        return item.name

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
    assert names.lookups == 2


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


def test_a_change_costs_a_lookup_of_what_has_changed(store: Store) -> None:
    names = Names(store)
    names.now()
    early = store.get(ITEMS, 1)
    with store.editing(early):
        early.time = 9

    assert names.now() == ["middle", "late"]
    assert names.lookups == 3

    store.create(ITEMS, Item(name="first", time=0, is_open=True))

    assert names.now() == ["first", "middle"]
    assert names.lookups == 4


Change = tuple[str, int, int]
CHANGES = st.lists(
    st.tuples(st.sampled_from(["create", "remove", "move", "ask", "commit"]), st.integers(0, 40), st.integers(0, 12)),
    max_size=60,
)


@given(CHANGES)
def test_a_front_is_always_what_a_scan_begins_with(changes: list[Change]) -> None:
    with TemporaryDirectory() as folder, Store.open(folder, TABLES) as store:
        for what, number, time in changes:
            chosen = store.find(ITEMS, number)
            if what == "create":
                store.create(ITEMS, Item(name=f"{store.next_id(ITEMS)}", time=time, is_open=number % 3 > 0))
            elif what == "commit":
                store.commit()
            elif what == "ask":
                assert _front(store, number % 5) == _beginning(store, number % 5)
            elif chosen is not None and what == "remove":
                store.remove(chosen)
            elif chosen is not None:
                with store.editing(chosen):
                    chosen.time, chosen.is_open = time, not chosen.is_open
        assert _front(store, 3) == _beginning(store, 3)


@given(st.lists(st.integers(0, 100), unique=True), st.data())
def test_entries_behind_the_known_ones_are_read_when_needed(times: list[int], data: st.DataObject) -> None:
    """Without the spare ones: a front of two is asked for again and again while the first entries go."""
    entries = sorted((INT64.encode(time), INT64.encode(time)) for time in times)
    front = Front[int](b"", None)

    def read(low: bytes, _high: bytes | None) -> list[KeyValue]:
        return [entry for entry in entries if entry[0] >= low]

    while entries:
        assert front.first(2, read, lambda number: number) == [integer_of(entry) for entry, _ in entries[:2]]
        gone = entries.pop(data.draw(st.integers(0, len(entries) - 1)))
        front.change([gone[0]], [])
    assert front.first(2, read, lambda number: number) == []


def _open_time(item: Item) -> tuple[int, int]:
    return item.time, item.id


def _front(store: Store, count: int) -> list[tuple[int, int]]:
    return store.front(ITEM_BY_OPEN_TIME, count, _open_time, lower=(True, 3), upper=(True, 9))


def _beginning(store: Store, count: int) -> list[tuple[int, int]]:
    scan = store.scan(ITEM_BY_OPEN_TIME, lower=(True, 3), upper=(True, 9))
    return [_open_time(item) for item in islice(scan, count)]


def test_an_empty_range_has_no_front(store: Store) -> None:
    found = store.front(ITEM_BY_OPEN_TIME, 2, str, lower=(True, 50), upper=(True,))

    assert found == []
