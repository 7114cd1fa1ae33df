"""Sorting more than fits into memory: sorted runs go to a temporary file, and come back merged, a block at a time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NamedTuple

import msgspec

from ledgerd.state.files.disk import failure

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[bytes]).decode


class RunBlock(NamedTuple):
    """Where a part of a run is in the file."""

    start: int
    size: int


class SortedRun(NamedTuple):
    """Sorted items in a file."""

    file: IO[bytes]
    folder: Path
    blocks: list[RunBlock]

    def read(self) -> Iterator[list[bytes]]:
        """The items, a block at a time; nothing may be written to the file any more."""
        for start, size in self.blocks:
            try:
                self.file.seek(start)
                raw = self.file.read(size)
            except OSError as error:
                raise failure(self.folder, error) from error
            yield _decode(raw)


class RunFile:
    """A file without a name, in a folder, for the runs of many sorters; it is made for the first run."""

    def __init__(self, folder: Path, items_a_block: int) -> None:
        self._folder = folder
        self._items_a_block = items_a_block
        self._file: IO[bytes] | None = None
        self._end = 0

    def write(self, items: list[bytes]) -> SortedRun:
        """Keep a sorted run. `StoreFull` when the disk is full."""
        try:
            if self._file is None:
                self._file = TemporaryFile(dir=self._folder)  # noqa: SIM115 - until `close`
            run = SortedRun(self._file, self._folder, [])
            for start in range(0, len(items), self._items_a_block):
                raw = _encode(items[start : start + self._items_a_block])
                self._file.write(raw)
                run.blocks.append(RunBlock(self._end, len(raw)))
                self._end += len(raw)
        except OSError as error:
            raise failure(self._folder, error) from error
        return run

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class Sorter:
    """Takes items in any order, and gives them sorted."""

    def __init__(self, file: RunFile, items: list[bytes] | None = None) -> None:
        self.items: list[bytes] = [] if items is None else items
        """What no run has yet: whoever adds items calls `spill` from time to time."""
        self._file = file
        self._runs: list[SortedRun] = []

    def spill(self) -> None:
        if self.items:
            self.items.sort()
            self._runs.append(self._file.write(self.items))
            self.items.clear()

    def sorted(self) -> Iterator[list[bytes]]:
        self.items.sort()
        rest = iter([self.items] if self.items else [])
        return merged([*(run.read() for run in self._runs), rest])


def merged(runs: Iterable[Iterator[list[bytes]]]) -> Iterator[list[bytes]]:
    """The items of sorted runs, each of which is lists that are not empty, in sorted lists that follow each other.

    Of the lists that were read, what is not greater than the least of their last items comes before all that was not
    read. It is sorted as a whole, which finds the sorted parts in it, and is many times faster than item by item.
    """
    heads = [_Head(run) for run in runs]
    while heads := [head for head in heads if head.block]:
        bound = min(head.block[-1] for head in heads)
        found: list[bytes] = []
        for head in heads:
            head.take(bound, found)
        found.sort()
        yield found


class _Head:
    """The first block of a run, and how much of it was taken."""

    __slots__ = ("_place", "_run", "block")

    def __init__(self, run: Iterator[list[bytes]]) -> None:
        self._run = run
        self._place = 0
        self.block = next(run, [])
        """Empty at the end of the run."""

    def take(self, bound: bytes, into: list[bytes]) -> None:
        """Move the items up to a bound, which is not beyond the block."""
        place = bisect_right(self.block, bound, self._place)
        into += self.block[self._place : place]
        if place < len(self.block):
            self._place = place
        else:
            self._place, self.block = 0, next(self._run, [])
