"""Objects of the store: creating, finding, changing and removing them, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ledgerd.protocol.errors import RuleViolation
from ledgerd.state import Entity, Store, StoreMisuse, Table, unique
from ledgerd.state.errors import NotUnique, UnknownKey
from ledgerd.state.tables.keys import C_TEXT, NAME_TEXT
from tests.state.items import (
    COUNTERS,
    ITEM_BY_NAME,
    ITEM_BY_TIME,
    ITEMS,
    TABLES,
    Counter,
    Item,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, TABLES) as store:
        yield store


def item_count(store: Store) -> int:
    return sum(1 for _ in store.scan(ITEMS))


def test_ids_are_given_in_order_and_never_again(store: Store) -> None:
    first = store.create(ITEMS, Item(name="first"))
    store.remove(first)
    second = store.create(ITEMS, Item(name="second"))

    assert (first.id, second.id, store.next_id(ITEMS)) == (0, 1, 2)
    assert store.next_id(COUNTERS) == 0


def test_what_does_not_exist_is_an_unknown_key(store: Store) -> None:
    searches: tuple[Callable[[], object], ...] = (
        lambda: store.get(ITEMS, 0),
        lambda: store.get(ITEMS, -1),
        lambda: store.get(ITEMS, 1 << 80),
        lambda: store.at(ITEM_BY_NAME, "nobody"),
        lambda: store.at(ITEM_BY_TIME, 7),
    )
    for search in searches:
        with pytest.raises(UnknownKey) as caught:
            search()
        assert isinstance(caught.value, RuleViolation)
        assert (caught.value.code, caught.value.name) == (13, "N5boost10wrapexceptISt12out_of_rangeEE")
        assert (caught.value.what, caught.value.message) == ("unknown key", "unknown key: ")


def test_a_key_that_nothing_can_have_is_not_found(store: Store) -> None:
    store.create(ITEMS, Item(name="somebody", time=5))

    assert store.lookup(ITEM_BY_NAME, "\ud800") is None
    assert store.first(ITEM_BY_NAME, lower=("somebodz",)) is None
    assert store.find(ITEMS, 1 << 70) is None


def test_a_second_object_of_a_unique_key_is_refused_and_takes_no_id(store: Store) -> None:
    store.create(ITEMS, Item(name="alice"))

    with pytest.raises(NotUnique) as caught:
        store.create(ITEMS, Item(name="alice"))

    assert (caught.value.code, caught.value.name) == (13, "N5boost10wrapexceptISt11logic_errorEE")
    assert caught.value.message == ("could not insert object, most likely a uniqueness constraint was violated: ")
    assert (store.next_id(ITEMS), item_count(store)) == (1, 1)


def test_a_unique_key_that_became_free_can_be_taken(store: Store) -> None:
    alice = store.create(ITEMS, Item(name="alice"))
    with store.editing(alice):
        alice.name = "carol"
    again = store.create(ITEMS, Item(name="alice"))
    store.remove(alice)

    assert store.at(ITEM_BY_NAME, "alice") is again
    assert store.lookup(ITEM_BY_NAME, "carol") is None
    assert store.verify() == []


def test_many_are_found_by_their_keys_as_each_alone_is(store: Store) -> None:
    alice, bob = store.create(ITEMS, Item(name="alice")), store.create(ITEMS, Item(name="bob"))
    assert store.at_each(ITEM_BY_NAME, ("bob", "alice", "bob")) == [bob, alice, bob]

    with store.editing(alice):
        alice.name = "carol"
    carol = store.create(ITEMS, Item(name="alice"))
    assert store.at_each(ITEM_BY_NAME, ("alice", "carol")) == [carol, alice]
    assert store.at_each(ITEM_BY_NAME, ()) == []
    with pytest.raises(UnknownKey):
        store.at_each(ITEM_BY_NAME, ("bob", "nobody"))


def test_an_object_cannot_be_created_twice(store: Store) -> None:
    item = store.create(COUNTERS, Counter())

    with pytest.raises(StoreMisuse, match="is in the state already"):
        store.create(COUNTERS, item)


def test_many_are_created_as_each_alone_is(store: Store) -> None:
    """Those of a table without indexes all at once, within a session and without, and over ids that were given back."""
    gone = store.begin()
    store.create_all(COUNTERS, [Counter(), Counter()])
    gone.undo()
    store.create_all(COUNTERS, counters := [Counter(), Counter(), Counter()])
    store.create_all(ITEMS, items := [Item(name="alice"), Item(name="bob")])
    store.commit()

    assert [each.id for each in counters] == [0, 1, 2]
    assert [each.id for each in store.scan(COUNTERS)] == [0, 1, 2]
    assert store.next_id(COUNTERS) == 3
    assert [store.at(ITEM_BY_NAME, each.name).id for each in items] == [0, 1]
    assert store.verify() == []
    with pytest.raises(StoreMisuse, match="is in the state already"):
        store.create_all(COUNTERS, [store.get(COUNTERS, 2)])
    with pytest.raises(StoreMisuse, match="is in the state already"):
        store.create_all(ITEMS, [store.get(ITEMS, 1)])


def test_named_values_are_kept_beside_the_objects(store: Store) -> None:
    store.set_meta("chain", b"viz")
    with store.begin():
        store.set_meta("head", b"7")

    assert (store.meta("chain"), store.meta("head"), store.meta("other")) == (b"viz", b"7", None)


class Text(Entity):
    """Something with a title of any length."""

    owner: str = ""
    title: str = ""


TEXTS = Table(Text, number=1)
TEXT_BY_TITLE = unique(TEXTS, "by_title", lambda text: (text.owner, text.title), (NAME_TEXT, C_TEXT))


def test_a_text_is_one_key_up_to_its_first_nul(tmp_path: Path) -> None:
    with Store.open(tmp_path, (TEXTS,)) as store:
        text = store.create(TEXTS, Text(owner="bob", title="one\0two"))

        assert store.lookup(TEXT_BY_TITLE, "bob", "one") is text
        assert store.lookup(TEXT_BY_TITLE, "bob", "one\0three") is text
        assert store.lookup(TEXT_BY_TITLE, "bob") is text
        assert store.lookup(TEXT_BY_TITLE, "bob", "on") is None
        with pytest.raises(NotUnique):
            store.create(TEXTS, Text(owner="bob", title="one"))


@pytest.mark.parametrize("flushes", [False, True])
def test_a_key_of_before_is_not_free_when_another_has_its_bytes(tmp_path: Path, flushes: bool) -> None:
    with Store.open(tmp_path, (TEXTS,)) as store:
        text = store.create(TEXTS, Text(owner="bob", title="one"))
        with store.editing(text):
            text.title = "two"
        store.create(TEXTS, Text(owner="bob", title="one\0more"))
        if flushes:
            assert len(list(store.scan(TEXT_BY_TITLE))) == 2
        with pytest.raises(NotUnique), store.editing(text):
            text.title = "one"
        assert text.title == "two"


def test_a_title_longer_than_any_key_is_not_found(tmp_path: Path) -> None:
    with Store.open(tmp_path, (TEXTS,)) as store:
        store.create(TEXTS, Text(owner="bob", title="a" * 255))

        assert store.lookup(TEXT_BY_TITLE, "bob", "a" * 10_000) is None
        assert store.first(TEXT_BY_TITLE, lower=("bob", "a" * 10_000)) is None
        with pytest.raises(StoreMisuse, match="a key of 10005 bytes"):
            store.create(TEXTS, Text(owner="bob", title="a" * 10_000))
