"""What the writer's store and the snapshots of readers answer in the same way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.state import StateReader, Store, View
from ledgerd.state.errors import UnknownKey
from ledgerd.state.views.view import index_of, searched_key, span
from tests.state.items import ITEM_BY_NAME, ITEM_BY_OPEN_TIME, ITEM_BY_TIME, ITEMS, TABLES, Item


@pytest.fixture(params=["store", "store after a restart", "snapshot"])
def view(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[View]:
    """Five objects, two of them with equal keys."""
    with Store.open(tmp_path, TABLES) as store:
        for number, time in enumerate((3, 1, 2, 1, 9)):
            store.create(ITEMS, Item(name=f"item{number}", time=time, is_open=number > 2))
        store.remove(store.get(ITEMS, 4))
        store.set_revision(7)
        store.set_meta("chain", b"viz")
        store.commit()
        if request.param == "store":
            yield store
            return
    if request.param == "snapshot":
        with StateReader.open(tmp_path, TABLES) as reader, reader.snapshot() as snapshot:
            yield snapshot
    else:
        with Store.open(tmp_path, TABLES) as store:
            yield store


def test_objects_are_found_by_id_and_by_key(view: View) -> None:
    assert view.get(ITEMS, 2).name == "item2"
    assert view.at(ITEM_BY_NAME, "item2").id == 2
    assert view.at(ITEM_BY_TIME, 1).id == 1
    assert view.at(ITEM_BY_OPEN_TIME, True).id == 3
    assert view.at(ITEM_BY_OPEN_TIME, False, 2, 2).id == 2
    assert view.at(ITEMS.by_id, 2).id == 2


def test_what_does_not_exist_is_none_or_an_unknown_key(view: View) -> None:
    assert view.find(ITEMS, 4) is None
    for index, key in ((ITEM_BY_NAME, "item4"), (ITEM_BY_TIME, 9), (ITEMS.by_id, 4), (ITEMS.by_id, 1 << 70)):
        assert view.lookup(index, key) is None
        with pytest.raises(UnknownKey):
            view.at(index, key)
    with pytest.raises(UnknownKey):
        view.get(ITEMS, 4)


def test_the_first_and_the_following_object(view: View) -> None:
    first = view.first(ITEM_BY_TIME)
    assert first is not None
    assert first.id == 1
    second = view.following(ITEM_BY_TIME, first)
    assert second is not None
    assert second.id == 3
    last = view.first(ITEM_BY_TIME, reverse=True)
    assert last is not None
    assert last.id == 0
    assert view.following(ITEM_BY_TIME, last) is None
    assert view.first(ITEM_BY_TIME, lower=(4,)) is None


def test_the_rows_under_a_key_are_those_that_begin_with_it(view: View) -> None:
    assert [each.id for each in view.under(ITEM_BY_TIME, 1)] == [1, 3]
    assert [*view.ids_under(ITEM_BY_TIME, 1, reverse=True)] == [3, 1]
    assert [*view.ids_under(ITEM_BY_OPEN_TIME, False)] == [1, 2, 0]
    assert [*view.ids_under(ITEM_BY_TIME, 9)] == []


def test_objects_are_counted_and_values_are_read(view: View) -> None:
    assert view.count(ITEMS) == 4
    assert (view.next_id(ITEMS), view.revision, view.meta("chain"), view.meta("other")) == (5, 7, b"viz", None)


def test_some_fields_are_read_of_all_objects(view: View) -> None:
    found = [(item.name, item.time) for item in view.scan_fields(ITEMS, "name", "time")]
    assert found == [(item.name, item.time) for item in view.scan(ITEMS)] != []


def test_some_fields_are_read_of_objects_in_memory_and_in_the_file_alike(tmp_path: Path) -> None:
    def fields_of(view: View) -> list[tuple[str, bool]]:
        return [(item.name, item.is_open) for item in view.scan_fields(ITEMS, "name", "is_open")]

    with Store.open(tmp_path, TABLES) as store:
        for number in range(600):
            store.create(ITEMS, Item(name=f"\udcff {number}"))
        store.commit()
    with Store.open(tmp_path, TABLES) as store:
        assert fields_of(store.uncached) == [(item.name, item.is_open) for item in store.scan(ITEMS)]
    with Store.open(tmp_path, TABLES) as store:
        with store.editing(store.get(ITEMS, 300)):
            store.get(ITEMS, 300).is_open = True
        store.remove(store.get(ITEMS, 255))
        store.create(ITEMS, Item(name="new"))
        found = fields_of(store.uncached)
        assert len(found) == 600
        assert found == [(item.name, item.is_open) for item in store.scan(ITEMS)]


def test_a_key_is_there_or_not(view: View) -> None:
    assert view.has(ITEM_BY_NAME, "item3")
    assert view.has(ITEM_BY_TIME, 1)
    assert not view.has(ITEM_BY_NAME, "item4")
    assert not view.has(ITEM_BY_NAME, "n" * 1000)


def test_a_value_is_derived_from_an_object(view: View) -> None:
    for index, key in ((ITEM_BY_NAME, "item3"), (ITEMS.by_id, 3)):
        assert view.derived(lambda item: f"{item.name} at {item.time}", index, key) == "item3 at 1"
    assert view.derived(lambda item: item.name, ITEMS.by_id, 4) is None


def test_positions_sort_as_the_index_does(view: View) -> None:
    found = sorted(view.scan(ITEMS), key=lambda item: view.position(ITEM_BY_TIME, item))

    assert [item.id for item in found] == [1, 3, 2, 0]


def test_the_bounds_of_a_scan_as_bytes() -> None:
    assert span(ITEM_BY_TIME, (), ()) == (b"", None)
    assert span(ITEM_BY_TIME, (1,), (1,)) == (b"\0\0\0\1", b"\0\0\0\2")
    assert span(ITEM_BY_TIME, (), (0xFFFFFFFF,)) == (b"", None)
    assert span(ITEM_BY_OPEN_TIME, (True,), (True,)) == (b"\1", b"\2")


def test_a_key_that_cannot_be_stored_has_no_bytes() -> None:
    assert searched_key(ITEM_BY_TIME, (7,)) == b"\0\0\0\7"
    assert searched_key(ITEM_BY_TIME, (1 << 32,)) is None
    assert searched_key(ITEM_BY_NAME, ("\ud800",)) is None


def test_a_table_is_scanned_by_id() -> None:
    assert index_of(ITEMS) is ITEMS.by_id
    assert index_of(ITEM_BY_TIME) is ITEM_BY_TIME
