"""One index of an open store: its entries, which of them are due, and the rank of an object among equal keys.

Entries are brought up to date lazily, by `flush`, before the index is next read. The rank of an object is decided at
once, when the object is created or its key changes (spec 02, section 2.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Generic, TypeVar

from ledgerd.state.errors import NotUnique, StoreMisuse
from ledgerd.state.files.disk import Database, Disk, LmdbTransaction, put_all
from ledgerd.state.files.ranges import KeyValue, Range, entries, first_entry, neighbours
from ledgerd.state.memory.cache import ObjectCache
from ledgerd.state.memory.due_times import NEVER, DueTime
from ledgerd.state.memory.first_entries import NOT_LOOKED_FOR, REMEMBERED, First, FirstEntries, Searches
from ledgerd.state.memory.front import Front
from ledgerd.state.memory.unwritten import Unwritten
from ledgerd.state.tables.keys import INT64, PACK_UINT64, SIGN, integer_of
from ledgerd.state.tables.tables import E, Index, Key, Ranks
from ledgerd.state.views.view import searched_key, span

T = TypeVar("T")

CHUNK_GROWTH = 4
LARGEST_CHUNK = 256


class OpenIndex(Generic[E]):
    """The entries of one index. Reads the objects of its table, and changes none of them."""

    __slots__ = (
        "_absent",
        "_database",
        "_disk",
        "_encode_key",
        "_found",
        "_fronts",
        "_has_unseen_keys",
        "_is_unique",
        "_pending",
        "_searches",
        "_unwritten",
        "_version",
        "_written",
        "cache",
        "hints",
        "index",
        "is_by_id",
        "key",
        "slot",
    )

    def __init__(self, index: Index[E], cache: ObjectCache[E], disk: Disk, database: Database) -> None:
        self.index = index
        self.key = index.key
        self._encode_key = index.encode_key
        self._is_unique = index.is_unique
        self.is_by_id = index is index.table.by_id
        self.cache = cache
        self.hints: dict[Key, int] = {}
        """Ids last seen under a key; each is checked before it is used. In an index whose keys can collide, every key
        that an object got since the last commit is among them."""
        self._found: dict[Any, E] = cache.found_by(index.key) if index.is_fixed else {}
        """Objects in memory that were looked for under a key that never changes."""
        self.slot = 0 if index.is_unique else index.table.ordered_indexes.index(index)
        """Which of an object's ranks is for this index."""
        self._unwritten = Unwritten(index, cache)
        self._pending = self._unwritten.ids
        """Ids of objects whose entry may be out of date; looked at before each answer."""
        self._written: dict[int, bytes | None] = {}
        """The entry, in the open transaction, of each object whose entry was changed there since the last commit."""
        self._version = 0
        """Grows whenever an entry changes."""
        self._searches = Searches()
        self._fronts: dict[tuple[bytes, bytes | None], Front[Any]] = {}
        """The first entries of ranges that were asked for, and what was made of their objects."""
        self._has_unseen_keys = False
        """Whether an object has got a key since the last flush that hints need not know, from an undo or cut."""
        self._absent: Key | None = None
        """The key that was last looked for in vain, until any object gets one: its object is often created next."""
        self._disk = disk
        self._database = database

    @property
    def mark(self) -> Callable[[int], None]:
        """Say that the entry of an object, by its id, may be out of date."""
        return self._unwritten.mark

    # -- entries

    def entry_of(self, image: E, ranks: Ranks) -> bytes:
        raw = self._encode_key(self.key(image))
        return raw if self._is_unique else raw + PACK_UINT64(ranks[self.slot] + SIGN)

    def entry(self, entity: E) -> bytes:
        """The entry of an object; while it is being edited, the one from before."""
        object_id = entity.id
        return self.entry_of(self.cache.indexed_as.get(object_id, entity), self.cache.ranks.get(object_id, ()))

    def _committed_entry(self, object_id: int) -> bytes | None:
        image, ranks = self.cache.committed[object_id]
        return None if image is None else self.entry_of(image, ranks)

    def mark_restored(self) -> None:
        """An undo is about to give keys back to objects."""
        self._has_unseen_keys = True
        self._absent = None

    def is_written(self, object_id: int) -> bool:
        """Whether the open transaction has another entry of an object than the last commit."""
        return object_id in self._written

    def flush(self) -> None:
        if not self._pending:
            return
        removed: list[bytes] = []
        added: list[KeyValue] = []
        cache, written, entry_of = self.cache, self._written, self.entry_of
        for object_id in set(self._pending):
            entity = cache.objects[object_id]
            if object_id in written:
                before = written[object_id]
            else:
                image, ranks = cache.committed[object_id]
                before = None if image is None else entry_of(image, ranks)
            after = None
            if entity is not None:
                after = entry_of(cache.indexed_as.get(object_id, entity), cache.ranks.get(object_id, ()))
            if before == after:
                continue
            written[object_id] = after
            if before is not None:
                removed.append(before)
            if after is not None:
                added.append((after, PACK_UINT64(object_id + SIGN)))
        self._unwritten.clear()
        self._has_unseen_keys = False
        if removed or added:
            self._version += 1
            added.sort()
            self._searches.forget(removed, added)
            for front in self._fronts.values():
                front.change(removed, added)
            self._disk.put_all(self._database, removed, added)

    def write_again(self, transaction: LmdbTransaction) -> None:
        if not self._written:
            return
        self._version += 1
        committed = [self._committed_entry(object_id) for object_id in self._written]
        removed = [entry for entry in committed if entry is not None]
        added = sorted(
            (entry, INT64.encode(object_id)) for object_id, entry in self._written.items() if entry is not None
        )
        put_all(transaction, self._database, removed, added)

    def mark_committed(self) -> None:
        self._version += 1
        self._written.clear()
        self._searches.firsts.clear()
        if self._pending:  # the order of ids is not flushed: the table itself was written
            self._unwritten.clear()
            self._searches.clear()

    def append(self, transaction: LmdbTransaction, items: list[KeyValue]) -> int | None:
        """Put entries behind all others, without a search; they are sorted. The id of the first whose key another
        object has.
        """
        _, added = transaction.cursor(self._database).putmulti(items, append=True)
        if added == len(items):
            return None
        return next(integer_of(raw) for entry, raw in items if transaction.get(entry, db=self._database) != raw)

    def mark_loaded(self) -> None:
        """Entries came past the store: what is remembered of them is out of date."""
        self._version += 1
        self._absent = None
        self._fronts.clear()
        self._searches.clear()

    # -- reading

    def id_of(self, key: Key) -> int | None:
        """The id of the object under a whole key of a unique index.

        Flushing before every answer would be slow where objects are created one by one: hints are asked first, then
        the open transaction as it is, and entries are flushed only when the object does not have the key. (Where
        another key may have the same entry, a missing hint says nothing.)
        """
        if key == self._absent:
            return None
        object_id = self.hints.get(key)
        if object_id is None and not self._has_unseen_keys and self.index.can_collide and self.index.is_whole(key):
            object_id = self._entered_id(key)
            if object_id is None:
                self._absent = key
                return None
        if object_id is not None:
            entity = self.cache.find(object_id)
            if entity is not None and self.key(entity) == key:
                self.hints[key] = object_id
                return object_id
        self.flush()
        return self._entered_id(key)

    def _entered_id(self, key: Key) -> int | None:
        """The id that the open transaction has under a key; None for a key that cannot be stored."""
        entry = searched_key(self.index, key)
        raw = None if entry is None else self._disk.transaction.get(entry, db=self._database)
        return None if raw is None else integer_of(raw)

    def finder(self, at: Callable[[Any], E]) -> Callable[[Any], E]:
        """Remember what a look-up under a key that never changes has found, for as long as that is in memory."""
        if not self.index.is_fixed:
            raise StoreMisuse(f"{self.index.title}: keys may change")
        found = self._found

        def find(part: Any) -> E:  # noqa: ANN401 - of the type that the index is for
            entity = found.get(part)
            if entity is None:
                entity = at(part)
                if self.key(entity) == (part,):  # and not one that has the same bytes
                    found[part] = entity
            return entity

        return find

    def trim_hints(self, count: int) -> None:
        if len(self.hints) > count:
            self.hints.clear()

    def entries(self) -> Iterator[KeyValue]:
        self.flush()
        return entries(self._disk.transaction, self._database, Range())

    def count(self) -> int:
        self.flush()
        entry_count: int = self._disk.transaction.stat(self._database)["entries"]
        return entry_count

    def leads_to(self, entry: bytes) -> int | None:
        if self._pending:
            self.flush()
        raw = self._disk.transaction.get(entry, db=self._database)
        return None if raw is None else integer_of(raw)

    def first(self, lower: Key, upper: Key) -> First | None:
        """The first entry of a range; the bounds are as in a scan.

        Each block asks this of all that may be due, so the answer is remembered: the first entry at or behind `lower`
        is the same until an entry changes. Where keys can be compared as they are, the bound is not even encoded.
        """
        if self._pending:
            if upper and self._is_nothing_there(lower, upper):
                return None
            self.flush()
        first = self._searches.firsts.get(lower, NOT_LOOKED_FOR)
        if first is NOT_LOOKED_FOR:
            first = self._first_behind(lower)
        if first is None or not upper:
            return first
        if first.key is not None and len(upper) <= self.index.natural_parts:
            return None if first.key[: len(upper)] > upper else first
        high = span(self.index, (), upper)[1]
        return first if high is None or first.entry < high else None

    def _is_nothing_there(self, lower: Key, upper: Key) -> bool:
        """Whether it can be told that a range is empty although entries are still to be written.

        So it is when the first written entry is known to lie behind the range, and all objects whose entries are out of
        date have keys outside of it. What is created for a later time is then written with the next commit, or never.
        """
        parts = self.index.natural_parts
        if len(lower) > parts or len(upper) > parts:
            return False
        first = self._searches.firsts.get(lower, NOT_LOOKED_FOR)
        if first is not None and (first.key is None or first.key[: len(upper)] <= upper):
            return False
        least = self._unwritten.least(lower)
        return least is None or least[: len(upper)] > upper

    def due_time(self, prefix: Key) -> DueTime:
        """Of the keys that begin with these parts."""
        return self._unwritten.due_time(prefix, lambda: self._known_time(prefix))

    def _known_time(self, prefix: Key) -> int:
        """What comes behind these parts in the first key that begins with them, or in an earlier one; 0 where that is
        not known without a search.
        """
        if len(prefix) >= self.index.natural_parts:
            return 0
        first = self._searches.firsts.get(prefix, NOT_LOOKED_FOR)
        if first is not None and first.key is None:
            return 0
        keys = (None if first is None else first.key, self._unwritten.least(prefix))
        place = len(prefix)
        return min((key[place] for key in keys if key is not None and key[:place] == prefix), default=NEVER)

    def _first_behind(self, lower: Key) -> First | None:
        low, _ = span(self.index, lower, ())
        found = first_entry(self._disk.transaction, self._database, Range(low))
        first = None
        if found is not None:
            object_id = integer_of(found[0] if self.is_by_id else found[1])
            first = First(found[0], object_id, self._indexed_key(object_id))
        self._searches.remember_first(lower, first)
        return first

    def _indexed_key(self, object_id: int) -> Key | None:
        """The key that an object has in the index: while it is being edited, the one from before. None where it is
        of no use, or the object would have to be read for it.
        """
        if self.is_by_id:
            return (object_id,)
        if not self.index.natural_parts:
            return None
        entity = self.cache.indexed_as.get(object_id) or self.cache.objects.get(object_id)
        return None if entity is None else self.key(entity)

    def front(self, low: bytes, high: bytes | None, count: int, derive: Callable[[E], T]) -> list[T]:
        if self._pending:
            self.flush()
        front: Front[T] | None = self._fronts.get((low, high))
        if front is None:
            if len(self._fronts) >= REMEMBERED:
                self._fronts.clear()
            front = self._fronts[low, high] = Front(low, high)
        present = self.cache.present
        return front.first(count, self._between, lambda object_id: derive(present(object_id)))

    def _between(self, low: bytes, high: bytes | None) -> Iterator[KeyValue]:
        return entries(self._disk.transaction, self._database, Range(low, high))

    def uncached(self, object_id: int) -> E:
        """An object that must exist, without keeping it in memory."""
        found = self.cache.uncached(object_id)
        return self.cache.present(object_id) if found is None else found[0]

    def scan(self, lower: Key, upper: Key) -> Iterator[E]:
        """The objects of a range from its beginning on. What begins with one key is often asked for again and again, as
        the votes of an account: these entries are remembered, too, until one changes. An end that is a time is not.
        """
        searches, bounds = self._searches, (lower, upper)
        known = searches.ranges.get(bounds)
        if known is not None and self._pending:
            self.flush()
            known = searches.ranges.get(bounds)
        if known is None:
            first = self.first(lower, upper)
            if first is None:
                return iter(())
            low, high = span(self.index, lower, upper)
            known = FirstEntries.read(first, Range(low, high), self._between(low, high))
            if lower == upper or not upper:
                searches.remember_range(bounds, known)
        return self.walk(known.limits, known=known, version=self._version)

    def walk(
        self,
        limits: Range,
        position: bytes | None = None,
        *,
        keeps: bool = True,
        known: FirstEntries | None = None,
        version: int = 0,
    ) -> Iterator[E]:
        """The objects of a range, kept in memory if asked. What the loop's body changes is seen: see `View.scan`.

        Where the first entries of the range are known, they are not read again, unless this is another version by now.
        """
        present = self.cache.present if keeps else self.uncached
        is_by_id, size = self.is_by_id, 0
        at_hand = self.cache.uncached_record if is_by_id and not keeps else None
        while True:
            if self._pending:
                self.flush()
            is_known, version = known is not None and self._version == version, self._version
            if known is not None and is_known:
                found, size = known.entries, known.size
            elif size:
                found = list(islice(entries(self._disk.transaction, self._database, limits, position), size))
            else:
                here = first_entry(self._disk.transaction, self._database, limits, position)
                found, size = ([] if here is None else [here]), 1
            known, gone = None, 0
            for entry, raw in found:
                position, object_id = entry, integer_of(entry if is_by_id else raw)
                yield (at_hand and at_hand(object_id, raw)) or present(object_id)
                if self._pending:
                    if self._is_only_removed(object_id, gone):
                        gone += 1
                        continue
                    self.flush()
                if self._version != version:
                    size = 0
                    break
            else:
                if len(found) < size:
                    return
                size = min(size * CHUNK_GROWTH, LARGEST_CHUNK)

    def walk_fields(self, read: Callable[[bytes], Any]) -> Iterator[E]:
        """All objects in the order of ids, of whose index this is: those in memory, and what is read of the others."""
        objects, derived, position = self.cache.objects, self.cache.form.derived, None
        while True:
            self.flush()
            found = list(islice(entries(self._disk.transaction, self._database, Range(), position), LARGEST_CHUNK))
            for entry, raw in found:
                object_id = integer_of(entry) if objects else -1
                entity = objects[object_id] if object_id in objects else derived(read, raw)
                if entity is not None:
                    yield entity
            if len(found) < LARGEST_CHUNK:
                return
            position = found[-1][0]

    def _is_only_removed(self, object_id: int, gone: int) -> bool:
        """Whether all that a walk has to know of is that its last object was removed, as so many before it: the
        entries behind these are the same, and nothing has to be written yet.
        """
        pending = self._pending
        is_all = len(pending) == gone + 1 and pending[gone] == object_id
        return is_all and self.cache.objects.get(object_id, self) is None

    # -- keys and ranks of objects that change

    def claim(self, entity: E, refusal: Callable[[], NotUnique]) -> None:
        """Take a key that another may have. `NotUnique`: another has it. `StoreMisuse`: it is too long to be stored."""
        key = self.key(entity)
        if not self.index.is_certain:
            self.index.entry_key(entity)
            found = self.id_of(key)
            if found == entity.id:  # from when it had this key before: another may have the bytes by now
                self.hints.pop(key, None)
                found = self.id_of(key)
            if found not in (None, entity.id):
                raise refusal()
        self.hints[key] = entity.id
        self._absent = None
        if not self.index.is_whole(key):
            self._has_unseen_keys = True

    def neighbours(self, here: bytes) -> tuple[bytes | None, bytes | None]:
        """The entries before and after a position; an entry at the position itself is passed over."""
        self.flush()
        return neighbours(self._disk.transaction, self._database, here)
