"""The objects of an index whose entries may be out of date, and what their keys are before these are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

from ledgerd.state.memory.cache import ObjectCache
from ledgerd.state.memory.due_times import DueTime, marker
from ledgerd.state.tables.tables import E, Index, Key


class Unwritten(Generic[E]):
    """Their ids; one that changes again is there again."""

    __slots__ = ("_cache", "_due_times", "_key", "_leasts", "_parts", "ids", "mark")

    def __init__(self, index: Index[E], cache: ObjectCache[E]) -> None:
        self._cache = cache
        self._key = index.key
        self._parts = index.natural_parts
        self.ids: list[int] = []
        self.mark: Callable[[int], None] = self.ids.append
        """Say that the entry of an object, by its id, may be out of date."""
        self._leasts: dict[Key, tuple[int, Key | None]] = {}
        """For a lower bound: how many of the ids were looked at, and the least key that one of them has above it."""
        self._due_times: dict[Key, DueTime] = {}

    def clear(self) -> None:
        """The entries were written."""
        self.ids.clear()
        self._leasts.clear()

    def least(self, lower: Key) -> Key | None:
        """The least key from a bound on, as far as its parts can be compared as they are."""
        looked_at, least = self._leasts.get(lower, (0, None))
        ids, cache, parts = self.ids, self._cache, self._parts
        if looked_at < len(ids):
            for object_id in ids[looked_at:]:
                entity = cache.indexed_as.get(object_id) or cache.objects[object_id]
                if entity is not None:
                    key = self._key(entity)[:parts]
                    if key[: len(lower)] >= lower and (least is None or key < least):
                        least = key
            self._leasts[lower] = len(ids), least
        return least

    def due_time(self, prefix: Key, known_time: Callable[[], int]) -> DueTime:
        """Of the keys that begin with these parts; marks of objects keep it right."""
        due = self._due_times.get(prefix)
        if due is None:
            due = self._due_times[prefix] = DueTime(prefix, known_time)
            self.mark = marker(self.ids, self._cache.objects, self._key, tuple(self._due_times.values()))
        return due
