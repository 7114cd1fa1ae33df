"""What readers make of objects, and remember for as long as those stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.codec import DecodeError
from ledgerd.state import StateReader, Store
from ledgerd.state.errors import StorageError
from ledgerd.state.views.reader import MOST_DERIVED
from tests.state.items import ITEM_BY_NAME, ITEM_BY_TIME, ITEMS, TABLES, Item


class Counted:
    """A derivation that counts how often it was worked out."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, item: Item) -> str:
        self.count += 1
        return f"{item.name} {item.weight}"


def fill(path: Path, *items: Item) -> None:
    with Store.open(path, TABLES) as store:
        for item in items:
            store.create(ITEMS, item)
        store.commit()


def test_an_object_that_stays_is_looked_at_once(tmp_path: Path) -> None:
    fill(tmp_path, Item(name="one", weight=5))
    derive = Counted()
    with StateReader.open(tmp_path, TABLES) as reader:
        for _ in range(3):
            with reader.snapshot() as view:
                assert view.derived(derive, ITEM_BY_NAME, "one") == "one 5"
                assert view.derived(derive, ITEMS.by_id, 0) == "one 5"
    assert derive.count == 1


def test_an_object_that_has_changed_is_looked_at_again(tmp_path: Path) -> None:
    fill(tmp_path, Item(name="one", weight=5))
    derive = Counted()
    with StateReader.open(tmp_path, TABLES) as reader, reader.snapshot() as view:
        assert view.derived(derive, ITEM_BY_NAME, "one") == "one 5"
    with Store.open(tmp_path, TABLES) as store:
        item = store.at(ITEM_BY_NAME, "one")
        with store.editing(item):
            item.weight = 6
        store.commit()
        assert store.derived(derive, ITEM_BY_NAME, "one") == "one 6"
    with StateReader.open(tmp_path, TABLES) as reader, reader.snapshot() as view:
        assert view.derived(derive, ITEM_BY_NAME, "one") == "one 6"


def test_what_is_not_there_has_nothing_derived(tmp_path: Path) -> None:
    fill(tmp_path, Item(name="one"))
    derive = Counted()
    with StateReader.open(tmp_path, TABLES) as reader, reader.snapshot() as view:
        assert view.derived(derive, ITEM_BY_NAME, "two") is None
        assert view.derived(derive, ITEM_BY_NAME, "x" * 1000) is None
        assert view.derived(derive, ITEM_BY_TIME, 9) is None
    assert derive.count == 0


def test_the_first_of_several_objects_of_a_key_is_taken(tmp_path: Path) -> None:
    fill(tmp_path, Item(name="one", time=3), Item(name="two", time=3))
    with StateReader.open(tmp_path, TABLES) as reader, reader.snapshot() as view:
        assert view.derived(Counted(), ITEM_BY_TIME, 3) == "one 0"


class CountedBytes:
    """The same from the bytes of an item."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, packed: bytes) -> str:
        self.count += 1
        return Counted()(ITEMS.codec.decode(packed))


def test_what_is_made_of_the_bytes_of_an_object_is_remembered_too(tmp_path: Path) -> None:
    fill(tmp_path, Item(name="one", weight=5))
    derive = CountedBytes()
    with StateReader.open(tmp_path, TABLES) as reader:
        for _ in range(3):
            with reader.snapshot() as view:
                assert view.derived_from_bytes(derive, ITEM_BY_NAME, "one") == "one 5"
                assert view.derived_from_bytes(derive, ITEM_BY_NAME, "two") is None
    assert derive.count == 1
    with Store.open(tmp_path, TABLES) as store:
        assert store.derived_from_bytes(derive, ITEM_BY_NAME, "one") == "one 5"
        assert store.derived_from_bytes(derive, ITEM_BY_NAME, "two") is None


def test_bytes_that_cannot_be_read_are_a_fault_of_the_state(tmp_path: Path) -> None:
    fill(tmp_path, Item(name="one"))

    def refuse(_packed: bytes) -> str:
        raise DecodeError("ends before its value does")

    with (
        StateReader.open(tmp_path, TABLES) as reader,
        reader.snapshot() as view,
        pytest.raises(StorageError, match="cannot be read"),
    ):
        view.derived_from_bytes(refuse, ITEM_BY_NAME, "one")


@pytest.mark.parametrize("most", [MOST_DERIVED, 100])
def test_no_more_is_remembered_than_the_bound_says(tmp_path: Path, most: int) -> None:
    count = most + 1
    fill(tmp_path, *(Item(name=f"item{number}") for number in range(count)))
    derive = Counted()
    with StateReader.open(tmp_path, TABLES, most_derived=most) as reader, reader.snapshot() as view:
        for number in range(count):
            view.derived(derive, ITEMS.by_id, number)
        view.derived(derive, ITEMS.by_id, 0)
    assert derive.count == count + 1


def test_objects_are_counted(tmp_path: Path) -> None:
    fill(tmp_path, Item(name="one"), Item(name="two"), Item(name="three"))
    with Store.open(tmp_path, TABLES) as store:
        store.remove(store.at(ITEM_BY_NAME, "two"))
        assert store.count(ITEMS) == 2
        store.commit()
    with StateReader.open(tmp_path, TABLES) as reader, reader.snapshot() as view:
        assert view.count(ITEMS) == 2
