"""Disagreements between objects and indexes, planted and found."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.state import StateReader, Store
from ledgerd.state.tables.keys import INT64
from ledgerd.state.verify import is_sound, verify
from tests.state.items import COUNTERS, ITEM_BY_TIME, ITEMS, TABLES, Item


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A state of some hundred objects."""
    with Store.open(tmp_path, TABLES) as store:
        for number in range(300):
            store.create(ITEMS, Item(name=f"item{number}"))
        store.commit()
    return tmp_path


def test_a_sound_state_has_no_problems(folder: Path) -> None:
    with Store.open(folder, TABLES) as store:
        assert store.verify() == []


def test_wrong_and_missing_entries_are_found(folder: Path) -> None:
    with Store.open(folder, TABLES) as store:
        index = store._indexes[ITEM_BY_TIME]  # noqa: SLF001 - what no caller can do
        database = store._databases[ITEM_BY_TIME.title]  # noqa: SLF001
        entry, _ = next(index.entries())
        transaction = store._disk.transaction  # noqa: SLF001
        transaction.delete(entry, db=database)
        transaction.put(b"\0\0\0\7" + entry[4:], INT64.encode(1), db=database)
        transaction.put(b"\0\0\0\10" + entry[4:], INT64.encode(999), db=database)

        problems = store.verify()

    assert problems == [
        "Item.by_time: the entry of 0 is missing",
        "Item.by_time: the entry of 1 is wrong",
        "Item.by_time: an entry leads to 999, which does not exist",
        "Item.by_time: 301 entries for 300 objects",
    ]


def test_counters_that_are_too_low_are_found(folder: Path) -> None:
    with Store.open(folder, TABLES) as store:
        opened = store._tables[ITEMS]  # noqa: SLF001 - what no caller can do
        opened.set_counters(299, (300, 299))

        assert verify([opened]) == [
            "Item 299: the next id is 299",
            "Item 299: its rank 299 has not been given yet",
        ]


def is_sound_for_others(folder: Path) -> bool:
    with StateReader.open(folder, TABLES) as reader, reader.snapshot() as view:
        return is_sound(view, ITEMS) and is_sound(view, COUNTERS)


def test_other_processes_see_that_a_commit_is_sound(folder: Path) -> None:
    assert is_sound_for_others(folder)


@pytest.mark.parametrize("kind", ["missing", "wrong", "one more"])
def test_other_processes_see_that_entries_of_a_commit_are_not(folder: Path, kind: str) -> None:
    with Store.open(folder, TABLES) as store:
        index, database = store._indexes[ITEM_BY_TIME], store._databases[ITEM_BY_TIME.title]  # noqa: SLF001
        entry, _ = next(index.entries())
        transaction = store._disk.transaction  # noqa: SLF001
        if kind == "missing":
            transaction.delete(entry, db=database)
        else:
            transaction.put(entry if kind == "wrong" else b"\0\0\0\7", INT64.encode(1), db=database)
        store.set_revision(1)
        store.commit()
    assert not is_sound_for_others(folder)


@pytest.mark.parametrize("counters", [(299, (300, 300)), (300, (300, 299))])
def test_other_processes_see_that_counters_of_a_commit_are_too_low(
    folder: Path, counters: tuple[int, tuple[int, int]]
) -> None:
    with Store.open(folder, TABLES) as store:
        store._tables[ITEMS].set_counters(*counters)  # noqa: SLF001 - what no caller can do
        store.commit()
    assert not is_sound_for_others(folder)
