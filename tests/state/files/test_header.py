"""The header of the file: whose file it is, for which tables, and the values that a commit leaves in it."""

from __future__ import annotations

from pathlib import Path

import lmdb
import pytest

from ledgerd.state import Entity, StateReader, Store, Table, ordered
from ledgerd.state.errors import StoreCorrupt, StoreOutdated
from ledgerd.state.tables.keys import INT64
from tests.state.items import COUNTERS, ITEMS, TABLES, Item
from tests.state.versions import make_outdated


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A state of three objects, of which one was removed."""
    with Store.open(tmp_path, TABLES) as store:
        for number in range(3):
            store.create(ITEMS, Item(name=f"item{number}"))
        store.remove(store.get(ITEMS, 2))
        store.set_meta("chain", b"viz")
        store.set_revision(7)
        store.commit()
    return tmp_path


def test_the_database_of_another_program_is_refused(tmp_path: Path) -> None:
    with lmdb.Environment(str(tmp_path), max_dbs=4) as other:
        database = other.open_db(b"header")
        with other.begin(write=True) as transaction:
            transaction.put(b"key", b"value", db=database)

    with pytest.raises(StoreCorrupt, match="it has no header"):
        Store.open(tmp_path, TABLES)
    with pytest.raises(StoreCorrupt):
        StateReader.open(tmp_path, TABLES)


def test_a_state_of_other_tables_is_outdated(folder: Path) -> None:
    class Item(Entity):
        title: str = ""

    items = Table(Item, number=1)
    ordered(items, "by_title", lambda item: (item.title,), (INT64,))

    for opening in (Store.open, StateReader.open):
        with pytest.raises(StoreOutdated, match="written by another version of this program"):
            opening(folder, (items,))
    with Store.open(folder, TABLES) as store:
        assert store.verify() == []


def test_a_state_of_another_format_is_outdated(folder: Path) -> None:
    make_outdated(folder)

    for opening in (Store.open, StateReader.open):
        with pytest.raises(StoreOutdated, match=r"another version of this program.*replay the block log or import"):
            opening(folder, TABLES)


def test_counters_values_and_the_revision_survive_a_restart(folder: Path) -> None:
    with Store.open(folder, TABLES) as store:
        assert (store.next_id(ITEMS), store.next_id(COUNTERS)) == (3, 0)
        assert (store.revision, store.meta("chain"), store.meta("other")) == (7, b"viz", None)
        assert store._tables[ITEMS].counters == (3, 3, 3)  # noqa: SLF001 - ranks are no caller's business


def test_a_reader_sees_the_values_of_the_last_commit(folder: Path) -> None:
    with Store.open(folder, TABLES) as store:
        store.set_meta("chain", b"other")
        store.create(ITEMS, Item(name="not committed"))
        assert (store.meta("chain"), store.next_id(ITEMS)) == (b"other", 4)

    with StateReader.open(folder, TABLES) as reader, reader.snapshot() as view:
        assert (view.revision, view.meta("chain"), view.meta("other")) == (7, b"viz", None)
        assert (view.next_id(ITEMS), view.next_id(COUNTERS)) == (3, 0)
