"""The bytes of an object in the file: its ranks, then its own fields."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Generic, TypeVar

from ledgerd.codec import CodecError
from ledgerd.state.errors import unreadable
from ledgerd.state.tables.tables import E, Ranks, Table

T = TypeVar("T")

Row = tuple[int, int, bytes | None]
"""The number of a table, the id of an object, and its record; no record when the object was removed."""


class RecordForm(Generic[E]):
    """Encodes and decodes the objects of a table."""

    def __init__(self, table: Table[E]) -> None:
        self._table = table
        self._ranks = struct.Struct(f">{len(table.ordered_indexes)}q")
        self.start = self._ranks.size
        """Where the object's own bytes begin."""

    def encode(self, entity: E, ranks: Ranks) -> bytes:
        body = self._table.codec.encode(entity)
        return self._ranks.pack(*ranks) + body if ranks else body

    def decode(self, raw: bytes) -> E:
        try:
            return self._table.codec.decode(raw[self.start :] if self.start else raw)
        except CodecError as error:
            raise unreadable(f"an object of {self._table.title} cannot be read: {error}") from error

    def derived(self, derive: Callable[[bytes], T], raw: bytes) -> T:
        try:
            return derive(raw[self.start :] if self.start else raw)
        except CodecError as error:
            raise unreadable(f"an object of {self._table.title} cannot be read: {error}") from error

    def ranks(self, raw: bytes) -> Ranks:
        return self._ranks.unpack_from(raw)
