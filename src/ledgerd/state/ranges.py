"""Walking the entries of a sub-database from one key to another, either way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ledgerd.state.disk import Database, Transaction

Entry = tuple[bytes, bytes]


class Range(NamedTuple):
    """What is walked: from `low` on and before `high`; of that, only what comes after `position`."""

    low: bytes = b""
    high: bytes | None = None
    position: bytes | None = None
    is_reverse: bool = False


def entries(transaction: Transaction, database: Database, span: Range) -> Iterator[Entry]:
    """The keys and values of a range."""
    return (_backward if span.is_reverse else _forward)(transaction, database, span)


def _forward(transaction: Transaction, database: Database, span: Range) -> Iterator[Entry]:
    low, high, position, _ = span
    cursor = transaction.cursor(database)
    if not cursor.set_range(position or low):
        return
    if position is not None and cursor.key() == position and not cursor.next():
        return
    for entry in cursor.iternext():
        if high is not None and entry[0] >= high:
            return
        yield entry


def _backward(transaction: Transaction, database: Database, span: Range) -> Iterator[Entry]:
    low, high, position, _ = span
    end = position or high
    cursor = transaction.cursor(database)
    if not (cursor.prev() if end is not None and cursor.set_range(end) else cursor.last()):
        return
    for entry in cursor.iterprev():
        if entry[0] < low:
            return
        yield entry
