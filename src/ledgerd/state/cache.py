"""A table at work: its decoded objects, which of them differ from the disk, and how each kind of change is noted.

Objects that changed stay here until a commit has succeeded; clean ones may be dropped and read again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Generic

from ledgerd.state.disk import Database, Disk, Transaction
from ledgerd.state.errors import StoreMisuse
from ledgerd.state.indexing import IndexState
from ledgerd.state.keys import INT64
from ledgerd.state.records import RecordForm
from ledgerd.state.tables import E, Index, Table
from ledgerd.state.undo import Ranks, TableUndo

if TYPE_CHECKING:
    from ledgerd.state.sessions import Session

NEVER_EVICTED = 1000
"""Tables of no more objects than this stay in memory whole."""


class TableCache(Generic[E]):
    """One table of an open store."""

    def __init__(self, table: Table[E], disk: Disk, databases: dict[str, Database], sessions: list[Session]) -> None:
        self.table = table
        self.next_id = 0
        self.objects: dict[int, E | None] = {}
        """By id; nothing where an object was removed since the last commit."""
        self.ranks: dict[int, Ranks] = {}
        self.dirty: dict[int, E | None] = {}
        """Copies of the committed values of what changed since; nothing where there was no object."""
        self.committed_ranks: dict[int, Ranks] = {}
        self.opened: dict[int, E] = {}
        """Copies of objects that are being edited, as they were when they got the places where they still stand."""
        self.record = RecordForm(table)
        self.database = databases[table.title]
        self._fields = table.record.__struct_fields__
        self._disk = disk
        self._sessions = sessions
        self.by_id = IndexState(table.by_id, self, disk, self.database)
        self.indexes: dict[Index[E], IndexState[E]] = {
            index: IndexState(index, self, disk, databases[index.title]) for index in table.indexes
        }
        self.states = sorted(self.indexes.values(), key=lambda state: state.index.is_unique)
        """The indexes, ordered ones first: their places here are those of their ranks."""
        for place, state in enumerate(self.states):
            state.place = place
        self.ordered = [state for state in self.states if not state.index.is_unique]
        self.exclusive = [state for state in self.states if state.index.is_exclusive]
        self.next_ranks = [0] * len(self.ordered)

    # -- reading

    def find(self, object_id: int) -> E | None:
        """The object of an id."""
        entity = self.objects.get(object_id)
        return self.load(object_id) if entity is None else entity

    def load(self, object_id: int) -> E | None:
        """The object of an id that is not in memory, unless it was removed."""
        if object_id in self.objects:
            return None
        try:
            key = INT64.encode(object_id)
        except OverflowError:
            return None
        raw = self._disk.transaction.get(key, db=self.database)
        if raw is None:
            return None
        entity = self.objects[object_id] = self.record.decode(raw)
        if self.ordered:
            self.ranks[object_id] = self.record.ranks(raw)
        return entity

    # -- what a session keeps

    def _undo(self) -> TableUndo[E] | None:
        """The newest session's memory of this table."""
        if not self._sessions:
            return None
        records = self._sessions[-1].records
        undo = records.get(self)
        if undo is None:
            undo = records[self] = TableUndo(self.next_id, tuple(self.next_ranks))
        return undo

    def _touch(self, object_id: int) -> None:
        """Keep the committed value of what is about to change, and tell the indexes."""
        if object_id not in self.dirty:
            entity = self.find(object_id)
            self.dirty[object_id] = None if entity is None else entity.__copy__()
        self._unsettle(object_id)

    def _expect_returns(self) -> None:
        """Objects are about to get back keys that they had before: hints do not know them all."""
        for state in self.exclusive:
            state.has_returned = True

    def _unsettle(self, object_id: int) -> None:
        """Tell all indexes that an object may stand elsewhere now, or nowhere."""
        self.by_id.pending.add(object_id)
        for state in self.states:
            state.pending.add(object_id)

    def _put_ranks(self, object_id: int, ranks: Ranks) -> None:
        if object_id in self.ranks:
            self.committed_ranks.setdefault(object_id, self.ranks[object_id])
        self.ranks[object_id] = ranks

    def _drop_ranks(self, object_id: int) -> Ranks:
        ranks = self.ranks.pop(object_id, ())
        if ranks:
            self.committed_ranks.setdefault(object_id, ranks)
        return ranks

    def new_rank(self, slot: int) -> int:
        """The rank after all others."""
        rank = self.next_ranks[slot]
        self.next_ranks[slot] = rank + 1
        return rank

    def _new_ranks(self) -> Ranks:
        return tuple(self.new_rank(slot) for slot in range(len(self.ordered)))

    def rerank(self, object_id: int, slot: int, rank: int) -> None:
        """Change one place of an object, so that the session can change it back."""
        before = self.ranks[object_id]
        undo = self._undo()
        if undo is not None and object_id not in undo.created:
            undo.ranks.setdefault(object_id, before)
        self._put_ranks(object_id, (*before[:slot], rank, *before[slot + 1 :]))

    # -- changes

    def create(self, entity: E) -> E:
        """Take an object in under the next id."""
        if self.objects.get(entity.id) is entity:
            raise StoreMisuse(f"{self.table.title} {entity.id} is in the state already")
        object_id = entity.id = self.next_id
        for state in self.exclusive:
            state.admit(entity)
        undo = self._undo()
        if undo is not None:
            undo.created.add(object_id)
        self.next_id = object_id + 1
        self.dirty.setdefault(object_id, None)
        self.objects[object_id] = entity
        if self.ordered:
            self._put_ranks(object_id, self._new_ranks())
        self._unsettle(object_id)
        return entity

    def remove(self, entity: E) -> None:
        """Take an object out; its id is not given again."""
        object_id = entity.id
        self._require_current(entity)
        self._touch(object_id)
        self.objects[object_id] = None
        ranks = self._drop_ranks(object_id)
        undo = self._undo()
        if undo is None:
            return
        if object_id in undo.created:
            undo.created.discard(object_id)
        else:
            undo.removed[object_id] = entity
            if ranks:
                undo.ranks.setdefault(object_id, ranks)

    def _require_current(self, entity: E) -> None:
        if self.objects.get(entity.id) is not entity:
            raise StoreMisuse(
                f"{self.table.title} {entity.id} is not the object in the state: it was removed, or was fetched "
                "before the last commit; fetch it again"
            )

    def open(self, entity: E) -> E:
        """Before a change: a copy of the object, kept for whoever may have to undo."""
        object_id = entity.id
        if self.objects.get(object_id) is not entity:
            self._require_current(entity)
        image = entity.__copy__()
        if self._sessions:
            undo = self._sessions[-1].records.get(self) or self._undo()
            if undo is not None and object_id not in undo.modified and object_id not in undo.created:
                undo.modified[object_id] = image
        if object_id not in self.dirty:
            self.dirty[object_id] = image
        if object_id not in self.opened:
            self.opened[object_id] = image
        return image

    def close(self, entity: E) -> None:
        """After a change: new places where keys have changed."""
        object_id = entity.id
        standing = self.opened[object_id]
        if self.objects[object_id] is not entity:
            return
        has_moved = False
        for state in self.states:
            key = state.key
            if key(standing) != key(entity):
                state.move(entity, standing)
                state.pending.add(object_id)
                has_moved = True
        if has_moved:
            self.opened[object_id] = entity.__copy__()

    def revert(self, entity: E, image: E, ranks: Ranks) -> None:
        """After a change that failed: the values and places from before it."""
        self._expect_returns()
        self._assign(entity, image)
        if ranks and entity.id in self.ranks:
            self._put_ranks(entity.id, ranks)
        self._unsettle(entity.id)

    def _assign(self, entity: E, image: E) -> None:
        for field in self._fields:
            setattr(entity, field, getattr(image, field))

    # -- undo

    def restore(self, undo: TableUndo[E]) -> None:
        """Put everything back exactly as it was, the places among equal keys included."""
        self._expect_returns()
        for object_id in undo.created:
            self._erase(object_id)
        for object_id, entity in undo.removed.items():
            self._touch(object_id)
            self.objects[object_id] = entity
        for object_id, image in undo.modified.items():
            self._touch(object_id)
            self._assign(self.present(object_id), image)
        for object_id, ranks in undo.ranks.items():
            self._touch(object_id)
            self._put_ranks(object_id, ranks)
        self.next_id = undo.next_id
        self.next_ranks = list(undo.next_ranks)

    def replay(self, undo: TableUndo[E]) -> None:
        """Put values back as the reference does: by changes of its own, which give new places among equal keys.

        The session below is left to know the places from before (spec 02, sections 2.3 rule 4 and 2.5).
        """
        self._expect_returns()
        if self.ordered and self._sessions:
            self._lend(undo, self._sessions[-1])
        for object_id in sorted(undo.modified.keys() - undo.removed.keys()):
            entity = self.present(object_id)
            self._touch(object_id)
            self.opened[object_id] = standing = entity.__copy__()
            self._assign(entity, undo.modified[object_id])
            for state in self.ordered:
                state.move(entity, standing)
            del self.opened[object_id]
            self._unsettle(object_id)
        for object_id in undo.created:
            self._erase(object_id)
        self.next_id = undo.next_id
        for object_id, entity in sorted(undo.removed.items()):
            self._touch(object_id)
            self.objects[object_id] = entity
            if object_id in undo.modified:
                self._assign(entity, undo.modified[object_id])
            if self.ordered:
                self._put_ranks(object_id, self._new_ranks())

    def _lend(self, undo: TableUndo[E], below: Session) -> None:
        lower = below.records.setdefault(self, TableUndo(undo.next_id, undo.next_ranks))
        for object_id, ranks in undo.ranks.items():
            if object_id not in lower.created:
                lower.ranks.setdefault(object_id, ranks)

    def _erase(self, object_id: int) -> None:
        self._touch(object_id)
        self.objects[object_id] = None
        self._drop_ranks(object_id)

    def present(self, object_id: int) -> E:
        """The object of an id that must exist."""
        entity = self.find(object_id)
        if entity is None:
            raise StoreMisuse(f"{self.table.title} {object_id} is missing")
        return entity

    # -- commit

    @property
    def counters(self) -> tuple[int, ...]:
        """The next id, then the next rank of each ordered index."""
        return (self.next_id, *self.next_ranks)

    def all_indexes(self) -> Iterator[IndexState[E]]:
        """Every index, ids included."""
        yield self.by_id
        yield from self.indexes.values()

    def image_bytes(self, object_id: int, image: E) -> bytes:
        """The bytes of a former value; those on the disk when it is the committed one."""
        if self.dirty.get(object_id) is image and object_id not in self.by_id.written:
            raw = self._disk.transaction.get(INT64.encode(object_id), db=self.database)
            if raw is not None:
                return raw[self.record.start :]
        return self.table.codec.encode(image)

    def write(self, transaction: Transaction) -> None:
        """Put every object that changed into the transaction."""
        for object_id in sorted(self.dirty):
            entity, key = self.objects[object_id], INT64.encode(object_id)
            if entity is None:
                transaction.delete(key, db=self.database)
            else:
                record = self.record.encode(entity, self.ranks.get(object_id, ()))
                transaction.put(key, record, db=self.database)

    def forget(self) -> None:
        """All is committed: nothing differs from the disk any more."""
        for object_id in self.dirty:
            if self.objects[object_id] is None:
                del self.objects[object_id]
        self.dirty.clear()
        self.committed_ranks.clear()
        for state in self.all_indexes():
            state.forget()

    def evict(self, count: int, keep: set[int]) -> int:
        """Drop clean objects, those that were read first before others; returns how many."""
        if len(self.objects) <= NEVER_EVICTED:
            return 0
        victims = [object_id for object_id in islice(self.objects, count + len(keep)) if object_id not in keep][:count]
        for object_id in victims:
            del self.objects[object_id]
            self.ranks.pop(object_id, None)
        for state in self.exclusive:
            if len(state.hints) > 2 * len(self.objects):
                state.hints.clear()
        return len(victims)
