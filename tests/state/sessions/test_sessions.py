"""Sessions: nesting, undo in its two forms, squash, and blocks that stay undoable."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.state import Store, StoreMisuse
from tests.state.items import COUNTERS, ITEM_BY_NAME, ITEM_BY_TIME, ITEMS, TABLES, Counter, Item


def fill(store: Store, *times: int) -> None:
    for time in times:
        store.create(ITEMS, Item(name=f"item{store.next_id(ITEMS)}", time=time))


def move(store: Store, item_id: int, time: int) -> None:
    item = store.get(ITEMS, item_id)
    with store.editing(item):
        item.time = time


def places(store: Store) -> str:
    return " ".join(f"{item.id}/{item.time}" for item in store.scan(ITEM_BY_TIME))


def push_block(store: Store, time: int) -> None:
    session = store.begin()
    fill(store, time)
    session.push()


def test_undo_gives_the_same_ids_again(store: Store) -> None:
    fill(store, 1)
    with store.begin():
        fill(store, 2, 3)
        assert store.next_id(ITEMS) == 3
    fill(store, 4)

    assert places(store) == "0/1 1/4"


def test_undo_gives_back_the_same_object(store: Store) -> None:
    fill(store, 1)
    item = store.get(ITEMS, 0)
    with store.begin():
        move(store, 0, 5)
        store.remove(item)
        assert store.find(ITEMS, 0) is None

    assert store.get(ITEMS, 0) is item
    assert item.time == 1
    assert store.at(ITEM_BY_NAME, "item0") is item


def test_undo_gives_back_the_exact_places(store: Store) -> None:
    fill(store, 5, 5, 5)
    with store.begin():
        move(store, 0, 9)

    assert places(store) == "0/5 1/5 2/5"


def test_undo_that_replays_ties_gives_the_places_of_the_reference(store: Store) -> None:
    fill(store, 5, 5, 5)
    with store.begin(replays_ties=True):
        move(store, 0, 9)
        store.remove(store.get(ITEMS, 1))

    assert places(store) == "2/5 0/5 1/5"


def test_the_session_below_a_replaying_one_still_knows_the_exact_places(store: Store) -> None:
    fill(store, 5, 5, 5)
    with store.begin():
        with store.begin(replays_ties=True):
            move(store, 0, 9)
            store.remove(store.get(ITEMS, 1))
        assert places(store) == "2/5 0/5 1/5"

    assert places(store) == "0/5 1/5 2/5"
    assert store.verify() == []


def test_a_squashed_session_is_undone_with_the_one_below(store: Store) -> None:
    fill(store, 1, 2)
    below = store.begin()
    move(store, 0, 5)
    above = store.begin()
    move(store, 0, 6)
    store.remove(store.get(ITEMS, 1))
    fill(store, 7)
    above.squash()
    assert places(store) == "0/6 2/7"
    below.undo()

    assert (places(store), store.next_id(ITEMS)) == ("0/1 1/2", 2)


def test_squash_onto_nothing_keeps_the_changes_and_the_revision(store: Store) -> None:
    session = store.begin()
    fill(store, 1)
    session.squash()

    assert (places(store), store.revision, store.undoable) == ("0/1", 1, 0)


def test_a_session_that_is_left_by_an_error_is_undone(store: Store) -> None:
    def fail() -> None:
        with store.begin():
            store.create(COUNTERS, Counter())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert store.next_id(COUNTERS) == 0


def test_each_pushed_block_counts_a_revision_and_can_be_undone(store: Store) -> None:
    store.set_revision(10)
    push_block(store, 1)
    push_block(store, 2)
    assert (store.revision, store.undoable) == (12, 2)

    store.undo()

    assert (store.revision, places(store)) == (11, "0/1")


def test_what_is_irreversible_cannot_be_undone(store: Store) -> None:
    push_block(store, 1)
    push_block(store, 2)
    store.irreversible(1)
    assert (store.revision, store.undoable) == (2, 1)
    store.undo()

    with pytest.raises(StoreMisuse, match="no session to undo"):
        store.undo()
    assert (places(store), store.revision) == ("0/1", 1)


def test_a_block_that_makes_itself_irreversible_can_be_undone_until_it_is_pushed(store: Store) -> None:
    session = store.begin()
    fill(store, 1)
    store.irreversible(1)
    assert store.undoable == 1
    session.push()

    assert (store.undoable, store.revision) == (0, 1)


def test_only_the_newest_session_can_be_ended(store: Store) -> None:
    below, above = store.begin(), store.begin()

    with pytest.raises(StoreMisuse, match="session 1 is not the newest one"):
        below.undo()
    above.undo()
    below.undo()


def test_a_session_that_replays_ties_cannot_become_a_block(store: Store) -> None:
    with pytest.raises(StoreMisuse, match="cannot be pushed"), store.begin(replays_ties=True) as session:
        session.push()


def test_the_revision_is_set_only_without_sessions(store: Store) -> None:
    with store.begin(), pytest.raises(StoreMisuse, match="while there are no sessions"):
        store.set_revision(7)


def test_a_commit_between_blocks_only(store: Store) -> None:
    with store.begin(), pytest.raises(StoreMisuse, match="a commit stands between blocks"):
        store.commit()


# -- what was, and what might be


def test_an_object_is_found_as_it_was_at_a_revision(tmp_path: Path) -> None:
    with Store.open(tmp_path, TABLES) as store:
        fill(store, 5)
        for place in range(3):
            with store.begin() as session:
                move(store, 0, 10 + place)
                fill(store, 100 + place)
                if place == 2:
                    store.remove(store.get(ITEMS, 1))
                session.push()
        store.commit()
    with Store.open(tmp_path, TABLES) as store:
        first = store.revision - 3
        times = [None if (item := store.find_at(ITEMS, 0, first + place)) is None else item.time for place in range(4)]
        assert times == [5, 10, 11, 12]
        assert [store.find_at(ITEMS, 1, first + place) is None for place in range(4)] == [True, False, False, True]
        assert [item.id for item in store.removed_since(ITEMS, first)] == [1]
        assert list(store.removed_since(ITEMS, store.revision)) == []


def test_a_store_beside_goes_its_own_way_and_leaves_no_trace(tmp_path: Path) -> None:
    with Store.open(tmp_path, TABLES) as store:
        push_block(store, 5)
        push_block(store, 6)
        store.commit()
        before = places(store)
        with store.beside() as beside:
            beside.undo()
            push_block(beside, 9)
            move(beside, 0, 7)
            assert places(beside) != before
            with pytest.raises(StoreMisuse):
                beside.commit()
        assert places(store) == before
        push_block(store, 8)
        assert places(store) == before + " 2/8"
        assert store.verify() == []
        store.commit()
    with Store.open(tmp_path, TABLES) as store:
        assert places(store) == before + " 2/8"
        assert store.verify() == []


def test_what_is_not_committed_survives_a_store_beside(tmp_path: Path) -> None:
    """The other one sees the last commit; this one goes on from where it was, its index entries included."""
    with Store.open(tmp_path, TABLES) as store:
        push_block(store, 5)
        store.commit()
        push_block(store, 3)
        assert places(store) == "1/3 0/5"
        with store.beside() as beside:
            assert places(beside) == "0/5"
            push_block(beside, 1)
        assert places(store) == "1/3 0/5"
        store.commit()
        assert store.verify() == []
