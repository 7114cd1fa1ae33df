"""Rows of the history that end with a checksum of themselves and their key: one that has rotted, or stands in another
place, is damage and never an answer.
"""

from __future__ import annotations

import struct
from zlib import crc32

from ledgerd.history.errors import HistoryDamaged

SUM = struct.Struct("<I")
INTACT = 0x2144DF1C
"""The checksum of whatever ends with its own."""


def with_sum(key: bytes, value: bytes) -> bytes:
    return value + SUM.pack(crc32(value, crc32(key)))


def without_sum(key: bytes, raw: bytes, what: str) -> bytes:
    """The value of a row of what is named. `HistoryDamaged` where it has rotted."""
    if len(raw) < SUM.size or crc32(raw, crc32(key)) != INTACT:
        raise HistoryDamaged(f"what is recorded of {what} under {key.hex()} has another checksum")
    return raw[: -SUM.size]
