"""Readers in other processes: consistent snapshots, while the writer writes and the file grows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ledgerd.state import StateReader, Store
from ledgerd.state.errors import StorageError, UnknownKey
from tests.state.blocks import SMALL, content, expected, make_block
from tests.state.items import (
    COUNTERS,
    ITEM_BY_NAME,
    ITEM_BY_OPEN_TIME,
    ITEM_BY_TIME,
    ITEM_BY_WEIGHT,
    ITEMS,
    TABLES,
    Item,
)

# A process has a database open once: the reader of these tests is another process, or comes after the writer.

COMPARE = """
import sys
from pathlib import Path
from ledgerd.state import StateReader
from tests.state.blocks import content, expected
from tests.state.items import TABLES

with StateReader.open(Path(sys.argv[1]), TABLES) as reader:
    print("open", flush=True)
    heads = []
    while not heads or heads[-1] < int(sys.argv[2]):
        with reader.snapshot() as view:
            first = view.revision
            assert content(view) == expected(view.revision), view.revision
            assert view.revision == first
        if not heads or heads[-1] != first:
            heads.append(first)
            print(first, flush=True)
assert heads == sorted(heads)
"""


def fill(path: Path) -> None:
    with Store.open(path, TABLES) as store:
        for number in range(50):
            store.create(
                ITEMS, Item(name=f"item{number}", time=number % 5, weight=-number % 3, is_open=number % 2 == 0)
            )
        store.set_meta("head", b"7")
        store.set_revision(7)
        store.commit()


def test_a_snapshot_reads_as_the_store_does(tmp_path: Path) -> None:
    fill(tmp_path)
    scans = [
        (source, bounds, is_reverse)
        for source in (ITEMS, ITEM_BY_TIME, ITEM_BY_WEIGHT, ITEM_BY_NAME, ITEM_BY_OPEN_TIME)
        for bounds in ((), (2,) if source is not ITEM_BY_NAME else ("item2",))
        for is_reverse in (False, True)
    ]
    with Store.open(tmp_path, TABLES) as store:
        item = store.get(ITEMS, 9)
        wanted = [list(store.scan(source, lower=b, upper=b, reverse=r)) for source, b, r in scans]
        behind = [list(store.scan(source, after=item)) for source, _, _ in scans]
        positions = [store.position(source, item) for source, _, _ in scans]

    with StateReader.open(tmp_path, TABLES) as other, other.snapshot() as view:
        assert [list(view.scan(source, lower=b, upper=b, reverse=r)) for source, b, r in scans] == wanted
        assert [list(view.scan(source, after=item)) for source, _, _ in scans] == behind
        assert [view.position(source, item) for source, _, _ in scans] == positions
        assert view.get(ITEMS, 9) == view.at(ITEM_BY_NAME, "item9") == item
        assert view.lookup(ITEM_BY_TIME, 3) == Item(3, "item3", 3, 0, is_open=False)
        assert (view.meta("head"), view.meta("none"), view.revision) == (b"7", None, 7)
        assert (view.next_id(ITEMS), view.next_id(COUNTERS)) == (50, 0)


def test_a_snapshot_does_not_have_what_does_not_exist(tmp_path: Path) -> None:
    fill(tmp_path)

    with StateReader.open(tmp_path, TABLES) as other, other.snapshot() as view:
        assert view.find(ITEMS, 50) is None
        assert view.find(ITEMS, 1 << 70) is None
        assert view.lookup(ITEM_BY_NAME, "x" * 1000) is None
        with pytest.raises(UnknownKey):
            view.at(ITEM_BY_NAME, "nobody")
        with pytest.raises(UnknownKey):
            view.position(ITEM_BY_TIME, Item(50))


def test_every_snapshot_is_a_whole_block_while_the_writer_writes(tmp_path: Path) -> None:
    last = 60
    with Store.open(tmp_path, TABLES, space=SMALL) as store:
        store.commit()
        command = [sys.executable, "-c", COMPARE, str(tmp_path), str(last)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:  # noqa: S603 - our own code
            assert other.stdout is not None
            assert other.stdout.readline() == "open\n"
            for _ in range(last):
                make_block(store)
                store.commit()
            store.set_meta("growth", b"x" * (4 << 20))
            store.commit()
            lines = other.stdout.read().split()
        assert other.returncode == 0
        assert int(lines[-1]) == last


def test_a_reader_follows_the_growth_of_the_file(tmp_path: Path) -> None:
    """As where no addresses can be reserved: the map is that of the file when it was opened."""
    script = """
import sys
from pathlib import Path
from ledgerd.state import StateReader
from ledgerd.state.files import disk
from tests.state.items import TABLES

disk.RESERVED_ADDRESSES = 0
with StateReader.open(Path(sys.argv[1]), TABLES) as other:
    for line in sys.stdin:
        with other.snapshot() as view:
            print(len(view.meta("growth") or b""), flush=True)
"""
    with Store.open(tmp_path, TABLES, space=SMALL) as store:
        command = [sys.executable, "-c", script, str(tmp_path)]
        with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as other:  # noqa: S603 - our own code
            assert other.stdin is not None
            assert other.stdout is not None
            for size in (10, 2 << 20, 5 << 20):
                store.set_meta("growth", b"x" * size)
                store.commit()
                other.stdin.write("look\n")
                other.stdin.flush()
                assert other.stdout.readline() == f"{size}\n"
            other.stdin.close()


def test_a_snapshot_keeps_the_state_of_its_commit(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from ledgerd.state import StateReader
from tests.state.blocks import content, expected
from tests.state.items import TABLES

with StateReader.open(Path(sys.argv[1]), TABLES) as other, other.snapshot() as view:
    print(view.revision, flush=True)
    sys.stdin.readline()
    assert content(view) == expected(view.revision)
    with other.snapshot() as newer:
        assert content(newer) == expected(newer.revision)
        print(view.revision, newer.revision, flush=True)
"""
    with Store.open(tmp_path, TABLES, space=SMALL) as store:
        make_block(store)
        store.commit()
        command = [sys.executable, "-c", script, str(tmp_path)]
        with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as other:  # noqa: S603 - our own code
            assert other.stdin is not None
            assert other.stdout is not None
            assert other.stdout.readline() == "1\n"
            for _ in range(20):
                make_block(store)
                store.commit()
            other.stdin.write("go on\n")
            other.stdin.flush()
            assert other.stdout.readline() == "1 21\n"
        assert content(store) == expected(21)


def test_without_a_state_there_is_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="there is no state in"):
        StateReader.open(tmp_path, TABLES)


READ_FOR_EVER = """
import signal
import sys
from pathlib import Path
from ledgerd.state import StateReader
from tests.state.items import TABLES

with StateReader.open(Path(sys.argv[1]), TABLES) as reader, reader.snapshot():
    print("reads", flush=True)
    signal.pause()
"""


def test_the_place_of_a_reader_that_was_killed_is_freed(tmp_path: Path) -> None:
    with Store.open(tmp_path, TABLES, space=SMALL) as store:
        make_block(store)
        store.commit()
    command = [sys.executable, "-c", READ_FOR_EVER, str(tmp_path)]
    with (
        StateReader.open(tmp_path, TABLES) as reader,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process,  # noqa: S603 - our own code
    ):
        assert process.stdout is not None
        assert process.stdout.readline() == "reads\n"
        assert reader.free_dead_readers() == 0
        process.kill()
        process.wait(60)
        assert reader.free_dead_readers() == 1
