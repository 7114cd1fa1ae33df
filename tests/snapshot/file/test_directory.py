"""The directory of the snapshots: which file is the newest, which ones go, and what is never touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ledgerd.basics.durable import put_in_place
from ledgerd.basics.durations import DAY
from ledgerd.snapshot.file.directory import (
    DOWNLOAD,
    drop_old,
    make_directory,
    name_of,
    newest_in,
    number_in,
)


def put(folder: Path, name: str, age: float = 0.0) -> Path:
    path = folder / name
    path.write_bytes(b"x")
    os.utime(path, (10_000_000 - age, 10_000_000 - age))
    return path


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("snapshot-block-120.vizjson", 120),
        ("snapshot-block-120.json", 120),
        ("old-snapshot-block-7-of-mine.vizjson", 7),
        ("snapshot-block-120.vizjson.used", 0),
        ("snapshot-block-120.vizjson.part", 0),
        ("snapshot-block-.vizjson", 0),
        ("snapshot-block-0.vizjson", 0),
        ("snapshot-block-4294967296.vizjson", 0),
        ("snapshot-block-99999999999999999999.vizjson", 0),
        ("snapshot.vizjson", 0),
    ],
)
def test_the_number_stands_in_the_name(name: str, number: int) -> None:
    assert number_in(name) == number


def test_the_newest_is_the_one_of_the_highest_block(tmp_path: Path) -> None:
    for name in (name_of(9), name_of(10), "snapshot-block-2.json", "notes.txt"):
        put(tmp_path, name)
    (tmp_path / name_of(11)).mkdir()

    assert newest_in(tmp_path) == (10, tmp_path / name_of(10))
    assert newest_in(tmp_path, below=10) == (9, tmp_path / name_of(9))
    assert newest_in(tmp_path, below=2) is None


def test_there_is_none_where_there_is_no_directory(tmp_path: Path) -> None:
    assert newest_in(tmp_path / "none") is None


def test_old_snapshots_go_and_the_newest_and_strange_files_stay(tmp_path: Path) -> None:
    old, young = put(tmp_path, name_of(1), 3 * DAY), put(tmp_path, name_of(2), DAY)
    strange = put(tmp_path, "block_log", 30 * DAY)
    newest = put(tmp_path, name_of(3), 3 * DAY)

    assert drop_old(tmp_path, 10_000_000, 0) == []
    assert drop_old(tmp_path, 10_000_000, 2) == [old]
    assert sorted(tmp_path.iterdir()) == sorted([young, newest, strange])


def test_what_was_left_unfinished_goes_when_the_directory_is_made(tmp_path: Path) -> None:
    kept = put(tmp_path, name_of(5))
    for name in (DOWNLOAD, name_of(6) + ".part"):
        put(tmp_path, name)

    make_directory(tmp_path)
    make_directory(tmp_path / "new")

    assert sorted(tmp_path.iterdir()) == sorted([kept, tmp_path / "new"])


def test_a_complete_file_gets_its_name(tmp_path: Path) -> None:
    partial = put(tmp_path, "x.part")

    put_in_place(partial, tmp_path / name_of(4))

    assert list(tmp_path.iterdir()) == [tmp_path / name_of(4)]
