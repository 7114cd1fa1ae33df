"""What a session remembers of one table: enough to put everything back as it was (spec 02, section 2.5)."""

from __future__ import annotations

from typing import Generic

from ledgerd.state.tables import E

Ranks = tuple[int, ...]
"""The places of an object among equal keys, one for each ordered index of its table."""


class TableUndo(Generic[E]):
    """The first values of what a session changed in a table, and the counters as they stood when it did."""

    __slots__ = ("created", "modified", "next_id", "next_ranks", "ranks", "removed")

    def __init__(self, next_id: int, next_ranks: Ranks) -> None:
        self.next_id = next_id
        self.next_ranks = next_ranks
        self.created: set[int] = set()
        self.removed: dict[int, E] = {}
        self.modified: dict[int, E] = {}
        """Copies from before the first change; also of objects that were removed afterwards."""
        self.ranks: dict[int, Ranks] = {}
        """Places before they first changed; of removed objects always."""

    def absorb(self, newer: TableUndo[E]) -> None:
        """Make this the memory of both sessions: what was first known of an object counts."""
        for object_id, image in newer.modified.items():
            if object_id not in self.created:
                self.modified.setdefault(object_id, image)
        for object_id, ranks in newer.ranks.items():
            if object_id not in self.created:
                self.ranks.setdefault(object_id, ranks)
        for object_id, entity in newer.removed.items():
            if object_id in self.created:
                self.created.discard(object_id)
            else:
                self.removed[object_id] = entity
        self.created |= newer.created
