"""What accounts have after each change, and the penalties of validators, by block, from a block on; and what there was
then, where the changes begin.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from ledgerd.chain.ledger.events import AppliedOperation, BlockApplied
from ledgerd.history.store.checksums import BLOCK_KEY, CheckedTable, with_sum
from ledgerd.projections.accounts.balances import NOTHING, PENALTIES, Amounts, PenaltyChange, balance_changes

_STANDING = b"standing"
"""The key of what there was then: longer than those of blocks."""

NO_OPERATION = -1


class KeptChange(NamedTuple):
    """The holdings of an account before and after an operation, or a step of a block."""

    account: str
    place: int
    """The place of the operation among the recorded ones of its block; `NO_OPERATION` if something else has changed
    the balance, or the operation is not recorded.
    """
    step: str
    before: Amounts
    after: Amounts


class KeptChanges(NamedTuple):
    """The changes of a block, in their order."""

    balances: list[KeptChange]
    penalties: list[PenaltyChange]


NO_CHANGES = KeptChanges([], [])


class Balances(CheckedTable):
    """The changes of balances and penalties."""

    NAME = "balances"
    FROM = b"changes from"

    @property
    def begins(self) -> int | None:
        """The block after which all of it was written down: changes are recorded of those after it."""
        value = self._header_value()
        return None if value is None else int(BLOCK_KEY.unpack(value)[0])

    def begin(
        self, block: int, balances: Iterable[tuple[str, Amounts]], penalties: Iterable[PenaltyChange] = ()
    ) -> None:
        """Begin after a block, with what accounts and validators have after it; what was there before is removed."""
        self._transaction.drop(self._table, delete=False)
        standing = [KeptChange(name, NO_OPERATION, "standing", NOTHING, each) for name, each in balances]
        self._put(_STANDING, KeptChanges(standing, [*penalties]))
        self._begin_at(block)

    def record(self, event: BlockApplied, kept: Sequence[AppliedOperation]) -> None:
        if event.traced is None:
            self._forget()
            return
        if self.begins is None:
            return
        places = {id(operation): place for place, operation in enumerate(kept)}
        operations = event.operations
        # Plain tuples in the form of a `KeptChange`: a node spends this time on every block.
        changes = [
            (name, NO_OPERATION, cause, before, after)
            if isinstance(cause, str)
            else (name, places.get(id(operations[cause]), NO_OPERATION), "", before, after)
            for name, cause, before, after in balance_changes(event)
        ]
        penalties = event.found(PENALTIES) or ()
        if changes or penalties:
            self._put(BLOCK_KEY.pack(event.block.number), (changes, penalties))

    def copy(self, number: int, changes: KeptChanges) -> None:
        if changes != NO_CHANGES and self.begins is not None:
            self._put(BLOCK_KEY.pack(number), changes)

    def _put(self, key: bytes, changes: tuple[object, object]) -> None:
        self._transaction.put(key, with_sum(key, msgspec.msgpack.encode(changes)), db=self._table)

    def truncate(self, number: int) -> None:
        """Remove what is of blocks above this one; all of it, if balances there are not known."""
        begins = self.begins
        if begins is None:
            return
        if number < begins:
            self._forget()
            return
        cursor = self._transaction.cursor(self._table)
        found = cursor.set_range(BLOCK_KEY.pack(number + 1))
        while found and len(cursor.key()) == BLOCK_KEY.size:
            found = cursor.delete()

    def _forget(self) -> None:
        if self._transaction.delete(self.FROM, db=self._header):
            self._transaction.drop(self._table, delete=False)

    def of_block(self, number: int) -> KeptChanges:
        return self._get(BLOCK_KEY.pack(number))

    def at_beginning(self) -> KeptChanges:
        return self._get(_STANDING)

    def require_sound(self) -> None:
        if self.begins is not None:
            for key, raw in self._transaction.cursor(self._table):
                self._without_sum(key, raw)

    def _get(self, key: bytes) -> KeptChanges:
        raw = self._transaction.get(key, db=self._table)
        return NO_CHANGES if raw is None else msgspec.msgpack.decode(self._without_sum(key, raw), type=KeptChanges)
