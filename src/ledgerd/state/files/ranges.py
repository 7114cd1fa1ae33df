"""Reading the entries of a sub-database from one key to another, in either direction."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from ledgerd.state.files.disk import Cursor, Database, LmdbTransaction

KeyValue = tuple[bytes, bytes]

FIRST_RUN, LONGEST_RUN = 16, 1_024
"""Entries that are read together: few at first, as most who read a range want few."""


class Range(NamedTuple):
    """The entries from `low` on and before `high`; the last one comes first if it is reversed."""

    low: bytes = b""
    high: bytes | None = None
    is_reverse: bool = False


def first_entry(
    transaction: LmdbTransaction, database: Database, span: Range, position: bytes | None = None
) -> KeyValue | None:
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


def neighbours(transaction: LmdbTransaction, database: Database, here: bytes) -> tuple[bytes | None, bytes | None]:
    """The entries before and after a position; an entry at the position itself is passed over."""
    cursor = transaction.cursor(database)
    following: bytes | None = None
    if cursor.set_range(here):
        following = cursor.key()
        if following == here:
            following = cursor.key() if cursor.next() else None
        cursor.set_range(here)
        previous = cursor.key() if cursor.prev() else None
    else:
        previous = cursor.key() if cursor.last() else None
    return previous, following


def entries(
    transaction: LmdbTransaction, database: Database, span: Range, position: bytes | None = None
) -> Iterator[KeyValue]:
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


def runs(
    transaction: LmdbTransaction, database: Database, span: Range, *, of_keys: bool = False
) -> Iterator[list[bytes]]:
    """The values of a range, or its keys, many at a time: a long walk does next to nothing for each by itself.

    It reads ahead, so that the range must not change meanwhile. No two values may be equal.
    """
    cursor = _seek(transaction, database, span)
    if cursor is None:
        return
    walk = cursor.iterprev if span.is_reverse else cursor.iternext
    found: Iterator[bytes] = walk(values=False) if of_keys else walk(keys=False)
    size = FIRST_RUN
    while len(run := list(islice(found, size))) == size and not _is_beyond(cursor.key(), span):
        yield run
        size = min(size * 4, LONGEST_RUN)
    if _to_last(cursor, span):
        last = cursor.key() if of_keys else cursor.value()
        if last in run:
            yield run[: run.index(last) + 1]


def _is_beyond(key: bytes, span: Range) -> bool:
    if span.is_reverse:
        return key < span.low
    return span.high is not None and key >= span.high


def _to_last(cursor: Cursor, span: Range) -> bool:
    """Put a cursor on the last entry of a walk; false where the sub-database ends before it."""
    if span.is_reverse:
        return cursor.set_range(span.low)
    if span.high is None or not cursor.set_range(span.high):
        return cursor.last()
    return cursor.prev()
