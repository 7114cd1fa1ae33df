"""Whose slots have no block, by the block that came next: no operation tells it, only who applies a block knows.

A row names the validators in the order of their slots; of a gap in which they repeat, a round of them and the number of
slots, as in `alice bob *1000`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from ledgerd.chain.events import BlockApplied, MissedSlotOwners
from ledgerd.history.checksums import with_sum, without_sum
from ledgerd.protocol.names import AccountName
from ledgerd.state.disk import Database, LmdbTransaction

_BLOCK = struct.Struct(">I")
_FROM_KEY = b"missed slots from"
_IN_ALL = "*"
"""Before the number of slots, where that is not the number of names; no name has it."""


class MissedBefore(NamedTuple):
    """The slots without a block before one block."""

    block: int
    time: int
    """Of the block."""
    validators: MissedSlotOwners
    """In the order of their slots."""


class MissedSlots:
    """The table, in a transaction that may write it."""

    def __init__(self, transaction: LmdbTransaction, header: Database, table: Database) -> None:
        self._transaction = transaction
        self._header = header
        self._table = table

    def begin(self, first: int) -> None:
        self._transaction.put(_FROM_KEY, with_sum(_FROM_KEY, _BLOCK.pack(first)), db=self._header, overwrite=False)

    @property
    def first(self) -> int:
        raw = self._transaction.get(_FROM_KEY, db=self._header)
        if raw is None:
            return 0
        number: int = _BLOCK.unpack(_without_sum(_FROM_KEY, raw))[0]
        return number

    def record(self, event: BlockApplied) -> None:
        if event.missed:
            key, value = _BLOCK.pack(event.block.number), _BLOCK.pack(event.block.timestamp)
            self._transaction.put(key, with_sum(key, value + _text_of(event.missed).encode()), db=self._table)

    def truncate(self, number: int) -> None:
        cursor = self._transaction.cursor(self._table)
        while cursor.last() and cursor.key() > _BLOCK.pack(number):
            cursor.delete()
        if number < self.first:
            self._begin_at(number + 1)

    def purge(self, last: int) -> None:
        cursor = self._transaction.cursor(self._table)
        found = cursor.first()
        while found and cursor.key() <= _BLOCK.pack(last):
            found = cursor.delete()
        if self.first <= last:
            self._begin_at(last + 1)

    def _begin_at(self, number: int) -> None:
        self._transaction.put(_FROM_KEY, with_sum(_FROM_KEY, _BLOCK.pack(number)), db=self._header)

    def between(self, first: int, last: int) -> Iterator[MissedBefore]:
        cursor = self._transaction.cursor(self._table)
        found = cursor.set_range(_BLOCK.pack(first))
        while found and cursor.key() <= _BLOCK.pack(last):
            value = _without_sum(cursor.key(), cursor.value())
            owners = _owners_in(value[_BLOCK.size :].decode())
            yield MissedBefore(_BLOCK.unpack(cursor.key())[0], _BLOCK.unpack(value[: _BLOCK.size])[0], owners)
            found = cursor.next()


def _text_of(missed: MissedSlotOwners) -> str:
    names = " ".join(missed.cycle)
    return names if len(missed) == len(missed.cycle) else f"{names} {_IN_ALL}{len(missed)}"


def _owners_in(text: str) -> MissedSlotOwners:
    names, _, number = text.partition(f" {_IN_ALL}")
    return MissedSlotOwners([AccountName(name) for name in names.split(" ")], int(number) if number else None)


def _without_sum(key: bytes, raw: bytes) -> bytes:
    return without_sum(key, raw, "missed slots")
