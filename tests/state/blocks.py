"""Blocks that a test can check by their number alone, and a program that makes them until it is stopped.

After block n the counter says n, and of the items 0 to n - 1 the newest five are left, each moved once.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ledgerd.state import Space, Store
from tests.state.items import COUNTERS, ITEM_BY_TIME, ITEMS, TABLES, Counter, Item

KEPT = 5
REVERSIBLE = 3
SMALL = Space(initial=1 << 20, min_free=1 << 17, increment=1 << 16)


def make_block(store: Store) -> int:
    """The next block on top of the state; its number."""
    number = store.revision + 1
    with store.begin() as session:
        counter = store.find(COUNTERS, 0) or store.create(COUNTERS, Counter())
        with store.editing(counter):
            counter.value = number
        for item in store.scan(ITEM_BY_TIME, upper=(number - 1,)):
            with store.editing(item):
                item.time += KEPT
        store.create(ITEMS, Item(name=f"item{number - 1}", time=number))
        if number > KEPT:
            store.remove(store.get(ITEMS, number - 1 - KEPT))
        session.push()
    store.irreversible(number - REVERSIBLE)
    return number


def check_blocks(store: Store) -> None:
    """The state is that of its revision, to the last index entry, and its newest blocks can be undone."""
    assert store.verify() == []
    assert content(store) == expected(store.revision)
    while store.undoable:
        before = store.revision
        store.undo()
        assert store.revision == before - 1
        assert content(store) == expected(store.revision)
    assert store.verify() == []


def content(store: Store) -> list[object]:
    """All that is in the state."""
    return [*store.scan(COUNTERS), *store.scan(ITEM_BY_TIME), store.next_id(ITEMS)]


def expected(revision: int, known: dict[int, list[object]] = {}) -> list[object]:  # noqa: B006 - a memory
    """What must be in the state, from a naive calculation."""
    if not revision:
        return [0]
    if revision not in known:
        items: dict[int, int] = {}
        order: list[int] = []
        for number in range(1, revision + 1):
            for each in [each for each in order if items[each] <= number - 1]:
                items[each] += KEPT
                order.remove(each)
                order.insert(sum(items[other] <= items[each] for other in order), each)
            items[number - 1] = number
            order.insert(sum(items[other] <= number for other in order), number - 1)
            if number > KEPT:
                order.remove(number - 1 - KEPT)
        known[revision] = [
            Counter(0, revision),
            *(Item(each, f"item{each}", items[each]) for each in order),
            revision,
        ]
    return known[revision]


def main(path: str, count: str, limit: str) -> None:
    """Make blocks, each committed at once, and say so; stop after `limit` of them."""
    with Store.open(Path(path), TABLES, space=SMALL) as store:
        for _ in range(int(limit)):
            number = make_block(store)
            if number % int(count) == 0:
                store.commit()
                print(number, flush=True)  # noqa: T201 - the test waits for it


if __name__ == "__main__":
    main(*sys.argv[1:])
