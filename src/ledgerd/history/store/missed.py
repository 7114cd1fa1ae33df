"""Whose slots have no block, by the block that came next. A row names the validators in the order of their slots; where
they repeat, a round of them and the number of slots, as in `alice bob *1000`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ledgerd.chain.ledger.events import BlockApplied, MissedSlotOwners
from ledgerd.history.store.checksums import BLOCK_KEY, CheckedTable, with_sum
from ledgerd.protocol.types.names import AccountName

_IN_ALL = "*"
"""Stands before the number of slots, if that is not the number of names; no name has it."""


class MissedBefore(NamedTuple):
    """The slots without a block before one block."""

    block: int
    time: int
    validators: MissedSlotOwners


class MissedSlots(CheckedTable):
    """The missed slots."""

    NAME = "missed slots"
    FROM = b"missed slots from"

    def begin(self, first: int) -> None:
        if self._transaction.get(self.FROM, db=self._header) is None:
            self._begin_at(first)

    @property
    def first(self) -> int:
        value = self._header_value()
        return 0 if value is None else int(BLOCK_KEY.unpack(value)[0])

    def record(self, event: BlockApplied) -> None:
        if event.missed:
            key, value = BLOCK_KEY.pack(event.block.number), BLOCK_KEY.pack(event.block.timestamp)
            self._transaction.put(key, with_sum(key, value + _text_of(event.missed).encode()), db=self._table)

    def truncate(self, number: int) -> None:
        cursor = self._transaction.cursor(self._table)
        while cursor.last() and cursor.key() > BLOCK_KEY.pack(number):
            cursor.delete()
        if number < self.first:
            self._begin_at(number + 1)

    def purge(self, last: int) -> None:
        cursor = self._transaction.cursor(self._table)
        found = cursor.first()
        while found and cursor.key() <= BLOCK_KEY.pack(last):
            found = cursor.delete()
        if self.first <= last:
            self._begin_at(last + 1)

    def between(self, first: int, last: int) -> Iterator[MissedBefore]:
        cursor = self._transaction.cursor(self._table)
        found = cursor.set_range(BLOCK_KEY.pack(first))
        while found and cursor.key() <= BLOCK_KEY.pack(last):
            value = self._without_sum(cursor.key(), cursor.value())
            owners = _owners_in(value[BLOCK_KEY.size :].decode())
            yield MissedBefore(BLOCK_KEY.unpack(cursor.key())[0], BLOCK_KEY.unpack(value[: BLOCK_KEY.size])[0], owners)
            found = cursor.next()


def _text_of(missed: MissedSlotOwners) -> str:
    names = " ".join(missed.cycle)
    return names if len(missed) == len(missed.cycle) else f"{names} {_IN_ALL}{len(missed)}"


def _owners_in(text: str) -> MissedSlotOwners:
    names, _, number = text.partition(f" {_IN_ALL}")
    return MissedSlotOwners([AccountName(name) for name in names.split(" ")], int(number) if number else None)
