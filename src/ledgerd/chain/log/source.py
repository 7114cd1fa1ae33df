"""A foreign block log, whole or rolling, read in place and never changed; its index is used where there is one."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

from ledgerd.basics.closing import Closing
from ledgerd.chain.log.files import LARGEST_ENTRY, OFFSET
from ledgerd.codec import codec_of
from ledgerd.codec.errors import DecodeError
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import OperatorError

MOST_TRIED = 10_000
"""Entries of an index that are tried from its end, where the log is torn; then the log is read from its first block."""

USUAL_ENTRY = 1 << 16
"""Bytes that are looked at first for a block: to copy as many as the largest has takes longer than to decode one."""

INDEXED_AT_ONCE = 1_024
"""Entries of an index that are read together."""

NUMBER_BYTES = 4
"""An id begins with the number of its block, and a block with the id of the one before it."""


class LogSource(Closing):
    """The blocks of a log file, from the first on.

    With `up_to_damage`, a log whose end is torn ends before that; without, it is refused.
    """

    def __init__(self, path: Path, *, up_to_damage: bool = False) -> None:
        self._path = path
        try:
            with path.open("rb") as file:
                size = file.seek(0, 2)
                self._data: mmap.mmap | bytes = (
                    mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size > OFFSET.size else b""
                )
        except OSError as problem:
            raise OperatorError(f"{path} cannot be read: {problem.strerror}") from problem
        self.first_number = 0
        self.head_number = 0
        self.torn = 0
        """Bytes at the end that are no whole block."""
        if self._data:
            self._measure(up_to_damage)

    def _measure(self, up_to_damage: bool) -> None:
        try:
            self.first_number = self._entry(0, "its first block")[0].number
            self.head_number = self._last_number()
        except OperatorError:
            if not up_to_damage:
                raise
            self._find_last_whole()

    def _last_number(self) -> int:
        (start,) = OFFSET.unpack(self._data[-OFFSET.size :])
        block, end = self._entry(start, "its last block")
        if end + OFFSET.size != len(self._data):
            raise OperatorError(f"{self._path}: its last block is torn: the file does not end behind it")
        return block.number

    def _find_last_whole(self) -> None:
        number, place = self.first_number, 0
        for known in range(most := self._count_indexed(), max(0, most - MOST_TRIED), -1):
            start = self._indexed(self.first_number + known - 1)
            if start is not None and self._number_at(start) == self.first_number + known - 1:
                number, place = self.first_number + known - 1, start
                break
        while self._number_at(place) == number:
            place = self._entry(place, "")[1] + OFFSET.size
            self.head_number, number = number, number + 1
        self.torn = len(self._data) - place

    def _number_at(self, start: int) -> int | None:
        try:
            return self._entry(start, "")[0].number
        except OperatorError:
            return None

    def scan(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        """The blocks from one number to another, each with its bytes. Where the index says where they end, they are not
        decoded here.
        """
        number, place = self.first_number, 0
        last = min(last, self.head_number)
        indexed = self._indexed(first) if number <= first <= last else None
        if indexed is not None:
            number, place = first, indexed
        following = self._indexed_from(number + 1)
        while 0 < number <= last:
            start = next(following, None)
            if start is None or not self._are_neighbours(number, place, start):
                start = self._end_of(number, place) + OFFSET.size
            if number >= first:
                yield number, self._data[place : start - OFFSET.size]
            place, number = start, number + 1

    def _are_neighbours(self, number: int, place: int, following: int) -> bool:
        """Whether a block and the one after it may stand at two places: each begins with the number before its own, and
        between them is the place of the first.
        """
        data = self._data
        numbers = [int.from_bytes(data[each : each + NUMBER_BYTES], "big") for each in (place, following)]
        is_placed = place < following and data[following - OFFSET.size : following] == OFFSET.pack(place)
        return is_placed and numbers == [number - 1, number]

    def _end_of(self, number: int, place: int) -> int:
        block, end = self._entry(place, f"block {number}")
        if block.number != number:
            raise OperatorError(f"{self._path}: block {block.number} stands where block {number} should")
        return end

    def _entry(self, start: int, what: str) -> tuple[Block, int]:
        """The block at a place, and where it ends; behind it the place is written once more."""
        entry = self._data[start : start + USUAL_ENTRY]
        try:
            block, size = codec_of(Block).decode_from(entry, 0)
        except DecodeError:
            entry = self._data[start : start + LARGEST_ENTRY]
            try:
                block, size = codec_of(Block).decode_from(entry, 0)
            except DecodeError as problem:
                raise OperatorError(f"{self._path}: {what} cannot be read ({problem})") from problem
        if self._data[start + size : start + size + OFFSET.size] != OFFSET.pack(start):
            raise OperatorError(f"{self._path}: {what} is torn: its place is not written behind it")
        return block, start + size

    def _count_indexed(self) -> int:
        try:
            size = self._index_path.stat().st_size
        except OSError:
            return 0
        return min(max(0, size - self._index_header), len(self._data)) // OFFSET.size

    def _indexed(self, number: int) -> int | None:
        raw = self._index_entry(self._index_header + OFFSET.size * (number - self.first_number))
        if len(raw) < OFFSET.size or OFFSET.unpack(raw)[0] >= len(self._data):
            return None
        return int(OFFSET.unpack(raw)[0])

    def _indexed_from(self, number: int) -> Iterator[int]:
        """Where the blocks from a number on begin, as far as the index says."""
        place = self._index_header + OFFSET.size * (number - self.first_number)
        while raw := self._index_entry(place, OFFSET.size * INDEXED_AT_ONCE):
            for (start,) in OFFSET.iter_unpack(raw[: len(raw) // OFFSET.size * OFFSET.size]):
                yield start
            place += len(raw)

    @property
    def _index_header(self) -> int:
        """Only the index of a rolling log begins with the number of the first block (spec 03, section 25)."""
        return OFFSET.size if self._index_entry(0) == OFFSET.pack(self.first_number) else 0

    def _index_entry(self, place: int, size: int = OFFSET.size) -> bytes:
        try:
            if not self._index_path.is_file():
                return b""  # to open a pipe would wait for who writes into it
            with self._index_path.open("rb") as index:
                index.seek(place)
                return index.read(size)
        except OSError:
            return b""

    @property
    def _index_path(self) -> Path:
        return self._path.with_name(self._path.name + ".index")

    def close(self) -> None:
        if isinstance(self._data, mmap.mmap):
            self._data.close()
        self._data = b""
