"""What a session remembers of one table: enough to restore it exactly as it was (spec 02, section 2.5)."""

from __future__ import annotations

from typing import Generic

import msgspec

from ledgerd.state.tables.tables import E, Ranks


class TableUndo(msgspec.Struct, Generic[E], eq=False, gc=False):
    """The values from before a session's first change of each object, and the counters from before its first change."""

    next_id: int
    next_ranks: Ranks
    created: set[int] = msgspec.field(default_factory=set)
    """Ids of new objects that still exist: one that was removed again is in no field here."""
    removed: dict[int, E] = msgspec.field(default_factory=dict)
    """The objects themselves, as they were when they were removed."""
    modified: dict[int, E] = msgspec.field(default_factory=dict)
    """Copies from before the first change; also of objects that were removed afterwards."""
    ranks: dict[int, Ranks] = msgspec.field(default_factory=dict)
    """Ranks from before they first changed; of removed objects always."""

    def absorb(self, newer: TableUndo[E]) -> None:
        """Make this the memory of both sessions: the older value of an object counts."""
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

    def changed_ids(self) -> set[int]:
        return self.created | self.modified.keys() | self.removed.keys() | self.ranks.keys()
