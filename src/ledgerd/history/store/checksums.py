"""Rows that end with a checksum of themselves and their key, and tables of them: a row that has rotted or was moved is
damage, never an answer.
"""

from __future__ import annotations

import struct
from typing import ClassVar
from zlib import crc32

from ledgerd.history.errors import HistoryDamaged
from ledgerd.state.files.disk import Database, LmdbTransaction

BLOCK_KEY = struct.Struct(">I")
SUM = struct.Struct("<I")
INTACT = 0x2144DF1C
"""The checksum of whatever ends with its own."""


def with_sum(key: bytes, value: bytes) -> bytes:
    return value + SUM.pack(crc32(value, crc32(key)))


class CheckedTable:
    """A table of what happened in blocks, in a transaction that may write it; the header says from which block on."""

    NAME: ClassVar[str]
    FROM: ClassVar[bytes]

    def __init__(self, transaction: LmdbTransaction, header: Database, table: Database) -> None:
        self._transaction = transaction
        self._header = header
        self._table = table

    def _header_value(self) -> bytes | None:
        raw = self._transaction.get(self.FROM, db=self._header)
        return None if raw is None else self._without_sum(self.FROM, raw)

    def _begin_at(self, block: int, layout: bytes = b"") -> None:
        value = with_sum(self.FROM, BLOCK_KEY.pack(block) + layout)
        self._transaction.put(self.FROM, value, db=self._header)

    def _without_sum(self, key: bytes, raw: bytes) -> bytes:
        if len(raw) < SUM.size or crc32(raw, crc32(key)) != INTACT:
            raise HistoryDamaged(f"what is recorded of {self.NAME} under {key.hex()} has another checksum")
        return raw[: -SUM.size]
