"""Traces the rows of a table through a block: a value of each is compared after each operation of a transaction and
each step, so that a change has a cause. Only while an observer wants it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ledgerd.chain.ledger.events import ChangeCause, TracedChange
from ledgerd.state.store import Store
from ledgerd.state.tables.tables import Table


class Trace(NamedTuple):
    """What of each row of a table is compared."""

    table: Table[Any]
    value_of: Callable[[Any], Any]


class Mark(NamedTuple):
    """How many changes there were, and the cause of those that followed."""

    length: int
    cause: ChangeCause


class Tracing:
    """Finds the changes of a block, while it is applied.

    A row is compared with what it was when it was first edited since the last comparison.
    """

    def __init__(self, store: Store, trace: Trace) -> None:
        self.cause: ChangeCause = ""
        """What is being done: the place of an operation, or the name of a step."""
        self.touched: dict[int, tuple[Any, Any]] = {}
        """The rows that were edited since the last comparison, with their values before."""
        self._store = store
        self._table, self._value_of = trace
        self._found: list[TracedChange] = []
        self._next_id = 0
        self.editing, self.remember = store.recording(self._table, self.touched, self._value_of)
        """Those of the store, while a block is applied."""

    def begin(self) -> None:
        self.touched.clear()
        self._found.clear()
        self._next_id = self._store.next_id(self._table)

    def settle(self) -> None:
        """Whatever has changed since the last time was changed by the cause."""
        if self._store.next_id(self._table) != self._next_id:
            self._find_new_rows()
        if not self.touched:
            return
        found, cause, value_of = self._found, self.cause, self._value_of
        for row, before in self.touched.values():
            after = value_of(row)
            if after != before:
                found.append(TracedChange(cause, before, after))
        self.touched.clear()

    def reported(self, place: int) -> None:
        """A virtual operation was reported: in a step, it says what the step has just done.

        Within an operation of a transaction it follows from that one, which stays the cause.
        """
        if isinstance(self.cause, str) and self.touched:
            step, self.cause = self.cause, place
            self.settle()
            self.cause = step

    def mark(self) -> Mark:
        """Where to go back to if what follows is undone."""
        self.settle()
        return Mark(len(self._found), self.cause)

    def cut(self, mark: Mark) -> None:
        """What followed a mark was undone in the state, and is forgotten here."""
        del self._found[mark.length :]
        self.cause = mark.cause
        self.touched.clear()
        self._next_id = self._store.next_id(self._table)

    def changes(self) -> tuple[TracedChange, ...]:
        """All that the block has changed, in order; last the rows that it has removed."""
        if self.touched:
            self.settle()
        for row in self._store.removed_since(self._table, self._store.revision - 1):
            self._found.append(TracedChange(self.cause, self._value_of(row), None))
        return tuple(self._found)

    def _find_new_rows(self) -> None:
        """A new row had no value before, whatever it had when it was edited first."""
        new = range(self._next_id, self._store.next_id(self._table))
        self._next_id = new.stop
        for row_id in new:
            row = self._store.find(self._table, row_id)
            if row is not None:
                self.touched[row_id] = row, None
