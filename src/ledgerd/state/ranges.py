"""Reading the entries of a sub-database from one key to another, in either direction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ledgerd.state.disk import Cursor, Database, LmdbTransaction

KeyValue = tuple[bytes, bytes]


class Range(NamedTuple):
    """The entries from `low` on and before `high`; the last one comes first if it is reversed."""

    low: bytes = b""
    high: bytes | None = None
    is_reverse: bool = False


def first_entry(
    transaction: LmdbTransaction, database: Database, span: Range, position: bytes | None = None
) -> KeyValue | None:
    """The first entry of a range, or the first behind a position in it."""
    cursor = _seek(transaction, database, span, position)
    if cursor is None:
        return None
    entry = cursor.item()
    if span.is_reverse:
        return entry if entry[0] >= span.low else None
    return entry if span.high is None or entry[0] < span.high else None


def _seek(
    transaction: LmdbTransaction, database: Database, span: Range, position: bytes | None = None
) -> Cursor | None:
    """A cursor at the start of a range, or behind a position in it; None when there are no entries from there on."""
    low, high, is_reverse = span
    cursor = transaction.cursor(database)
    if is_reverse:
        end = position or high
        is_found = cursor.prev() if end is not None and cursor.set_range(end) else cursor.last()
    else:
        is_found = cursor.set_range(position or low)
        if is_found and position is not None and cursor.key() == position:
            is_found = cursor.next()
    return cursor if is_found else None


def entries(
    transaction: LmdbTransaction, database: Database, span: Range, position: bytes | None = None
) -> Iterator[KeyValue]:
    """The keys and values of a range, or of what is behind a position in it."""
    cursor = _seek(transaction, database, span, position)
    if cursor is None:
        return
    if span.is_reverse:
        for entry in cursor.iterprev():
            if entry[0] < span.low:
                return
            yield entry
    else:
        high = span.high
        for entry in cursor.iternext():
            if high is not None and entry[0] >= high:
                return
            yield entry
