"""One table of an open store: its counters, and what the two kinds of undo restore. `test_against_model.py` compares
all of it with a naive model.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from ledgerd.state import Store
from ledgerd.state.memory.open_table import OpenTable
from tests.state.items import COUNTERS, ITEM_BY_NAME, ITEMS, TABLES, Counter, Item


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Four objects with two keys."""
    with Store.open(tmp_path, TABLES) as store:
        for number, time in enumerate((5, 5, 7, 7)):
            store.create(ITEMS, Item(name=f"item{number}", time=time))
        yield store


def table(store: Store) -> OpenTable[Item]:
    opened: OpenTable[Item] = store._tables[ITEMS]  # noqa: SLF001 - what no caller sees
    return opened


def entries(store: Store) -> list[list[tuple[bytes, bytes]]]:
    """Every index to the last byte, ranks included."""
    return [list(index.entries()) for index in table(store).indexes.values()]


def change_much(store: Store) -> None:
    """Move, rename, remove and create, so that ranks are given in both ordered indexes."""
    for item_id, time in ((0, 7), (2, 6), (3, 5)):
        item = store.get(ITEMS, item_id)
        with store.editing(item):
            item.time, item.weight = time, time
    with store.editing(item):
        item.name = "renamed"
    store.remove(store.get(ITEMS, 1))
    store.create(ITEMS, Item(name="new", time=7))
    store.remove(store.create(ITEMS, Item(name="short lived", time=7)))


def test_counters_are_the_next_id_and_the_next_rank_of_each_ordered_index(store: Store) -> None:
    assert table(store).counters == (4, 4, 4)

    item = store.get(ITEMS, 0)
    with store.editing(item):
        item.time = 9

    assert table(store).counters == (4, 5, 4)


def test_the_comparison_of_keys_is_written_when_a_table_is_first_edited(store: Store) -> None:
    assert "moved_in" not in vars(table(store))

    item = store.get(ITEMS, 0)
    with store.editing(item):
        item.time = 9

    assert "moved_in" in vars(table(store))


@pytest.mark.parametrize("commits", ["none", "before", "inside"])
def test_exact_undo_restores_every_entry_and_counter_to_the_byte(store: Store, commits: str) -> None:
    if commits != "none":
        store.commit()
    before, counters = entries(store), table(store).counters
    names = {item.id: item.name for item in store.scan(ITEMS)}

    with store.begin() as session:
        change_much(store)
        assert entries(store) != before
        session.push()
    if commits == "inside":
        store.commit()
    store.undo()

    assert entries(store) == before
    assert table(store).counters == counters
    assert {item.id: item.name for item in store.scan(ITEMS)} == names
    assert store.verify() == []


def test_replayed_undo_restores_values_and_ids_and_gives_new_ranks(store: Store) -> None:
    counters = table(store).counters
    values = [table(store).table.codec.encode(item) for item in store.scan(ITEMS)]

    with store.begin(replays_ties=True):
        change_much(store)

    assert [table(store).table.codec.encode(item) for item in store.scan(ITEMS)] == values
    assert table(store).counters[0] == counters[0]
    assert table(store).counters[1:] > counters[1:]
    assert store.verify() == []


def test_a_key_that_an_undo_has_given_back_is_taken_again(store: Store) -> None:
    with store.begin():
        item = store.get(ITEMS, 0)
        with store.editing(item):
            item.name = "other"
        store.create(ITEMS, Item(name="item0"))

    assert store.at(ITEM_BY_NAME, "item0").id == 0
    assert store.lookup(ITEM_BY_NAME, "other") is None
    assert store.verify() == []


def test_a_session_keeps_nothing_of_an_object_that_was_created_and_removed_in_it(store: Store) -> None:
    with store.begin() as session:
        item = store.create(ITEMS, Item(name="short lived"))
        with store.editing(item):
            item.weight = 3
        store.remove(item)

        assert session.changes[ITEMS].changed_ids() == set()
        assert store.changed_rows(session) == []


def test_changed_rows_are_the_records_of_this_moment(store: Store) -> None:
    with store.begin() as session:
        with store.editing(store.get(ITEMS, 0)):
            store.get(ITEMS, 0).time = 6
        store.remove(store.get(ITEMS, 1))
        rows = {object_id: record for _, object_id, record in store.changed_rows(session)}

    form = table(store).cache.form
    assert rows.keys() == {0, 1}
    assert rows[1] is None
    assert form.decode(rows[0] or b"") == Item(0, "item0", time=6)
    assert form.ranks(rows[0] or b"") == (4, 0)


def test_the_former_value_of_a_committed_object_is_not_encoded_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.commit()
    session = store.begin()
    item = store.get(ITEMS, 0)
    with store.editing(item):
        item.weight = 5
    image = session.changes[ITEMS].modified[0]
    wanted = ITEMS.codec.encode(image)

    monkeypatch.setattr(ITEMS, "codec", None)

    assert table(store).image_bytes(0, image) == wanted


def counters(store: Store) -> list[tuple[int, int]]:
    return [(each.id, each.value) for each in store.scan(COUNTERS)]


def remove_one_by_one(store: Store, limit: int) -> int | None:
    while (oldest := store.oldest(COUNTERS)) is not None and oldest.value < limit:
        store.remove(oldest)
    return None if oldest is None else oldest.id


def remove_together(store: Store, limit: int) -> int | None:
    first = store.remove_oldest(COUNTERS, lambda counter: counter.value < limit)
    return None if first is None else first.id


def change_at_random(store: Store, random: Random) -> None:
    kind, value, pick = random.randrange(7), random.randrange(6), random.random()
    ids = [each for each, _ in counters(store)]
    if kind < 3:
        store.create(COUNTERS, Counter(value=value))
    elif kind == 3 and ids:
        counter = store.get(COUNTERS, ids[int(pick * len(ids))])
        store.remember(counter)
        counter.value = value
        if value > 3:
            store.remove(counter)
    elif kind == 4:
        store.begin().push()
    elif kind == 5 and store.undoable:
        store.undo()
    elif kind == 6:
        store.commit()


@pytest.mark.parametrize("seed", range(5))
def test_the_oldest_are_removed_together_as_one_by_one(tmp_path: Path, seed: int) -> None:
    randoms = Random(seed), Random(seed)  # noqa: S311 - a test
    with Store.open(tmp_path / "one", TABLES) as one, Store.open(tmp_path / "two", TABLES) as two:
        for place in range(300):
            change_at_random(one, randoms[0])
            change_at_random(two, randoms[1])
            if place % 8 == 0:
                assert remove_together(one, place % 6) == remove_one_by_one(two, place % 6)
            assert counters(one) == counters(two)
            assert one.next_id(COUNTERS) == two.next_id(COUNTERS)
        assert one.verify() == two.verify() == []
