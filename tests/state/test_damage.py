"""Files that cannot be used: damaged, foreign, of another layout, or in use. What is said, and what survives."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import lmdb
import pytest

from ledgerd.state import (
    Entity,
    Reader,
    Store,
    StoreCorrupt,
    StoreLocked,
    StoreOutdated,
    Table,
    disk,
    ordered,
    verify,
)
from ledgerd.state.keys import INT64
from tests.state.blocks import check_blocks, make_block
from tests.state.items import ITEM_BY_TIME, ITEMS, TABLES, Item


def data_file(path: Path) -> Path:
    return path / disk.DATA_FILE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A state of some hundred objects."""
    with Store.open(tmp_path, TABLES) as store:
        for number in range(300):
            store.create(ITEMS, Item(name=f"item{number}"))
        store.commit()
    return tmp_path


def cut_in_half(file: Path) -> None:
    size = file.stat().st_size
    with file.open("r+b") as data:
        data.truncate(size // 2 // 4096 * 4096)


def cut_to_the_head(file: Path) -> None:
    with file.open("r+b") as data:
        data.truncate(8192)


def overwrite(file: Path) -> None:
    file.write_bytes(b"no database" * 5000)


def overwrite_the_head(file: Path) -> None:
    with file.open("r+b") as data:
        data.write(b"\0" * 8192)


@pytest.mark.parametrize("harm", [cut_in_half, cut_to_the_head, overwrite, overwrite_the_head])
def test_a_damaged_file_is_found_when_it_is_opened(folder: Path, harm: Callable[[Path], None]) -> None:
    harm(data_file(folder))

    with pytest.raises(StoreCorrupt, match="remove its folder, then replay the block log or import a snapshot"):
        Store.open(folder, TABLES)


def test_a_file_that_lacks_only_unused_pages_is_sound(folder: Path) -> None:
    """What was cut off here is free: the file was longer once."""
    with Store.open(folder, TABLES) as store:
        store.set_meta("large", b"x" * (1 << 20))
        store.commit()
        store.set_meta("large", b"")
        store.commit()
    file = data_file(folder)
    size = file.stat().st_size
    with file.open("r+b") as data:
        data.truncate(size - (1 << 19))

    with Store.open(folder, TABLES) as store:
        assert store.verify() == []
    assert file.stat().st_size == size


def test_the_database_of_another_program_is_refused(tmp_path: Path) -> None:
    with lmdb.Environment(str(tmp_path), max_dbs=4) as other:
        database = other.open_db(b"header")
        with other.begin(write=True) as transaction:
            transaction.put(b"key", b"value", db=database)

    with pytest.raises(StoreCorrupt, match="it has no header"):
        Store.open(tmp_path, TABLES)
    with pytest.raises(StoreCorrupt):
        Reader.open(tmp_path, TABLES)


def test_a_state_of_other_tables_is_outdated(folder: Path) -> None:
    class Item(Entity):
        title: str = ""

    items = Table(Item, number=1)
    ordered(items, "by_title", lambda item: (item.title,), (INT64,))

    for opening in (Store.open, Reader.open):
        with pytest.raises(StoreOutdated, match="written by another version of this program"):
            opening(folder, (items,))
    with Store.open(folder, TABLES) as store:
        assert store.verify() == []


def test_an_empty_file_is_a_new_state(tmp_path: Path) -> None:
    data_file(tmp_path).touch()

    with Store.open(tmp_path, TABLES) as store:
        make_block(store)
        store.commit()
        check_blocks(store)


def test_a_second_writer_is_refused_with_the_number_of_the_first(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.state.blocks", str(tmp_path), "1", "1000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:  # noqa: S603 - our own code
        assert writer.stdout is not None
        writer.stdout.readline()
        with pytest.raises(StoreLocked, match=rf"\(process {writer.pid}\): stop that one"):
            Store.open(tmp_path, TABLES)
        writer.kill()

    with Store.open(tmp_path, TABLES) as store:
        assert store.revision > 0


def test_a_folder_can_be_opened_again_after_a_failure(folder: Path) -> None:
    with pytest.raises(StoreOutdated):
        Store.open(folder, TABLES[:1])

    with Store.open(folder, TABLES), pytest.raises(StoreLocked):
        Store.open(folder, TABLES)
    Store.open(folder, TABLES).close()


def test_an_object_that_cannot_be_read_is_damage_and_no_broken_rule(folder: Path) -> None:
    with Store.open(folder, TABLES) as store:
        database = store._databases[ITEMS.title]  # noqa: SLF001 - what no caller can do
        store._disk.transaction.put(INT64.encode(7), b"\0" * 20, db=database)  # noqa: SLF001

        with pytest.raises(StoreCorrupt, match="an object of Item cannot be read"):
            store.get(ITEMS, 7)


def test_an_index_that_lies_is_found(folder: Path) -> None:
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
        "Item.by_time: the entry of 1 is wrong",
        "Item.by_time: an entry leads to 999, which does not exist",
        "Item.by_time: 301 entries for 300 objects",
    ]


def test_counters_that_lag_behind_are_found(folder: Path) -> None:
    with Store.open(folder, TABLES) as store:
        opened = store._tables[ITEMS]  # noqa: SLF001 - what no caller can do
        opened.set_counters(299, (300, 299))

        assert verify.verify([opened]) == [
            "Item 299: the next id is 299",
            "Item 299: its rank 299 has not been given yet",
        ]
