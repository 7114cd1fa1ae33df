"""The first entries of a range of an index, with what was made of their objects: kept right as entries come and go.

A block that asks for them again pays for the entries that changed, not for all of them. The entries themselves are
those of `open_index`, which tells of each change.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Generic, TypeVar, cast

from ledgerd.state.files.ranges import KeyValue
from ledgerd.state.tables.keys import integer_of

T = TypeVar("T")


class _Unmade:
    """Stands where nothing was made yet."""


UNMADE = _Unmade()
SPARE = 2
"""So many times the entries that are asked for are read, and kept, so that reading is rare."""


class Front(Generic[T]):
    """All entries of a range up to some place, and one value for each, made when it is first asked for."""

    __slots__ = ("_entries", "_high", "_ids", "_low", "_made", "_reach", "_values")

    def __init__(self, low: bytes, high: bytes | None) -> None:
        self._low = low
        self._high = high
        self._entries: list[bytes] = []
        self._ids: list[int] = []
        self._values: list[T | _Unmade] = []
        self._reach: bytes | None = low
        """All entries before this one are known; with None, all there are."""
        self._made = 0
        """So many of the first entries have a value."""

    def change(self, removed: Iterable[bytes], added: Iterable[KeyValue]) -> None:
        known = self._entries
        for entry in removed:
            place = bisect_left(known, entry)
            if place < len(known) and known[place] == entry:
                del known[place], self._ids[place], self._values[place]
                self._made -= place < self._made
        for entry, object_id in added:
            if self._low <= entry and self._is_known(entry) and (self._high is None or entry < self._high):
                place = bisect_right(known, entry)
                known.insert(place, entry)
                self._ids.insert(place, integer_of(object_id))
                self._values.insert(place, UNMADE)
                self._made = min(self._made, place)

    def _is_known(self, entry: bytes) -> bool:
        return self._reach is None or entry < self._reach

    def first(
        self, count: int, read: Callable[[bytes, bytes | None], Iterable[KeyValue]], make: Callable[[int], T]
    ) -> list[T]:
        """The values of the first entries, so many at most; `read` gives the entries from one place to another."""
        if len(self._entries) < count and self._reach is not None:
            self._read(SPARE * count, read)
        if self._made < count:
            self._make(count, make)
        self._drop_behind(2 * SPARE * count)
        return cast("list[T]", self._values[:count])

    def _make(self, count: int, make: Callable[[int], T]) -> None:
        for place in range(self._made, min(count, len(self._values))):
            if isinstance(self._values[place], _Unmade):
                self._values[place] = make(self._ids[place])
        self._made = max(self._made, min(count, len(self._values)))

    def _read(self, count: int, read: Callable[[bytes, bytes | None], Iterable[KeyValue]]) -> None:
        if self._reach is None:
            return
        wanted = count - len(self._entries)
        found = list(islice(read(self._reach, self._high), wanted + 1))
        self._reach = found.pop()[0] if len(found) > wanted else None
        self._entries += [entry for entry, _ in found]
        self._ids += [integer_of(object_id) for _, object_id in found]
        self._values += [UNMADE] * len(found)

    def _drop_behind(self, count: int) -> None:
        """A range to which entries are only added must not be known whole."""
        if len(self._entries) > count:
            self._reach = self._entries[count]
            self._made = min(self._made, count)
            del self._entries[count:], self._ids[count:], self._values[count:]
