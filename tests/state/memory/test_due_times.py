"""When the first object of an index is due, as it is kept between two looks."""

from __future__ import annotations

from random import Random

import pytest

from ledgerd.state import Store
from ledgerd.state.memory.due_times import NEVER, DueTime
from tests.state.items import ITEM_BY_NAME, ITEM_BY_OPEN_TIME, ITEM_BY_TIME, ITEMS, Item


def fill(store: Store, *times: int) -> None:
    for time in times:
        number = store.next_id(ITEMS)
        store.create(ITEMS, Item(name=f"item{number}", time=time, is_open=number % 2 == 0))


def look(store: Store, due: DueTime, until: int) -> list[int]:
    found = [item.time for item in store.scan(ITEM_BY_TIME, upper=(until,))]
    due.settle()
    return found


def test_it_is_known_from_a_look_on_and_an_earlier_object_brings_it_forward(store: Store) -> None:
    fill(store, 50, 60)
    due, opened = store.due_time(ITEM_BY_TIME), store.due_time(ITEM_BY_OPEN_TIME, (True,))
    assert due.at == 0

    assert look(store, due, 10) == []
    opened.settle(3)
    assert due.at == 50
    fill(store, 55)
    assert due.at == 50
    fill(store, 40)  # it is not open
    assert (due.at, opened.at) == (40, 0)
    store.first(ITEM_BY_OPEN_TIME, lower=(True,), upper=(True, 10))
    opened.settle(3)
    assert opened.at == 53
    fill(store, 30)
    assert (due.at, opened.at) == (30, 33)
    store.remove(store.get(ITEMS, 4))
    assert (due.at, opened.at) == (30, 33), "nothing is due earlier for that"
    assert look(store, due, 10) == []
    assert due.at == 40
    with store.editing(item := store.get(ITEMS, 0)):
        item.weight += 1
    assert due.at == 40


def test_without_objects_nothing_is_ever_due(store: Store) -> None:
    due, opened = store.due_time(ITEM_BY_TIME), store.due_time(ITEM_BY_OPEN_TIME, (True,))
    assert look(store, due, 10) == []
    assert list(store.scan(ITEM_BY_OPEN_TIME, lower=(True,), upper=(True, 10))) == []
    opened.settle()
    assert due.at == opened.at == NEVER


def test_who_has_not_looked_knows_nothing(store: Store) -> None:
    fill(store, 50)
    due = store.due_time(ITEM_BY_TIME)
    due.settle(5)
    assert due.at == 0
    look(store, due, 10)
    due.settle(5)
    assert due.at == 55


def test_of_names_no_time_is_known(store: Store) -> None:
    fill(store, 50)
    due = store.due_time(ITEM_BY_NAME)
    assert store.first(ITEM_BY_NAME) is not None
    due.settle()
    assert due.at == 0


@pytest.mark.parametrize(("seed", "delay"), [(0, 0), (1, 0), (2, 0), (3, 7), (4, 7)])
def test_nothing_is_due_before_it_after_any_changes(store: Store, seed: int, delay: int) -> None:
    random = Random(seed)  # noqa: S311 - a test
    dues = [store.due_time(ITEM_BY_TIME), store.due_time(ITEM_BY_OPEN_TIME, (True,))]
    fill(store, 50, 60, 70)
    session, inner, known = store.begin(), None, 0
    for _ in range(500):
        items = [each for each in store._tables[ITEMS].cache.objects.values() if each is not None]  # noqa: SLF001 - no scan
        item, kind = random.choice(items), random.randrange(9)
        if inner is not None and kind in {2, 3, 8}:
            inner.undo()
            inner = None
            continue
        if kind == 0:
            fill(store, random.randrange(100))
        elif kind == 1 and len(items) > 1:
            store.remove(item)
        elif kind == 2:
            session.push()
            store.commit()
            session = store.begin()
        elif kind == 3:
            session.undo()
            session = store.begin()
        elif kind in {4, 5}:
            until = random.randrange(60)
            store.first(ITEM_BY_TIME, upper=(until,))
            store.first(ITEM_BY_OPEN_TIME, lower=(True,), upper=(True, until))
            for due in dues:
                due.settle(delay)
        elif kind == 8:
            inner = store.begin(replays_ties=True)
        else:
            with store.editing(item):
                item.time, item.is_open = random.randrange(100), random.random() < 0.5
        items = [each for each in store._tables[ITEMS].cache.objects.values() if each is not None]  # noqa: SLF001 - no scan
        assert dues[0].at <= min((each.time + delay for each in items), default=NEVER + delay)
        assert dues[1].at <= min((each.time + delay for each in items if each.is_open), default=NEVER + delay)
        known += dues[0].at > 0
    assert known
