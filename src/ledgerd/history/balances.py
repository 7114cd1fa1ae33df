"""What accounts have after each change, and the penalties of validators, by block, from a block on; and what there was
then, where the changes begin from.

Kept only where it is wanted: the chain tells it with its events, and consumers beside the node read it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from ledgerd.chain.events import NOTHING, Amounts, AppliedOperation, BlockApplied, PenaltyChange
from ledgerd.history.checksums import with_sum, without_sum
from ledgerd.state.disk import Database, LmdbTransaction

_BLOCK = struct.Struct(">I")
_FROM_KEY = b"changes from"
_STANDING = b"standing"
"""The key of what there was then: longer than those of blocks."""

NO_OPERATION = -1


class KeptChange(NamedTuple):
    """What an account has before and after an operation, or a step of a block."""

    account: str
    place: int
    """Of the operation among the recorded ones of its block; `NO_OPERATION` where it is none, or not recorded."""
    step: str
    before: Amounts
    after: Amounts


class KeptChanges(NamedTuple):
    """What a block has changed, in the order of the changes."""

    balances: list[KeptChange]
    penalties: list[PenaltyChange]


NO_CHANGES = KeptChanges([], [])


class Balances:
    """The table, in a transaction that may write it."""

    def __init__(self, transaction: LmdbTransaction, header: Database, table: Database) -> None:
        self._transaction = transaction
        self._header = header
        self._table = table

    @property
    def standing_at(self) -> int | None:
        """The block after which all of it was written down: changes are recorded of those behind it."""
        raw = self._transaction.get(_FROM_KEY, db=self._header)
        return None if raw is None else int(_BLOCK.unpack(_without_sum(_FROM_KEY, raw))[0])

    def stand(
        self, block: int, balances: Iterable[tuple[str, Amounts]], penalties: Iterable[PenaltyChange] = ()
    ) -> None:
        """Begin behind a block, after which accounts and validators have this; what was there before goes."""
        self._transaction.drop(self._table, delete=False)
        standing = [KeptChange(name, NO_OPERATION, "standing", NOTHING, each) for name, each in balances]
        self._put(_STANDING, KeptChanges(standing, [*penalties]))
        self._transaction.put(_FROM_KEY, with_sum(_FROM_KEY, _BLOCK.pack(block)), db=self._header)

    def record(self, event: BlockApplied, kept: Sequence[AppliedOperation]) -> None:
        if event.balances is None:
            self._forget()
            return
        if self.standing_at is None:
            return
        if not event.balances and not event.penalties:
            return
        places = {id(operation): place for place, operation in enumerate(kept)}
        operations = event.operations
        # Plain tuples in the form of a `KeptChange`: a node spends this time on every block.
        changes = [
            (name, NO_OPERATION, cause, before, after)
            if isinstance(cause, str)
            else (name, places.get(id(operations[cause]), NO_OPERATION), "", before, after)
            for name, cause, before, after in event.balances
        ]
        self._put(_BLOCK.pack(event.block.number), (changes, event.penalties))

    def copy(self, number: int, changes: KeptChanges) -> None:
        if changes != NO_CHANGES and self.standing_at is not None:
            self._put(_BLOCK.pack(number), changes)

    def _put(self, key: bytes, changes: tuple[object, object]) -> None:
        self._transaction.put(key, with_sum(key, msgspec.msgpack.encode(changes)), db=self._table)

    def truncate(self, number: int) -> None:
        """Remove what is of blocks above this one; all of it, if what stood there is not known."""
        standing = self.standing_at
        if standing is None:
            return
        if number < standing:
            self._forget()
            return
        cursor = self._transaction.cursor(self._table)
        found = cursor.set_range(_BLOCK.pack(number + 1))
        while found and len(cursor.key()) == _BLOCK.size:
            found = cursor.delete()

    def _forget(self) -> None:
        """Drop all of it: what accounts have is not known any more, as behind a block of which nobody has told."""
        if self._transaction.delete(_FROM_KEY, db=self._header):
            self._transaction.drop(self._table, delete=False)

    def of_block(self, number: int) -> KeptChanges:
        return self._get(_BLOCK.pack(number))

    def standing(self) -> KeptChanges:
        return self._get(_STANDING)

    def require_sound(self) -> None:
        if self.standing_at is not None:
            for key, raw in self._transaction.cursor(self._table):
                _without_sum(key, raw)

    def _get(self, key: bytes) -> KeptChanges:
        raw = self._transaction.get(key, db=self._table)
        return NO_CHANGES if raw is None else msgspec.msgpack.decode(_without_sum(key, raw), type=KeptChanges)


def _without_sum(key: bytes, raw: bytes) -> bytes:
    return without_sum(key, raw, "balances")
