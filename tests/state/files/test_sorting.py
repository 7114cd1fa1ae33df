"""Sorting more than fits into memory: whatever the sizes of runs and blocks, all items come out in order."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.state.errors import StoreFull
from ledgerd.state.files import sorting
from ledgerd.state.files.sorting import RunFile, Sorter, merged


@given(
    parts=st.lists(st.lists(st.binary(max_size=3), max_size=12), max_size=6),
    rest=st.lists(st.binary(max_size=3), max_size=5),
    items_a_block=st.integers(1, 5),
)
def test_what_went_through_runs_comes_out_sorted(
    parts: list[list[bytes]], rest: list[bytes], items_a_block: int
) -> None:
    with TemporaryDirectory() as folder:
        file = RunFile(Path(folder), items_a_block)
        one, other = Sorter(file), Sorter(file)
        for part in parts:
            one.items += part
            other.items += reversed(part)
            one.spill()
            other.spill()
        one.items += rest

        found = list(one.sorted())

        assert [item for items in found for item in items] == sorted([*chain(*parts), *rest])
        assert all(found)
        assert [item for items in other.sorted() for item in items] == sorted(chain(*parts))
        file.close()


def test_a_merge_reads_a_block_of_each_run_at_a_time() -> None:
    read: list[int] = []

    def run(number: int) -> Iterator[list[bytes]]:
        for start in range(0, 100, 10):
            read.append(number)
            yield [bytes((start + place, number)) for place in range(10)]

    lists = merged([run(1), run(2), run(3)])
    next(lists)

    assert len(read) <= 6
    assert len([item for items in lists for item in items]) > 200


def test_a_run_leaves_memory_and_has_no_name(tmp_path: Path) -> None:
    file = RunFile(tmp_path, 2)
    sorter = Sorter(file)
    sorter.items += [b"b", b"c", b"a"]

    sorter.spill()

    assert sorter.items == []
    assert list(tmp_path.iterdir()) == []
    assert list(sorter.sorted()) == [[b"a", b"b"], [b"c"]]
    file.close()


def test_without_a_run_there_is_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sorting, "TemporaryFile", None)
    sorter = Sorter(RunFile(tmp_path, 2))
    sorter.items += [b"b", b"c", b"a"]

    assert list(sorter.sorted()) == [[b"a", b"b", b"c"]]


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sorting, "TemporaryFile", full)
    sorter = Sorter(RunFile(tmp_path, 2))
    sorter.items.append(b"a")

    with pytest.raises(StoreFull, match="no room left"):
        sorter.spill()
