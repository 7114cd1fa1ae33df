"""Finders of objects by keys that never change: they find what `at` finds, whatever has become of an object since."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.codec.types.numbers import Int64
from ledgerd.state import Store
from ledgerd.state.errors import StoreMisuse, UnknownKey
from ledgerd.state.tables.keys import NAME_TEXT
from ledgerd.state.tables.tables import Entity, Table, unique
from tests.state.items import ITEM_BY_NAME, TABLES


class Place(Entity):
    name: str = ""
    note: Int64 = 0


PLACES = Table(Place, number=1)
PLACE_BY_NAME = unique(PLACES, "by_name", lambda place: (place.name,), (NAME_TEXT,), is_fixed=True)
NAMES = ("alice", "bob", "carol\0one", "carol\0two", "carol")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, (PLACES,), cached=0) as store:
        yield store


@given(
    st.lists(
        st.tuples(st.sampled_from(["create", "remove", "note", "begin", "undo", "commit"]), st.sampled_from(NAMES))
    )
)
def test_a_finder_finds_what_a_search_finds(steps: list[tuple[str, str]]) -> None:
    with (
        pytest.MonkeyPatch.context() as patches,
        TemporaryDirectory() as folder,
        Store.open(Path(folder), (PLACES,), cached=0) as store,
    ):
        patches.setattr("ledgerd.state.memory.cache.NEVER_EVICTED", 0)
        find = store.finder(PLACE_BY_NAME)
        for step, name in steps:
            known = store.lookup(PLACE_BY_NAME, name)
            if step == "create" and known is None:
                store.create(PLACES, Place(name=name))
            elif step == "remove" and known is not None:
                store.remove(known)
            elif step == "note" and known is not None:
                with store.editing(known):
                    known.note += 1
            elif step == "begin":
                store.begin().push()
            elif step == "undo" and store.undoable:
                store.undo()
            elif step == "commit":
                store.commit()
                store.commit()  # what the first one wrote leaves the memory with the next one
            for each in NAMES:
                expected = store.lookup(PLACE_BY_NAME, each)
                if expected is None:
                    with pytest.raises(UnknownKey):
                        find(each)
                else:
                    assert find(each) is expected


def test_a_key_that_never_changes_cannot_be_changed(store: Store) -> None:
    place = store.create(PLACES, Place(name="alice"))
    with pytest.raises(StoreMisuse, match=r"Place\.by_name: the key of an object never changes"), store.editing(place):
        place.name = "bob"
    assert place.name == "alice"
    assert store.finder(PLACE_BY_NAME)("alice") is place


def test_where_keys_change_there_is_no_finder(tmp_path: Path) -> None:
    with Store.open(tmp_path, TABLES) as store, pytest.raises(StoreMisuse, match="keys may change"):
        store.finder(ITEM_BY_NAME)
