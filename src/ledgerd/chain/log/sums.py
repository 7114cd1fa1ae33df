"""Checksums of the blocks of a log, in a file of its own beside it. They make checking cheap, and decide nothing.

A block whose sum is right is as it was when the sum was noted. One without a sum, or with another, is checked by what
the blocks themselves say: so the file may be missing, old or damaged, and a log of the reference needs none.
"""

from __future__ import annotations

import os
import struct
import weakref
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ledgerd.chain.log.places import BINARY, read_at, write_at

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

    def note(self, first: int, number: int, packed: bytes) -> None:
        if not self._is_writable:
            return
        if self._first() != first:
            os.ftruncate(self._file, 0)
            write_at(self._file, _FIRST.pack(first), 0)
        write_at(self._file, _SUM.pack(sum_of(packed)), _FIRST.size + _SUM.size * (number - first))

    def _first(self) -> int:
        raw = read_at(self._file, _FIRST.size, 0)
        return _FIRST.unpack(raw)[0] if len(raw) == _FIRST.size else 0

    def close(self) -> None:
        if self._file >= 0:
            self._close()


def write_sums(path: Path, first: int, sums: Iterable[int]) -> None:
    path.write_bytes(_FIRST.pack(first) + b"".join(map(_SUM.pack, sums)))
