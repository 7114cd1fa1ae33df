"""One table of an open store: creates, removes and edits its objects, and restores them when a session is undone.

Each change goes to three owners: the cache, which holds the objects; the newest session, which remembers how they were;
and the indexes, which write their entries later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic

from ledgerd.codec.types.lazy import lazy
from ledgerd.state.errors import NotUnique, StoreMisuse
from ledgerd.state.files.disk import Database, Disk, LmdbTransaction
from ledgerd.state.memory.cache import NO_OBJECT, ObjectCache
from ledgerd.state.memory.due_times import DueTime
from ledgerd.state.memory.open_index import OpenIndex
from ledgerd.state.memory.ranks import rank_after_change
from ledgerd.state.sessions.sessions import Session
from ledgerd.state.sessions.undo import TableUndo
from ledgerd.state.tables.key_fields import key_comparison
from ledgerd.state.tables.keys import integer_of
from ledgerd.state.tables.records import Row
from ledgerd.state.tables.tables import E, Index, Key, Ranks, Table


class OpenTable(Generic[E]):
    """The objects and indexes of one table, and its counters of ids and ranks."""

    def __init__(self, table: Table[E], disk: Disk, databases: dict[str, Database], sessions: list[Session]) -> None:
        self.table = table
        self.next_id = 0
        self._least_id = 0
        """No object has a lesser id."""
        self._next_ranks = [0] * len(table.ordered_indexes)
        self.cache = ObjectCache(table, disk, databases[table.title])
        self.by_id = OpenIndex(table.by_id, self.cache, disk, databases[table.title])
        opened = [OpenIndex(index, self.cache, disk, databases[index.title]) for index in table.indexes]
        self.indexes: dict[Index[E], OpenIndex[E]] = {each.index: each for each in opened}
        self._ordered = [each for each in opened if not each.index.is_unique]
        self.has_ranks = bool(self._ordered)
        self._colliding = [each for each in opened if each.index.can_collide]
        self.all_indexes = [self.by_id, *opened]
        self._marks = [each.mark for each in self.all_indexes]
        self.sessions = sessions
        """All that are open, the newest last; changed by their stack only."""

    @lazy
    def moved_in(self) -> Callable[[E, E], Sequence[OpenIndex[E]]]:
        """The indexes, ordered ones first, in which two states of an object have different keys.

        It is written when the table is first edited: who opens a state edits few tables, or none.
        """
        ordered_first = sorted(self.indexes.values(), key=lambda each: each.index.is_unique)
        return key_comparison(self.table.record, [(each.index, each) for each in ordered_first])

    # -- counters

    @property
    def counters(self) -> tuple[int, ...]:
        """The next id, then the next rank of each ordered index."""
        return (self.next_id, *self._next_ranks)

    def set_counters(self, next_id: int, next_ranks: Iterable[int]) -> None:
        self.next_id = next_id
        self._least_id = min(self._least_id, next_id)
        self._next_ranks = list(next_ranks)

    def set_loaded(self, next_id: int, count: int) -> None:
        """Rows came past the store, so many, and have ranks from 0 on."""
        self.set_counters(next_id, [count] * len(self._ordered))
        for index in self.all_indexes:
            index.mark_loaded()

    def _new_rank(self, slot: int) -> int:
        rank = self._next_ranks[slot]
        self._next_ranks[slot] = rank + 1
        return rank

    def _new_ranks(self) -> Ranks:
        return tuple([self._new_rank(index.slot) for index in self._ordered])

    # -- what the newest session remembers

    def newest_undo(self) -> TableUndo[E] | None:
        """The newest session's memory of this table; None while there are no sessions."""
        if not self.sessions:
            return None
        return self.sessions[-1].changes.get(self.table) or self.begin_undo(self.sessions[-1])

    def begin_undo(self, session: Session) -> TableUndo[E]:
        """The session changes this table for the first time."""
        undo = session.changes[self.table] = TableUndo(self.next_id, tuple(self._next_ranks))
        return undo

    def remember(self, entity: E) -> None:
        """Remember what an object is, for the newest session and the last commit."""
        object_id, cache, image = entity.id, self.cache, None
        if cache.objects.get(object_id) is not entity:
            cache.require_current(entity)
        if self.sessions:
            session = self.sessions[-1]
            undo = session.changes.get(self.table) or self.begin_undo(session)
            if object_id not in undo.modified and object_id not in undo.created:
                image = undo.modified[object_id] = entity.__copy__()
            if session.is_open:
                session.kept[id(entity)] = entity
        if object_id not in cache.committed:
            cache.committed[object_id] = (image or entity.__copy__(), cache.ranks.get(object_id, ()))

    def last_changes(self) -> Iterator[tuple[E | None, E | None]]:
        undo: TableUndo[E] | None = self.sessions[-1].changes.get(self.table) if self.sessions else None
        if undo is None:
            return
        for object_id in undo.created:
            yield None, self.cache.find(object_id)
        for object_id, before in undo.modified.items():
            if object_id not in undo.removed:
                yield before, self.cache.present(object_id)
        for object_id, last in undo.removed.items():
            yield undo.modified.get(object_id, last), None

    # -- the least id

    def oldest(self) -> E | None:
        """The object with the least id, without writing the ids that are not in the file yet."""
        if self._least_id >= self.next_id:
            return None
        entity = self.cache.find(self._least_id)
        if entity is None:
            first = self.by_id.first((self._least_id,), ())
            self._least_id = self.next_id if first is None else first.object_id
            entity = None if first is None else self.cache.present(first.object_id)
        return entity

    def due_time(self, index: Index[E], prefix: Key) -> DueTime:
        due = self.indexes[index].due_time(prefix)
        self._marks = [each.mark for each in self.all_indexes]
        return due

    # -- changes

    def _mark(self, object_id: int) -> None:
        for mark in self._marks:
            mark(object_id)

    def create(self, entity: E) -> E:
        cache = self.cache
        if cache.objects.get(entity.id) is entity:
            raise StoreMisuse(f"{self.table.title} {entity.id} is in the state already")
        object_id = entity.id = self.next_id
        for index in self._colliding:
            index.claim(entity, NotUnique.on_create)
        if self.sessions:
            undo = self.sessions[-1].changes.get(self.table) or self.begin_undo(self.sessions[-1])
            undo.created.add(object_id)
        self.next_id = object_id + 1
        if self._ordered:
            cache.ranks[object_id] = self._new_ranks()
        cache.committed.setdefault(object_id, NO_OBJECT)
        cache.objects[object_id] = entity
        for mark in self._marks:
            mark(object_id)
        return entity

    def create_all(self, entities: Sequence[E]) -> None:
        """What `create` does with one after the other; at once where no index has to know of them."""
        if self.indexes:
            for entity in entities:
                self.create(entity)
            return
        objects, ids = self.cache.objects, range(self.next_id, self.next_id + len(entities))
        for object_id, entity in zip(ids, entities, strict=True):
            if objects.get(entity.id) is entity:
                raise StoreMisuse(f"{self.table.title} {entity.id} is in the state already")
            entity.id = object_id
            self.by_id.mark(object_id)
        undo = self.newest_undo()
        if undo is not None:
            undo.created.update(ids)
        self.next_id = ids.stop
        self.cache.add_all(ids, entities)

    def remove(self, entity: E) -> None:
        """Remove an object; its id is not given again."""
        object_id, cache = entity.id, self.cache
        if cache.objects.get(object_id) is not entity:
            cache.require_current(entity)
        ranks = cache.remove(object_id)
        for mark in self._marks:
            mark(object_id)
        if object_id == self._least_id:
            self._least_id = object_id + 1
        if not self.sessions:
            return
        session = self.sessions[-1]
        session.kept.pop(id(entity), None)
        undo = session.changes.get(self.table) or self.begin_undo(session)
        if object_id in undo.created:
            undo.created.discard(object_id)
        else:
            undo.removed[object_id] = entity
            if ranks:
                undo.ranks.setdefault(object_id, ranks)

    def remove_oldest(self, is_over: Callable[[E], bool]) -> E | None:
        """What `remove` does with one after the other, for a table without indexes."""
        cache, objects, mark = self.cache, self.cache.objects, self.by_id.mark
        session = self.sessions[-1] if self.sessions else None
        while (entity := objects.get(self._least_id) or self.oldest()) is not None and is_over(entity):
            object_id = entity.id
            if object_id not in cache.committed:
                cache.keep_committed(object_id)
            objects[object_id] = None
            mark(object_id)
            self._least_id = object_id + 1
            if session is None:
                continue
            undo = session.changes.get(self.table) or self.begin_undo(session)
            session.kept.pop(id(entity), None)
            if object_id in undo.created:
                undo.created.discard(object_id)
            else:
                undo.removed[object_id] = entity
        return entity

    def end_edit(self, entity: E, outer: E | None, moved_in: Iterable[OpenIndex[E]]) -> None:
        """After a change of keys: claim those that have changed, and find the ranks under them."""
        object_id, cache = entity.id, self.cache
        indexed = cache.indexed_as[object_id]
        if cache.objects[object_id] is entity:
            for index in moved_in:
                if index.index.is_fixed:
                    raise StoreMisuse(f"{index.index.title}: the key of an object never changes")
                if not index.index.is_unique:
                    self._change_rank(index, entity, indexed)
                elif index.index.can_collide:
                    index.claim(entity, NotUnique.on_edit)
                index.mark(object_id)
            if outer is not None:
                cache.set_indexed(object_id, entity.__copy__())
        if outer is None:
            cache.end_edit(object_id)

    def _change_rank(self, index: OpenIndex[E], entity: E, indexed: E) -> None:
        object_id, slot = entity.id, index.slot
        before = self.cache.ranks[object_id]
        rank = rank_after_change(index, entity, indexed)
        if rank is None:
            rank = self._new_rank(slot)
        if rank == before[slot]:
            return
        undo = self.newest_undo()
        if undo is not None and object_id not in undo.created:
            undo.ranks.setdefault(object_id, before)
        self.cache.set_ranks(object_id, (*before[:slot], rank, *before[slot + 1 :]))

    def revert(self, entity: E, image: E | None, ranks: Ranks, outer: E | None) -> None:
        """A change has failed: the object becomes what it was before."""
        object_id = entity.id
        if outer is None:
            self.cache.end_edit(object_id)
        else:
            self.cache.set_indexed(object_id, outer)
        self._mark_restored()
        if image is not None:
            self.cache.assign(entity, image)
        if ranks and object_id in self.cache.ranks:
            self.cache.set_ranks(object_id, ranks)
        self._mark(object_id)

    # -- undo

    def _mark_restored(self) -> None:
        for index in self._colliding:
            index.mark_restored()

    def restore(self, undo: TableUndo[E]) -> None:
        """Make everything exactly as it was, the ranks among equal keys included."""
        cache = self.cache
        if undo.removed:
            self._mark_restored()
        for object_id in undo.created:
            cache.remove(object_id)
            self._mark(object_id)
        for object_id, entity in undo.removed.items():
            cache.put_back(object_id, entity)
            self._mark(object_id)
            self._least_id = min(self._least_id, object_id)
        for object_id, image in undo.modified.items():
            entity = cache.present(object_id)
            moved_in = self.moved_in(entity, image)
            cache.keep_committed(object_id)
            cache.assign(entity, image)
            for index in moved_in:
                index.mark_restored()
                index.mark(object_id)
        for object_id, ranks in undo.ranks.items():
            cache.set_ranks(object_id, ranks)
            self._mark(object_id)
        self.set_counters(undo.next_id, undo.next_ranks)

    def replay(self, undo: TableUndo[E]) -> None:
        """Restore values as the reference does: by changes of its own, which give new ranks among equal keys.

        The session below is told the ranks from before, so that its own undo is exact (spec 02, sections 2.3 rule 4
        and 2.5).
        """
        cache = self.cache
        if undo.removed:
            self._mark_restored()
        if self._ordered and self.sessions:
            self._remember_ranks(undo, self.sessions[-1])
        for object_id in sorted(undo.modified.keys() - undo.removed.keys()):
            self._change_back(object_id, undo.modified[object_id])
        for object_id in undo.created:
            cache.remove(object_id)
            self._mark(object_id)
        self.next_id = undo.next_id
        self._least_id = min(self._least_id, undo.next_id)
        for object_id, entity in sorted(undo.removed.items()):
            cache.put_back(object_id, entity)
            if object_id in undo.modified:
                cache.assign(entity, undo.modified[object_id])
            if self._ordered:
                cache.set_ranks(object_id, self._new_ranks())
            self._mark(object_id)
            self._least_id = min(self._least_id, object_id)

    def _change_back(self, object_id: int, image: E) -> None:
        cache = self.cache
        entity = cache.present(object_id)
        moved_in = self.moved_in(entity, image)
        cache.keep_committed(object_id)
        if not moved_in:
            cache.assign(entity, image)
            return
        indexed = entity.__copy__()
        cache.set_indexed(object_id, indexed)
        cache.assign(entity, image)
        for index in moved_in:
            index.mark_restored()
            if not index.index.is_unique:
                self._change_rank(index, entity, indexed)
        cache.end_edit(object_id)
        for index in moved_in:
            index.mark(object_id)

    def _remember_ranks(self, undo: TableUndo[E], below: Session) -> None:
        lower = below.changes.setdefault(self.table, TableUndo(undo.next_id, undo.next_ranks))
        for object_id, ranks in undo.ranks.items():
            if object_id not in lower.created:
                lower.ranks.setdefault(object_id, ranks)

    # -- commit

    def ids(self) -> Iterator[int]:
        return (integer_of(entry) for entry, _ in self.by_id.entries())

    def rows(self, undo: TableUndo[E]) -> Iterator[Row]:
        for object_id in undo.changed_ids():
            yield self.table.number, object_id, self.cache.encoded(object_id)

    def image_bytes(self, object_id: int, image: E) -> bytes:
        """The bytes of a former value; read from the file when it is the committed one."""
        known = self.cache.committed.get(object_id)
        if known is not None and known[0] is image and not self.by_id.is_written(object_id):
            raw = self.cache.committed_bytes(object_id)
            if raw is not None:
                return raw
        return self.table.codec.encode(image)

    def flush(self) -> None:
        for index in self.indexes.values():
            index.flush()

    def write(self, transaction: LmdbTransaction) -> None:
        self.cache.write(transaction, self.by_id.is_written)

    def write_again(self, transaction: LmdbTransaction) -> None:
        for index in self.all_indexes:
            index.write_again(transaction)

    def mark_committed(self) -> None:
        self.cache.mark_committed()
        for index in self.all_indexes:
            index.mark_committed()

    def evict(self, count: int, keep: set[int]) -> int:
        evicted = self.cache.evict(count, keep)
        for index in self.all_indexes:
            index.trim_hints(2 * len(self.cache.objects))
        return evicted
