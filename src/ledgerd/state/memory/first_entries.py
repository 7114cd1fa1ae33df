"""What an index remembers of the ranges that are asked for again and again: their first entries, as they were found."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from typing import NamedTuple, Self

from ledgerd.state.files.ranges import KeyValue, Range
from ledgerd.state.tables.keys import INT64
from ledgerd.state.tables.tables import Key

BOUNDED_CHUNK = 8
"""Entries that a scan with an end reads first: where there are fewer, as mostly, it knows at once that it is over."""

REMEMBERED = 64
"""First entries, and as many ranges."""

FEW = 8
"""Changed entries for which it pays to ask each range whether it still holds."""


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

    @classmethod
    def read(cls, first: First, limits: Range, entries: Iterator[KeyValue]) -> Self:
        """Of a range without an end only the first one, which is known: who scans it often wants no more."""
        if limits.high is None:
            return cls(limits, [(first.entry, INT64.encode(first.object_id))], 1)
        return cls(limits, list(islice(entries, BOUNDED_CHUNK)), BOUNDED_CHUNK)

    def covers(self, entry: bytes) -> bool:
        """Whether an entry of this key is among them, or would be."""
        low, high, _ = self.limits
        if entry < low or (high is not None and entry >= high):
            return False
        return len(self.entries) < self.size or entry <= self.entries[-1][0]


class Searches:
    """What was found, for as long as it holds."""

    __slots__ = ("firsts", "ranges")

    def __init__(self) -> None:
        self.firsts: dict[Key, First | None] = {}
        """The first entry at or behind a key, until any entry changes."""
        self.ranges: dict[tuple[Key, Key], FirstEntries] = {}
        """The first of the entries between two keys, until one of those changes."""

    def remember_first(self, lower: Key, first: First | None) -> None:
        if len(self.firsts) >= REMEMBERED:
            self.firsts.clear()
        self.firsts[lower] = first

    def remember_range(self, bounds: tuple[Key, Key], known: FirstEntries) -> None:
        if len(self.ranges) >= REMEMBERED:
            self.ranges.clear()
        self.ranges[bounds] = known

    def forget(self, removed: Collection[bytes], added: Collection[KeyValue]) -> None:
        """What these changes of entries may have made wrong."""
        self.firsts.clear()
        if not self.ranges:
            return
        if len(removed) + len(added) > FEW:
            self.ranges.clear()
            return
        for entry in (*removed, *(entry for entry, _ in added)):
            for bounds in [bounds for bounds, known in self.ranges.items() if known.covers(entry)]:
                del self.ranges[bounds]

    def clear(self) -> None:
        self.firsts.clear()
        self.ranges.clear()
