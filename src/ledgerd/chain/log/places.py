"""Reading and writing at a place of a file, without moving anything: the files of a log have readers in many hands."""

from __future__ import annotations

import os
import sys

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
