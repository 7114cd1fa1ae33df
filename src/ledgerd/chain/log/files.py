"""The two files of a block log, their layout (spec 03, sections 24 and 25), and the checksums beside them.

The sums make checking cheap, and decide nothing. A block whose sum is right is as it was when the sum was recorded.
One without a sum, or with another, is checked by what the blocks themselves say: so the file may be missing, old or
damaged, and a log of the reference needs none. What is done about torn files is in `repair`.
"""

from __future__ import annotations

import logging
import os
import struct
import sys
import weakref
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ledgerd.codec import codec_of
from ledgerd.codec.errors import CodecError
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.constants import BLOCK_SIZE
from ledgerd.protocol.errors import OperatorError

STATE_FOLDER = "state"
"""The state and the logs, in a data directory."""

BINARY: int = getattr(os, "O_BINARY", 0)
"""A flag that systems need which else change the ends of lines."""

if sys.platform == "win32":

    def read_at(file: int, length: int, place: int) -> bytes:
        os.lseek(file, place, os.SEEK_SET)
        return os.read(file, length)

    def _write_some(file: int, data: bytes | memoryview, place: int) -> int:
        os.lseek(file, place, os.SEEK_SET)
        return os.write(file, data)

else:
    read_at = os.pread
    _write_some = os.pwrite


def write_at(file: int, data: bytes, place: int) -> None:
    """Write all of the bytes at a place; a disk takes some of them first when it is about to be full."""
    written = _write_some(file, data, place)
    while written < len(data):
        written += _write_some(file, memoryview(data)[written:], place + written)


_FIRST = struct.Struct("<Q")
"""The file begins with the number of the first block."""
_SUM = struct.Struct("<I")


def sum_of(packed: bytes) -> int:
    """The checksum of a block; never zero, which stands for none."""
    return zlib.crc32(packed) or 1


