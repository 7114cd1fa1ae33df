"""A foreign block log, read in place and never changed; its index is used where there is one."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from ledgerd.chain.log.files import LARGEST_ENTRY, OFFSET
from ledgerd.codec import codec_of
from ledgerd.codec.errors import DecodeError
from ledgerd.protocol.block import Block
from ledgerd.protocol.errors import OperatorError


class LogSource:
    """The blocks of a log file, from the first on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with path.open("rb") as file:
                size = file.seek(0, 2)
                self._data: mmap.mmap | bytes = (
                    mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size > OFFSET.size else b""
                )
        except OSError as problem:
            raise OperatorError(f"{path} cannot be read: {problem.strerror}") from problem
        self.head_number = self._last_number() if self._data else 0

    def _last_number(self) -> int:
        (start,) = OFFSET.unpack(self._data[-OFFSET.size :])
        block, _ = self._entry(start, "its last block")
        return block.number

    def scan(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        """The blocks of a range, in order, each with its number."""
        number, place = 1, 0
        indexed = self._indexed(first)
        if indexed is not None:
            number, place = first, indexed
        while number <= min(last, self.head_number):
            block, end = self._entry(place, f"block {number}")
            if block.number != number:
                raise OperatorError(f"{self._path}: block {block.number} stands where block {number} should")
            if number >= first:
                yield number, self._data[place:end]
            place, number = end + OFFSET.size, number + 1

    def _entry(self, start: int, what: str) -> tuple[Block, int]:
        """The block at a place, and where it ends; behind it the place is written once more."""
        entry = self._data[start : start + LARGEST_ENTRY]
        try:
            block, size = codec_of(Block).decode_from(entry, 0)
        except DecodeError as problem:
            raise OperatorError(f"{self._path}: {what} cannot be read ({problem})") from problem
        if entry[size : size + OFFSET.size] != OFFSET.pack(start):
            raise OperatorError(f"{self._path}: {what} is torn: its place is not written behind it")
        return block, start + size

    def _indexed(self, number: int) -> int | None:
        """Where a block begins, by the index beside the file; nothing where that is missing or too short."""
        try:
            with self._path.with_name(self._path.name + ".index").open("rb") as index:
                index.seek(OFFSET.size * (number - 1))
                raw = index.read(OFFSET.size)
        except OSError:
            return None
        if len(raw) < OFFSET.size or OFFSET.unpack(raw)[0] >= len(self._data):
            return None
        return int(OFFSET.unpack(raw)[0])

    def close(self) -> None:
        """Let the file go."""
        if isinstance(self._data, mmap.mmap):
            self._data.close()
        self._data = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
