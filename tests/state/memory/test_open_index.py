"""One index of an open store: the order of equal keys, lazy entries, and scans whose body changes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from ledgerd.codec.types.numbers import Int64
from ledgerd.state import Entity, Store, Table, unique
from ledgerd.state.errors import NotUnique
from ledgerd.state.memory import cache
from ledgerd.state.tables.keys import INT64
from ledgerd.state.tables.tables import Index
from tests.state.items import (
    ITEM_BY_NAME,
    ITEM_BY_OPEN_TIME,
    ITEM_BY_TIME,
    ITEM_BY_WEIGHT,
    ITEMS,
    TABLES,
    Item,
)


def fill(store: Store, *times: int) -> None:
    for time in times:
        number = store.next_id(ITEMS)
        store.create(ITEMS, Item(name=f"item{number}", time=time))


def places(store: Store) -> str:
    return " ".join(f"{item.id}/{item.time}" for item in store.scan(ITEM_BY_TIME))


def move(store: Store, item_id: int, time: int) -> None:
    item = store.get(ITEMS, item_id)
    with store.editing(item):
        item.time = time


def ids(items: Iterator[Item]) -> list[int]:
    return [item.id for item in items]


def test_equal_keys_take_the_places_that_the_reference_gives_them(store: Store) -> None:
    """Spec 02, section 21.7."""
    fill(store, 0, 5, 5, 7, 7)
    store.remove(store.get(ITEMS, 0))

    seen = []
    for item_id, time in ((2, 7), (1, 7), (4, 6), (4, 7), (3, 9), (3, 7)):
        move(store, item_id, time)
        seen.append(places(store))

    assert seen == [
        "1/5 2/7 3/7 4/7",
        "1/7 2/7 3/7 4/7",
        "4/6 1/7 2/7 3/7",
        "4/7 1/7 2/7 3/7",
        "4/7 1/7 2/7 3/9",
        "4/7 1/7 2/7 3/7",
    ]


def test_of_two_objects_edited_together_the_first_moves_first(store: Store) -> None:
    fill(store, 1, 2, 5)
    one, two = store.get(ITEMS, 0), store.get(ITEMS, 1)

    with store.editing(one, two):
        one.time = two.time = 7

    assert places(store) == "2/5 0/7 1/7"


def test_an_object_stands_in_its_old_place_until_its_edit_is_over(store: Store) -> None:
    fill(store, 1, 2, 3)
    item = store.get(ITEMS, 0)

    with store.editing(item):
        item.time = 9
        item.is_open = True
        assert ids(store.scan(ITEM_BY_TIME)) == [0, 1, 2]
        assert ids(store.scan(ITEM_BY_OPEN_TIME)) == [0, 1, 2]

    assert ids(store.scan(ITEM_BY_TIME)) == [1, 2, 0]
    assert ids(store.scan(ITEM_BY_OPEN_TIME)) == [1, 2, 0]


def test_the_bounds_of_a_scan_take_in_what_begins_with_them(store: Store) -> None:
    fill(store, 3, 1, 2, 2, 4)

    assert ids(store.scan(ITEM_BY_TIME, lower=(2,), upper=(3,))) == [2, 3, 0]
    assert ids(store.scan(ITEM_BY_TIME, lower=(2,), upper=(3,), reverse=True)) == [0, 3, 2]
    assert ids(store.scan(ITEM_BY_OPEN_TIME, lower=(False, 2), upper=(False,))) == [2, 3, 0, 4]
    assert ids(store.scan(ITEM_BY_OPEN_TIME, lower=(True,))) == []
    assert ids(store.scan(ITEMS, lower=(1,), upper=(3,))) == [1, 2, 3]


def test_a_scan_goes_on_behind_an_object(store: Store) -> None:
    fill(store, 2, 2, 2, 3)
    item = store.get(ITEMS, 1)

    assert ids(store.scan(ITEM_BY_TIME, after=item)) == [2, 3]
    assert ids(store.scan(ITEM_BY_TIME, after=item, upper=(2,))) == [2]
    assert ids(store.scan(ITEM_BY_TIME, after=item, reverse=True)) == [0]
    assert store.following(ITEM_BY_TIME, item) is store.get(ITEMS, 2)
    assert store.following(ITEM_BY_TIME, store.get(ITEMS, 3)) is None


def test_a_loop_over_what_is_due_may_move_and_remove_it(store: Store) -> None:
    fill(store, *range(10), *range(10))

    met = []
    for item in store.scan(ITEM_BY_TIME, upper=(5,)):
        met.append(item.id)
        if item.id % 2:
            store.remove(item)
        else:
            with store.editing(item):
                item.time = 30

    assert met == [0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15]
    assert places(store).startswith("6/6 16/6 7/7")
    assert store.verify() == []


def test_an_object_that_moves_ahead_of_the_scan_is_met_again(store: Store) -> None:
    fill(store, 1, 2, 3)

    met = []
    for item in store.scan(ITEM_BY_TIME):
        met.append((item.id, item.time))
        if item.time < 3:
            with store.editing(item):
                item.time += 2

    assert met == [(0, 1), (1, 2), (2, 3), (0, 3), (1, 4)]


def test_an_object_created_or_removed_ahead_of_the_scan_is_seen(store: Store) -> None:
    fill(store, 1, 2, 3)

    met = []
    for item in store.scan(ITEM_BY_TIME):
        met.append(item.id)
        if item.id == 0:
            store.remove(store.get(ITEMS, 1))
            fill(store, 3)

    assert met == [0, 2, 3]


def test_steps_of_an_iterator_follow_the_object_where_it_stands_now(store: Store) -> None:
    fill(store, 1, 2, 3, 4)

    item = store.get(ITEMS, 0)
    successor = store.following(ITEM_BY_TIME, item)
    assert successor is not None
    move(store, 0, 9)
    move(store, successor.id, 4)
    following = store.following(ITEM_BY_TIME, successor)

    assert places(store) == "2/3 3/4 1/4 0/9"
    assert following is store.get(ITEMS, 0)


def test_a_scan_survives_the_undo_of_what_it_walks(store: Store) -> None:
    fill(store, 1, 2, 3)
    session = store.begin()
    fill(store, 4, 5)

    met = []
    for item in store.scan(ITEM_BY_TIME):
        met.append(item.id)
        if item.id == 1:
            session.undo()

    assert met == [0, 1, 2]


def test_long_scans_meet_every_object_once(store: Store) -> None:
    fill(store, *[number % 7 for number in range(1000)])
    wanted = [number for time in range(7) for number in range(time, 1000, 7)]

    assert ids(store.scan(ITEM_BY_TIME)) == wanted
    assert ids(store.scan(ITEM_BY_TIME, reverse=True)) == wanted[::-1]
    assert ids(store.scan(ITEMS)) == list(range(1000))
    store.commit()
    assert ids(store.scan(ITEM_BY_TIME)) == wanted


def test_positions_sort_as_the_index_does(store: Store) -> None:
    fill(store, 3, 1, 3, 2)

    sorted_ids = ids(iter(sorted(store.scan(ITEMS), key=lambda item: store.position(ITEM_BY_TIME, item))))

    assert sorted_ids == ids(store.scan(ITEM_BY_TIME))


def test_a_name_is_found_under_the_form_it_is_stored_in(store: Store) -> None:
    store.create(ITEMS, Item(name="a" * 32))

    assert store.lookup(ITEM_BY_NAME, "a" * 40) is store.get(ITEMS, 0)
    assert store.lookup(ITEM_BY_NAME, "a" * 31) is None


def test_a_table_is_walked_by_id_right_after_a_commit(tmp_path: Path) -> None:
    with Store.open(tmp_path, TABLES) as store:
        for name in "abc":
            store.create(ITEMS, Item(name=name))
        store.commit()
        assert [item.name for item in store.scan(ITEMS)] == ["a", "b", "c"]
        store.remove(store.get(ITEMS, 1))
        assert [item.name for item in store.scan(ITEMS)] == ["a", "c"]


# -- lazy entries


def written(store: Store, index: Index[Item]) -> int:
    """How many entries the open transaction has, whether they are up to date or not."""
    return sum(1 for _ in store._disk.transaction.cursor(store._databases[index.title]))  # noqa: SLF001


def test_entries_are_written_when_their_index_is_read_and_not_before(store: Store) -> None:
    fill(store, 1, 2)
    assert (written(store, ITEM_BY_TIME), written(store, ITEM_BY_WEIGHT)) == (0, 0)

    assert ids(store.scan(ITEM_BY_TIME)) == [0, 1]
    assert (written(store, ITEM_BY_TIME), written(store, ITEM_BY_WEIGHT)) == (2, 0)

    store.commit()
    assert (written(store, ITEM_BY_TIME), written(store, ITEM_BY_WEIGHT)) == (2, 2)


def test_an_edit_that_changes_no_key_leaves_no_entry_out_of_date(store: Store) -> None:
    fill(store, 1, 2)
    store.commit()
    item = store.get(ITEMS, 0)
    with store.editing(item):
        item.weight = 5

    assert pending(store, ITEM_BY_WEIGHT) == {0}
    assert pending(store, ITEM_BY_TIME) == set()


def test_what_comes_later_is_not_written_while_nothing_is_due(store: Store) -> None:
    fill(store, 50, 60)
    assert store.first(ITEM_BY_TIME, upper=(10,)) is None
    fill(store, 70, 20)

    assert store.first(ITEM_BY_TIME, upper=(10,)) is None
    assert pending(store, ITEM_BY_TIME) == {2, 3}
    assert ids(store.scan(ITEM_BY_TIME, upper=(20,))) == [3]
    assert pending(store, ITEM_BY_TIME) == set()


@pytest.mark.parametrize("seed", range(3))
def test_what_is_due_is_found_after_any_changes(store: Store, seed: int) -> None:
    random = Random(seed)  # noqa: S311 - a test
    fill(store, 50, 60)
    with store.begin() as session:
        for _ in range(200):
            items = list(store._tables[ITEMS].cache.objects.values())  # noqa: SLF001 - without a scan, which writes
            item = random.choice([each for each in items if each is not None])
            kind = random.randrange(5)
            if kind == 0:
                fill(store, random.randrange(100))
            elif kind == 1:
                move(store, item.id, random.randrange(100))
            elif kind == 2:
                with store.editing(item):
                    item.is_open = not item.is_open
            elif kind == 3 and item.id > 1:
                store.remove(item)
            else:
                with store.begin():
                    move(store, item.id, random.randrange(100))
                    _require_due(store, random.randrange(30))
            _require_due(store, random.randrange(30))
        session.push()


def _require_due(store: Store, until: int) -> None:
    """The first items until a time, by two indexes, are those that a look at all items finds."""
    items = [each for each in store._tables[ITEMS].cache.objects.values() if each is not None]  # noqa: SLF001
    due = [each.time for each in items if each.time <= until]
    found = store.first(ITEM_BY_TIME, upper=(until,))
    assert (None if found is None else found.time) == min(due, default=None)
    due = [each.time for each in items if each.is_open and each.time <= until]
    found = store.first(ITEM_BY_OPEN_TIME, lower=(True,), upper=(True, until))
    assert (None if found is None else found.time) == min(due, default=None)


def pending(store: Store, index: Index[Item]) -> set[int]:
    opened = store._indexes[index]  # noqa: SLF001 - what no caller sees
    return set(opened._pending)  # noqa: SLF001


def test_a_name_is_found_without_flushing_its_index(store: Store) -> None:
    fill(store, *range(5))

    assert store.at(ITEM_BY_NAME, "item3").id == 3
    assert store.lookup(ITEM_BY_NAME, "nobody") is None
    move(store, 3, 9)
    assert written(store, ITEM_BY_TIME) == 5
    assert store.at(ITEM_BY_NAME, "item3").time == 9


def test_what_was_flushed_before_an_abandoned_transaction_is_written_again(store: Store) -> None:
    fill(store, 1, 2, 3)
    store.commit()
    move(store, 0, 9)
    assert ids(store.scan(ITEM_BY_TIME)) == [1, 2, 0]
    store.remove(store.get(ITEMS, 1))
    assert ids(store.scan(ITEM_BY_TIME)) == [2, 0]

    store._disk.abort()  # noqa: SLF001 - as when the map grows

    assert ids(store.scan(ITEM_BY_TIME)) == [2, 0]
    store.commit()
    assert store.verify() == []


def test_an_empty_range_is_remembered_until_an_entry_changes(store: Store) -> None:
    fill(store, 5)

    for _ in range(2):
        assert store.first(ITEM_BY_TIME, upper=(4,)) is None
    move(store, 0, 3)
    assert store.first(ITEM_BY_TIME, upper=(4,)) is store.get(ITEMS, 0)
    store.remove(store.get(ITEMS, 0))
    assert store.first(ITEM_BY_TIME, upper=(4,)) is None


def test_a_loop_that_only_removes_writes_nothing_before_it_reads_on(store: Store) -> None:
    fill(store, *range(6))
    store.commit()
    for item in store.scan(ITEM_BY_TIME):
        store.remove(item)
        if item.id == 3:
            break

    assert written(store, ITEM_BY_TIME) == 5, "the first was read by itself, and those behind it together"
    assert ids(store.scan(ITEM_BY_TIME)) == [4, 5]
    assert store.verify() == []


def test_a_key_looked_for_in_vain_is_found_as_soon_as_an_object_has_it(store: Store) -> None:
    fill(store, 1)
    assert store.lookup(ITEM_BY_NAME, "late") is None
    with store.begin() as session:
        made = store.create(ITEMS, Item(name="late"))
        assert store.lookup(ITEM_BY_NAME, "late") is made
        session.undo()
    assert store.lookup(ITEM_BY_NAME, "late") is None
    item = store.get(ITEMS, 0)
    with store.begin() as session:
        with store.editing(item):
            item.name = "late"
        assert store.lookup(ITEM_BY_NAME, "late") is item
        assert store.lookup(ITEM_BY_NAME, "item0") is None
        session.undo()
    assert store.lookup(ITEM_BY_NAME, "item0") is item
    assert store.lookup(ITEM_BY_NAME, "late") is None


class Ticket(Entity):
    """Something whose number nobody else has."""

    number: Int64 = 0


TICKETS = Table(Ticket, number=1)
TICKET_BY_NUMBER = unique(TICKETS, "by_number", lambda ticket: (ticket.number,), (INT64,))


def test_a_key_that_an_undo_has_given_back_is_found_though_no_hint_knows_it(tmp_path: Path) -> None:
    with Store.open(tmp_path, (TICKETS,)) as store:
        store.create(TICKETS, Ticket(number=1))
        store.commit()
    with Store.open(tmp_path, (TICKETS,)) as store:
        ticket = store.get(TICKETS, 0)
        with store.begin():
            with store.editing(ticket):
                ticket.number = 2
            assert list(store.scan(TICKET_BY_NUMBER)) == [ticket]

        with pytest.raises(NotUnique):
            store.create(TICKETS, Ticket(number=1))
        assert store.lookup(TICKET_BY_NUMBER, 1) is ticket
        assert store.lookup(TICKET_BY_NUMBER, 2) is None


def test_there_are_not_many_more_hints_than_objects_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "NEVER_EVICTED", 0)
    with Store.open(tmp_path, (TICKETS,), cached=10) as store:
        for first in range(0, 500, 50):
            for number in range(first, first + 50):
                store.create(TICKETS, Ticket(number=number))
            store.commit()
        hints = store._indexes[TICKET_BY_NUMBER].hints  # noqa: SLF001 - what no caller sees

        assert len(hints) <= 2 * 60
        assert store.at(TICKET_BY_NUMBER, 7).id == 7
