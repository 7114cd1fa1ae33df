"""Edits of objects: what is kept, what is refused, and what an edit that fails leaves behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.state import Store, StoreMisuse
from ledgerd.state.errors import NotUnique
from tests.state.items import COUNTERS, ITEM_BY_NAME, ITEM_BY_OPEN_TIME, ITEM_BY_TIME, ITEMS, TABLES, Counter, Item


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, TABLES) as store:
        yield store


def test_a_change_to_a_unique_key_that_is_taken_is_refused_and_undone(store: Store) -> None:
    store.create(ITEMS, Item(name="alice"))
    bob = store.create(ITEMS, Item(name="bob", time=4))

    with pytest.raises(NotUnique) as caught, store.editing(bob):
        bob.name, bob.time = "alice", 9

    assert caught.value.message == ("Could not modify object, most likely a uniqueness constraint was violated: ")
    assert (bob.name, bob.time) == ("bob", 4)
    assert store.at(ITEM_BY_NAME, "bob") is bob
    assert store.verify() == []


def test_an_edit_that_fails_leaves_the_objects_as_they_were(store: Store) -> None:
    one, two = store.create(ITEMS, Item(name="one", time=1)), store.create(ITEMS, Item(name="two", time=2))

    def fail() -> None:
        with store.editing(one, two):
            one.time, two.name = 5, "three"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert (one.time, two.name) == (1, "two")
    assert [item.id for item in store.scan(ITEM_BY_TIME)] == [0, 1]
    assert store.lookup(ITEM_BY_NAME, "three") is None
    assert store.verify() == []


def test_an_object_that_is_not_in_the_state_cannot_be_changed(store: Store) -> None:
    item = store.create(ITEMS, Item(name="one"))
    store.remove(item)

    with pytest.raises(StoreMisuse, match="Item 0 is not the object in the state"), store.editing(item):
        item.time = 1
    with pytest.raises(StoreMisuse):
        store.remove(item)


def test_an_edit_of_which_one_object_is_missing_changes_nothing(store: Store) -> None:
    one, two = store.create(ITEMS, Item(name="one", time=1)), store.create(ITEMS, Item(name="two", time=2))
    store.remove(two)

    with pytest.raises(StoreMisuse), store.editing(one, two):
        one.time = 3
    with store.editing(one):
        one.time = 4

    assert store.lookup(ITEM_BY_TIME, 4) is one
    assert store.verify() == []


def test_an_edit_inside_an_edit_keeps_the_values_of_both(store: Store) -> None:
    item = store.create(ITEMS, Item(name="one", time=1))

    with store.editing(item):
        item.time = 5
        with store.editing(item):
            item.name = "two"
        item.time += 1

    assert (item.name, item.time) == ("two", 6)
    assert store.lookup(ITEM_BY_TIME, 6) is item
    assert store.lookup(ITEM_BY_NAME, "one") is None
    assert store.verify() == []


def test_a_failed_edit_inside_an_edit_leaves_the_outer_one_alone(store: Store) -> None:
    store.create(ITEMS, Item(name="taken"))
    item = store.create(ITEMS, Item(name="one", time=1))

    with store.editing(item):
        item.time = 5
        with pytest.raises(NotUnique), store.editing(item):
            item.name = "taken"
        assert (item.name, item.time) == ("one", 5)

    assert store.lookup(ITEM_BY_TIME, 5) is item
    assert store.verify() == []


def test_an_object_that_is_named_twice_is_edited_once(store: Store) -> None:
    item = store.create(ITEMS, Item(name="one", time=1))

    with store.begin():
        with store.editing(item, item):
            item.time, item.is_open = 5, True
        assert store.lookup(ITEM_BY_OPEN_TIME, True, 5) is item

    assert (item.time, item.is_open) == (1, False)
    assert store.verify() == []


def test_an_object_may_be_removed_inside_its_edit(store: Store) -> None:
    item = store.create(ITEMS, Item(name="one", time=1))

    with store.begin():
        with store.editing(item):
            item.time = 5
            store.remove(item)
        assert store.find(ITEMS, item.id) is None
        assert store.verify() == []

    assert store.lookup(ITEM_BY_TIME, 1) is item
    assert store.verify() == []


def test_of_two_objects_that_exchange_a_unique_key_the_first_is_refused(store: Store) -> None:
    """Keys are compared one object after the other, as in the reference."""
    one, two = store.create(ITEMS, Item(name="one")), store.create(ITEMS, Item(name="two"))

    with pytest.raises(NotUnique), store.editing(one, two):
        one.name, two.name = two.name, one.name

    assert (one.name, two.name) == ("one", "two")
    assert store.verify() == []


def test_an_object_is_recorded_as_it_was_before_its_first_change(store: Store) -> None:
    one, two = store.create(ITEMS, Item(name="one", time=1)), store.create(ITEMS, Item(name="two", time=2))
    touched: dict[int, tuple[Item, int]] = {}
    three = store.create(ITEMS, Item(name="three", time=3))
    editing, remember = store.recording(ITEMS, touched, lambda item: item.time)

    with editing(one):
        one.time = 5
    with editing(two, one):
        one.time, two.time = 6, 7
    for _ in range(2):
        remember(three)
        three.note += 1

    assert touched == {one.id: (one, 1), two.id: (two, 2), three.id: (three, 3)}
    assert (one.time, two.time) == (6, 7)
    assert store.verify() == []


def test_objects_of_other_tables_are_not_recorded(store: Store) -> None:
    one, count = store.create(ITEMS, Item(name="one", time=1)), store.create(COUNTERS, Counter())
    touched: dict[int, tuple[Item, int]] = {}
    editing, remember = store.recording(ITEMS, touched, lambda item: item.time)

    with editing(count):
        count.value = 1
    with editing(count, one):
        count.value, one.time = 2, 5
    remember(count)
    count.value += 1

    assert touched == {one.id: (one, 1)}
    assert (count.value, one.time) == (3, 5)


def test_what_is_remembered_is_undone_with_the_session(store: Store) -> None:
    item, kept = store.create(ITEMS, Item(name="one", note=1)), store.create(ITEMS, Item(name="two"))
    store.commit()
    for note in (2, 3):
        with store.begin():
            store.remember(item)
            item.note = note
            with store.begin() as inner:
                store.remember(item)
                item.note += 10
                inner.squash()
            store.remember(item)
            item.note += 100
        assert item.note == 1
    store.remember(item)
    item.note = 4
    store.commit()
    with store.committed() as view:
        assert {each.id: each.note for each in view.scan(ITEMS)} == {item.id: 4, kept.id: 0}


def test_an_object_that_was_removed_is_not_remembered(store: Store) -> None:
    item = store.create(ITEMS, Item(name="one"))
    with store.begin() as session:
        store.remember(item)
        store.remove(item)
        with pytest.raises(StoreMisuse):
            store.remember(item)
        session.undo()
    store.remember(item)
    item.note = 1
