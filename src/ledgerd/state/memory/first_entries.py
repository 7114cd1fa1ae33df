"""What an index remembers of the ranges that are asked for again and again: their first entries, as they were found."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple, Self

from ledgerd.state.files.ranges import KeyValue, Range
from ledgerd.state.tables.keys import INT64
from ledgerd.state.tables.tables import Key

BOUNDED_CHUNK = 8
"""Entries that a scan with an end reads first: where there are fewer, as mostly, it knows at once that it is over."""


class First(NamedTuple):
    """The first entry of a range, the object under it, and that one's key in this index, where it is of use."""

    entry: bytes
    object_id: int
    key: Key | None


NOT_LOOKED_FOR = First(b"", -1, None)
"""Stands where no first entry is remembered."""


class FirstEntries(NamedTuple):
    """The first entries of a range: all of them, where there are fewer than `size`."""

    limits: Range
    entries: list[KeyValue]
    size: int
    version: int
    """Of the index's entries."""

    @classmethod
    def read(cls, first: First, limits: Range, entries: Iterator[KeyValue], version: int) -> Self:
        """Of a range without an end only the first one, which is known: who scans it often wants no more."""
        if limits.high is None:
            return cls(limits, [(first.entry, INT64.encode(first.object_id))], 1, version)
        return cls(limits, list(islice(entries, BOUNDED_CHUNK)), BOUNDED_CHUNK, version)
