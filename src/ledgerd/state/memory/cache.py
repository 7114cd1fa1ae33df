"""The decoded objects of a table in memory: as they are, as the last commit has them, and as the indexes have them.

Objects that changed stay here until a commit has succeeded; unchanged ones may be dropped and read again. Which
session changed what, and which index entries are due, is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Generic

from ledgerd.codec.source import Source
from ledgerd.codec.types.lazy import lazy
from ledgerd.state.errors import StoreMisuse
from ledgerd.state.files.disk import Database, Disk, LmdbTransaction, put_all
from ledgerd.state.tables.keys import INT64, PACK_UINT64, SIGN
from ledgerd.state.tables.records import RecordForm
from ledgerd.state.tables.tables import E, Key, Ranks, Table

NO_OBJECT: tuple[None, Ranks] = None, ()
"""What was committed of an object that is new."""

NEVER_EVICTED = 1000
"""Tables of no more objects than this stay in memory whole."""


class ObjectCache(Generic[E]):
    """The objects of one table of an open store.

    The dictionaries may be read by everybody in this room; they are changed by the methods here, by `Edit` and by what
    creates objects, only.
    """

    def __init__(self, table: Table[E], disk: Disk, database: Database) -> None:
        self.table = table
        self.form = RecordForm(table)
        self.objects: dict[int, E | None] = {}
        """By id; None where an object was removed since the last commit."""
        self.ranks: dict[int, Ranks] = {}
        """By id, of each object in memory; empty for a table without ordered indexes."""
        self.committed: dict[int, tuple[E | None, Ranks]] = {}
        """The committed value and ranks of each object that changed since; None where there was no object."""
        self.indexed_as: dict[int, E] = {}
        """For each object that is being edited, a copy with the keys that its index entries have."""
        self._found: list[tuple[Callable[[E], Key], dict[Any, E]]] = []
        self._has_ranks = bool(table.ordered_indexes)
        self._disk = disk
        self._database = database

    def found_by(self, key_of: Callable[[E], Key]) -> dict[Any, E]:
        """A dictionary for objects by a key of one part that never changes. What leaves the memory leaves it, too."""
        found: dict[Any, E] = {}
        self._found.append((key_of, found))
        return found

    def _lose(self, entity: E | None) -> None:
        if entity is not None:
            for key_of, found in self._found:
                found.pop(key_of(entity)[0], None)

    def find(self, object_id: int) -> E | None:
        entity = self.objects.get(object_id)
        return self.load(object_id) if entity is None else entity

    def load(self, object_id: int) -> E | None:
        raw = self._record(object_id)
        if raw is None:
            return None
        entity = self.objects[object_id] = self.form.decode(raw)
        if self._has_ranks:
            self.ranks[object_id] = self.form.ranks(raw)
        return entity

    def _record(self, object_id: int) -> bytes | None:
        if object_id in self.objects:
            return None
        try:
            key = INT64.encode(object_id)
        except OverflowError:
            return None
        return self._disk.transaction.get(key, db=self._database)

    def uncached_record(self, object_id: int, raw: bytes) -> E | None:
        """The object of an id whose record in the file is at hand, if it exists; see `uncached`."""
        return self.objects[object_id] if object_id in self.objects else self.form.decode(raw)

    def uncached(self, object_id: int) -> tuple[E, Ranks] | None:
        """The object of an id with its ranks. What is not in memory is not kept there, and must not be edited."""
        entity = self.objects.get(object_id)
        if entity is not None:
            return entity, self.ranks.get(object_id, ())
        raw = self._record(object_id)
        return None if raw is None else (self.form.decode(raw), self.form.ranks(raw))

    def present(self, object_id: int) -> E:
        entity = self.find(object_id)
        if entity is None:
            raise StoreMisuse(f"{self.table.title} {object_id} is missing")
        return entity

    def require_current(self, entity: E) -> None:
        if self.objects.get(entity.id) is not entity:
            raise StoreMisuse(
                f"{self.table.title} {entity.id} is not the object in the state: it was removed, or was fetched "
                "before the last commit; fetch it again"
            )

    def encoded(self, object_id: int) -> bytes | None:
        entity = self.find(object_id)
        return None if entity is None else self.form.encode(entity, self.ranks.get(object_id, ()))

    def committed_bytes(self, object_id: int) -> bytes | None:
        """The bytes of an object, without its ranks, as the table in the file has them."""
        raw = self._disk.transaction.get(INT64.encode(object_id), db=self._database)
        return None if raw is None else raw[self.form.start :]

    def keep_committed(self, object_id: int) -> None:
        if object_id not in self.committed:
            entity = self.find(object_id)
            image = None if entity is None else entity.__copy__()
            self.committed[object_id] = (image, self.ranks.get(object_id, ()))

    def add_all(self, ids: Sequence[int], entities: Sequence[E]) -> None:
        """Add objects of a table without ranks."""
        self.committed |= dict.fromkeys(ids, NO_OBJECT) | self.committed
        self.objects.update(zip(ids, entities, strict=True))

    def put_back(self, object_id: int, entity: E) -> None:
        self.keep_committed(object_id)
        self.objects[object_id] = entity

    def remove(self, object_id: int) -> Ranks:
        if object_id not in self.committed:
            self.keep_committed(object_id)
        if self._found:
            self._lose(self.objects.get(object_id))
        self.objects[object_id] = None
        return self.ranks.pop(object_id, ())

    def set_ranks(self, object_id: int, ranks: Ranks) -> None:
        self.keep_committed(object_id)
        self.ranks[object_id] = ranks

    @lazy
    def assign(self) -> Callable[[E, E], None]:
        """Give an object all that another one has. It is written when it is first needed, as it takes a third of the
        time of a loop over the fields.
        """
        source = Source()
        for field in self.table.record.__struct_fields__:
            source.add(f"entity.{field} = image.{field}")
        compiled: Callable[[E, E], None] = source.compiled(f"assign_{self.table.title}", "entity, image")
        return compiled

    def set_indexed(self, object_id: int, image: E) -> None:
        """From here on the index entries of an object that is being edited have the keys of this copy."""
        self.indexed_as[object_id] = image

    def end_edit(self, object_id: int) -> None:
        """From here on the index entries of an object have its own keys."""
        self.indexed_as.pop(object_id, None)

    def write(self, transaction: LmdbTransaction, is_entered: Callable[[int], bool]) -> None:
        """Put every object that changed into the transaction, whose ids may have been entered there before."""
        objects, ranks, encode = self.objects, self.ranks, self.form.encode
        encode_alone = None if self._has_ranks else self.table.codec.encode
        removed: list[bytes] = []
        added: list[tuple[bytes, bytes]] = []
        for object_id in sorted(self.committed):
            entity = objects[object_id]
            if entity is not None:
                record = encode_alone(entity) if encode_alone else encode(entity, ranks.get(object_id, ()))
                added.append((PACK_UINT64(object_id + SIGN), record))
            elif self.committed[object_id][0] is not None or is_entered(object_id):
                removed.append(PACK_UINT64(object_id + SIGN))
        put_all(transaction, self._database, removed, added)

    def mark_committed(self) -> None:
        for object_id in self.committed:
            if self.objects[object_id] is None:
                del self.objects[object_id]
        self.committed.clear()

    def evict(self, count: int, keep: set[int]) -> int:
        """Drop unchanged objects, those that were read first before others; returns how many."""
        if len(self.objects) <= NEVER_EVICTED:
            return 0
        victims = [object_id for object_id in islice(self.objects, count + len(keep)) if object_id not in keep][:count]
        for object_id in victims:
            self._lose(self.objects.pop(object_id))
            self.ranks.pop(object_id, None)
        return len(victims)