class Sums:
    """The sums of a log."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        self._is_writable = writable
        self._file = -1
        with suppress(FileNotFoundError):
            self._file = os.open(path, (os.O_RDWR | os.O_CREAT if writable else os.O_RDONLY) | BINARY, 0o644)
            self._close = weakref.finalize(self, os.close, self._file)

    def read(self, first: int, number: int, count: int) -> list[int]:
        raw = b""
        if self._file >= 0 and self._first() == first:
            raw = read_at(self._file, _SUM.size * count, _FIRST.size + _SUM.size * (number - first))
        return list(struct.unpack(f"<{count}I", raw.ljust(_SUM.size * count, b"\0")))

    def record(self, first: int, number: int, blocks: Iterable[bytes]) -> None:
        """Those of blocks that follow each other, from a number on."""
        if not self._is_writable:
            return
        if self._first() != first:
            os.ftruncate(self._file, 0)
            write_at(self._file, _FIRST.pack(first), 0)
        write_at(self._file, b"".join(map(_SUM.pack, map(sum_of, blocks))), _FIRST.size + _SUM.size * (number - first))

    def _first(self) -> int:
        raw = read_at(self._file, _FIRST.size, 0)
        return _FIRST.unpack(raw)[0] if len(raw) == _FIRST.size else 0

    def close(self) -> None:
        if self._file >= 0:
            self._close()


def write_sums(path: Path, first: int, sums: Iterable[int]) -> None:
    path.write_bytes(_FIRST.pack(first) + b"".join(map(_SUM.pack, sums)))


OFFSET = struct.Struct("<Q")
LARGEST_ENTRY = BLOCK_SIZE + OFFSET.size
LARGEST_FILE = (1 << 63) - 1
NO_BLOCKS = b"\0"
"""What a file without blocks holds; any file of fewer than eight bytes counts as empty."""

log = logging.getLogger(__name__)

MOST_REPORTED = 100
"""So many different ones are logged; strangers can ask for every block of a damaged log."""


class LogKind(NamedTuple):
    """How one kind of log differs from the other."""

    name: str
    header: int
    """Bytes of the index before its first entry: none, or the number of the first block."""
    remedy: str
    """What the operator can do about a block that is damaged."""


class LogDamaged(OperatorError):
    """A block of the log cannot be read, and it is not an unfinished append at the end."""

    def __init__(self, folder: Path, kind: LogKind, number: int, what: str) -> None:
        super().__init__(f"block {number} of {folder / kind.name} cannot be read ({what}): {kind.remedy}")
        self.number = number


class DamageReports:
    """What was reported already."""

    def __init__(self) -> None:
        self._reported: set[str] = set()

    def report(self, problem: OperatorError) -> None:
        """Log a problem, with what the operator can do about it, unless it was logged before."""
        text = str(problem)
        if text not in self._reported and len(self._reported) < MOST_REPORTED:
            self._reported.add(text)
            log.error("%s", text)


class LogFiles:
    """Both files of a log, held open."""

    def __init__(self, folder: Path, kind: LogKind, *, writable: bool) -> None:
        self.folder = folder
        self.kind = kind
        self.data_path, self.index_path = paths_of(folder, kind)
        mode = (os.O_RDWR | os.O_CREAT if writable else os.O_RDONLY) | BINARY
        self.data = os.open(self.data_path, mode, 0o644)
        self._close_data = weakref.finalize(self, os.close, self.data)
        self.index = os.open(self.index_path, mode, 0o644)
        self._close_index = weakref.finalize(self, os.close, self.index)
        self.sums = Sums(sums_path(folder, kind), writable=writable)
        self.first = 1
        """The number of the first block; in an empty log, one."""
        self.read_first()

    def read_first(self) -> None:
        if self.kind.header:
            header = read_at(self.index, OFFSET.size, 0)
            self.first = OFFSET.unpack(header)[0] if len(header) == OFFSET.size else 1

    @property
    def data_size(self) -> int:
        return os.fstat(self.data).st_size

    @property
    def index_size(self) -> int:
        return os.fstat(self.index).st_size

    @property
    def indexed_head(self) -> int:
        """The last block in the index, a half-written entry left out; 0 if there is none."""
        entries = (self.index_size - self.kind.header) // OFFSET.size
        return self.first + entries - 1 if entries > 0 else 0

    def place_of(self, number: int) -> int:
        return self.kind.header + OFFSET.size * (number - self.first)

    def start_of(self, number: int) -> int | None:
        if number < self.first:
            return None
        entry = read_at(self.index, OFFSET.size, self.place_of(number))
        return int(OFFSET.unpack(entry)[0]) if len(entry) == OFFSET.size else None

    def number_at(self, start: int) -> int:
        """The number that a block at an offset would have: one more than its `previous` says."""
        return (int.from_bytes(read_at(self.data, 4, start), "big") + 1) & 0xFFFFFFFF

    def end_of_entry(self, number: int, start: int, limit: int) -> int | None:
        """Where the entry of a block ends, if the block is whole, and its own, and the entry ends within the limit."""
        if start + OFFSET.size >= limit or self.number_at(start) != number:
            return None
        return end_in(read_at(self.data, min(limit - start, LARGEST_ENTRY), start), 0, start)

    def put_index(self, number: int, entries: bytes) -> None:
        place = self.place_of(number)
        if self.kind.header:
            write_at(self.index, OFFSET.pack(self.first), 0)
        write_at(self.index, entries, place)
        os.ftruncate(self.index, place + len(entries))

    def clear(self) -> None:
        for file in (self.index, self.data):
            os.ftruncate(file, len(NO_BLOCKS))
            write_at(file, NO_BLOCKS, 0)
        self.first = 1

    def sync(self) -> None:
        os.fsync(self.data)
        os.fsync(self.index)

    @property
    def replaced(self) -> bool:
        return os.fstat(self.data).st_nlink == 0 or os.fstat(self.index).st_nlink == 0

    def close(self) -> None:
        self._close_data()
        self._close_index()
        self.sums.close()


def paths_of(folder: Path, kind: LogKind, suffix: str = "") -> tuple[Path, Path]:
    """The data file and the index of a log, or of its copy while the log is rewritten."""
    return folder / f"{kind.name}{suffix}", folder / f"{kind.name}.index{suffix}"


def sums_path(folder: Path, kind: LogKind) -> Path:
    return folder / f"{kind.name}.sums"


def end_in(window: bytes, at: int, start: int) -> int | None:
    """None if it is not whole. Zeros, left by a failure of power, would make a first block, but without a validator."""
    try:
        block, end = codec_of(Block).decode_from(window, at)
    except CodecError:
        return None
    if not block.validator or end - at > BLOCK_SIZE or window[end : end + OFFSET.size] != OFFSET.pack(start):
        return None
    return start + end - at + OFFSET.size
