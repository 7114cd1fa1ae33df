"""How an object stands in the file: its places among equal keys, then its own bytes."""

from __future__ import annotations

import struct
from typing import Generic

from ledgerd.codec import CodecError
from ledgerd.state.errors import unreadable
from ledgerd.state.tables import E, Table
from ledgerd.state.undo import Ranks


class RecordForm(Generic[E]):
    """The form of a table's objects."""

    def __init__(self, table: Table[E]) -> None:
        self._table = table
        self._ranks = struct.Struct(f">{sum(not index.is_unique for index in table.indexes)}q")
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

    def ranks(self, raw: bytes) -> Ranks:
        return self._ranks.unpack_from(raw)
