"""A naive model of the reference's object store: lists in the order of each index, and its undo by its own rules.

Written from spec 02, section 2, to compare the store with; nothing here is fast.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]
Attribute = str


@dataclass
class Record:
    """What a session of the reference remembers, and the whole model as it was, for the exact undo."""

    before: ModelTable
    next_id: int
    is_replayed: bool
    modified: dict[int, Row] = field(default_factory=dict)
    removed: dict[int, Row] = field(default_factory=dict)
    created: set[int] = field(default_factory=set)


class ModelTable:
    """Rows by id, and lists of ids in the order of each non-unique index."""

    def __init__(self, ordered: dict[Attribute, int], unique: Attribute) -> None:
        self.rows: dict[int, Row] = {}
        self.next_id = 0
        self.unique = unique
        self.signs = ordered
        self.orders: dict[Attribute, list[int]] = {attribute: [] for attribute in ordered}
        self.stack: list[Record] = []

    # -- positions

    def key(self, attribute: Attribute, row: Row) -> int:
        return self.signs[attribute] * int(row[attribute])

    def _insert(self, attribute: Attribute, row_id: int) -> None:
        order, key = self.orders[attribute], self.key(attribute, self.rows[row_id])
        place = sum(self.key(attribute, self.rows[other]) <= key for other in order)
        order.insert(place, row_id)

    def _reposition(self, attribute: Attribute, row_id: int) -> None:
        order, key = self.orders[attribute], self.key(attribute, self.rows[row_id])
        place = order.index(row_id)
        previous, following = order[:place][-1:], order[place + 1 : place + 2]
        if all(self.key(attribute, self.rows[other]) <= key for other in previous) and all(
            key <= self.key(attribute, self.rows[other]) for other in following
        ):
            return
        order.remove(row_id)
        self._insert(attribute, row_id)

    def is_taken(self, value: str, but: int | None = None) -> bool:
        """Texts are one key up to their first NUL (spec 02, section 2.2)."""
        key = value.partition("\0")[0]
        return any(row[self.unique].partition("\0")[0] == key for row_id, row in self.rows.items() if row_id != but)

    def _put(self, row_id: int, row: Row) -> None:
        self.rows[row_id] = row
        for attribute in self.orders:
            self._insert(attribute, row_id)

    def _take(self, row_id: int) -> Row:
        for order in self.orders.values():
            order.remove(row_id)
        return self.rows.pop(row_id)

    def _set(self, row_id: int, row: Row) -> None:
        self.rows[row_id] = row
        for attribute in self.orders:
            self._reposition(attribute, row_id)

    # -- changes

    def create(self, row: Row) -> None:
        self._put(self.next_id, dict(row))
        if self.stack:
            self.stack[-1].created.add(self.next_id)
        self.next_id += 1

    def edit(self, row_id: int, change: Row) -> None:
        if self.stack:
            top = self.stack[-1]
            if row_id not in top.created:
                top.modified.setdefault(row_id, dict(self.rows[row_id]))
        self._set(row_id, {**self.rows[row_id], **change})

    def remove(self, row_id: int) -> None:
        row = self._take(row_id)
        if self.stack:
            top = self.stack[-1]
            if row_id in top.created:
                top.created.discard(row_id)
            else:
                top.removed[row_id] = top.modified.pop(row_id, row)

    # -- sessions

    def begin(self, *, is_replayed: bool) -> None:
        before = copy.deepcopy(self)
        self.stack.append(Record(before, self.next_id, is_replayed))

    def undo(self) -> None:
        record = self.stack.pop()
        if not record.is_replayed:
            self.rows = copy.deepcopy(record.before.rows)
            self.orders = copy.deepcopy(record.before.orders)
            self.next_id = record.next_id
            return
        for row_id, row in sorted(record.modified.items()):
            self._set(row_id, dict(row))
        for row_id in record.created:
            self._take(row_id)
        self.next_id = record.next_id
        for row_id, row in sorted(record.removed.items()):
            self._put(row_id, dict(row))

    def squash(self) -> None:
        newer = self.stack.pop()
        if not self.stack:
            return
        older = self.stack[-1]
        for row_id, row in newer.modified.items():
            if row_id not in older.created:
                older.modified.setdefault(row_id, row)
        for row_id, row in newer.removed.items():
            if row_id in older.created:
                older.created.discard(row_id)
            else:
                older.removed[row_id] = older.modified.pop(row_id, row)
        older.created |= newer.created
