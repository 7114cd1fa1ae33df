"""Objects in memory: what stays there until a commit, what may be dropped, and what is read again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.state import Store, StoreMisuse
from ledgerd.state.memory import cache
from ledgerd.state.memory.cache import ObjectCache
from tests.state.items import ITEM_BY_NAME, ITEMS, TABLES, Item


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, TABLES) as store:
        yield store


def cache_of(store: Store) -> ObjectCache[Item]:
    return store._tables[ITEMS].cache  # noqa: SLF001 - what no caller sees


def keep_cached(store: Store, count: int) -> None:
    """Let so many objects stay in memory."""
    store._opened._cached = count  # noqa: SLF001 - (the same)


def test_an_object_that_left_memory_must_be_fetched_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "NEVER_EVICTED", 0)
    keep_cached(store, 0)
    store.create(ITEMS, Item(name="one"))
    store.commit()
    store.create(ITEMS, Item(name="two"))
    store.commit()
    item = store.get(ITEMS, 0)
    store.create(ITEMS, Item(name="three"))
    store.commit()

    with pytest.raises(StoreMisuse, match="fetch it again"), store.editing(item):
        item.time = 1
    assert store.get(ITEMS, 0).name == "one"


def test_the_last_commit_can_be_walked_through_without_being_kept(store: Store) -> None:
    for number in range(2 * cache.NEVER_EVICTED):
        store.create(ITEMS, Item(name=f"item {number}"))
    store.commit()
    store.create(ITEMS, Item(name="later"))

    with store.committed() as view:
        names = [item.name for item in view.scan(ITEM_BY_NAME)]
        known = view.at(ITEM_BY_NAME, "item 7")

    assert len(names) == 2 * cache.NEVER_EVICTED
    assert "later" not in names
    assert known is not store.at(ITEM_BY_NAME, "item 7")
    assert known == store.at(ITEM_BY_NAME, "item 7")


def test_the_committed_value_and_ranks_of_an_object_are_kept_until_the_next_commit(store: Store) -> None:
    item = store.create(ITEMS, Item(name="one", time=1))
    store.create(ITEMS, Item(name="two", time=7))
    store.commit()
    assert cache_of(store).committed == {}

    for time in (8, 9):
        with store.editing(item):
            item.time = time

    (image, ranks) = cache_of(store).committed[0]
    assert image == Item(0, "one", time=1)
    assert ranks == (0, 0)
    assert cache_of(store).ranks[0] == (2, 0)
    store.commit()
    assert cache_of(store).committed == {}


def test_an_object_that_was_created_since_the_commit_has_no_committed_value(store: Store) -> None:
    store.create(ITEMS, Item(name="one"))

    assert cache_of(store).committed == {0: (None, ())}


def test_a_removed_object_is_not_read_from_the_file_again(store: Store) -> None:
    item = store.create(ITEMS, Item(name="one"))
    store.commit()
    store.remove(item)

    assert store.find(ITEMS, 0) is None
    assert cache_of(store).objects == {0: None}
    store.commit()
    assert cache_of(store).objects == {}
    assert store.find(ITEMS, 0) is None


def test_objects_of_the_last_commit_stay_when_others_are_dropped(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "NEVER_EVICTED", 0)
    keep_cached(store, 2)
    items = [store.create(ITEMS, Item(name=f"item {number}")) for number in range(4)]
    store.commit()
    with store.editing(items[0]):
        items[0].time = 5
    items += [store.create(ITEMS, Item(name=f"item {number}")) for number in range(4, 6)]
    store.commit()

    assert set(cache_of(store).objects) == set(cache_of(store).ranks) == {0, 4, 5}
    assert store.get(ITEMS, 1).name == "item 1"


def test_no_copy_for_the_indexes_is_left_after_an_edit(store: Store) -> None:
    item = store.create(ITEMS, Item(name="one", time=1))
    with store.editing(item):
        item.time = 2
        assert cache_of(store).indexed_as[0].time == 1

    assert cache_of(store).indexed_as == {}
