"""An index at work: which entries the open transaction holds, which of them are behind, and who stands where.

Entries are brought up to date lazily, by `settle`, before the index is next read. The place of an object among
equal keys (its rank) is decided at once, when the object is put in or changed (spec 02, section 2.3).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Generic

from ledgerd.state.disk import Database, Disk
from ledgerd.state.errors import NotUnique
from ledgerd.state.keys import INT64, integer_of
from ledgerd.state.ranges import Entry, Range, entries
from ledgerd.state.tables import RANK_BYTES, E, Index, Key

if TYPE_CHECKING:
    from ledgerd.state.cache import TableCache

CHUNK_GROWTH = 4
LARGEST_CHUNK = 256


class IndexState(Generic[E]):
    """One index of an open store."""

    __slots__ = (
        "_disk",
        "_seen",
        "cache",
        "database",
        "hints",
        "index",
        "key",
        "place",
        "version",
        "written",
    )

    def __init__(self, index: Index[E], cache: TableCache[E], disk: Disk, database: Database) -> None:
        self.index = index
        self.key = index.key
        self.place: int | None = None
        """Which of the watched indexes of its table this is; of an ordered one, also the slot of its ranks."""
        self.version = 0
        """Grows whenever an entry changes."""
        self.written: dict[int, bytes | None] = {}
        """What the open transaction holds of objects whose entry differs, or differed, from the committed one."""
        self.hints: dict[Key, int] = {}
        """Ids last seen under a key; each is checked before it is believed."""
        self.cache = cache
        self._disk = disk
        self.database = database
        self._seen = 0

    @property
    def _slot(self) -> int:
        return self.place or 0

    # -- entries

    def _entry(self, entity: E, ranks: dict[int, tuple[int, ...]], key: Key | None = None) -> bytes:
        raw = self.index.encode_key(self.key(entity) if key is None else key)
        return raw if self.index.is_unique else raw + INT64.encode(ranks[entity.id][self._slot])

    def entry(self, entity: E) -> bytes:
        """The entry that an object has now: while it is being edited, where it stood before."""
        key = None
        if self.place is not None:
            opened = self.cache.opened.get(entity.id)
            key = opened[self.place] if opened else None
        return self._entry(entity, self.cache.ranks, key)

    def _committed_entry(self, object_id: int) -> bytes | None:
        image = self.cache.dirty[object_id]
        if image is None:
            return None
        changed = self.cache.committed_ranks
        return self._entry(image, changed if object_id in changed else self.cache.ranks)

    def settle(self) -> None:
        """Bring the entries of all objects that changed since the last time up to date."""
        cache, log = self.cache, self.cache.log
        if self._seen == len(log):
            return
        changed = set(log[self._seen :])
        self._seen = len(log)
        removed: list[bytes] = []
        added: list[Entry] = []
        for object_id in changed:
            entity, image = cache.objects[object_id], cache.dirty[object_id]
            if object_id in self.written:
                before = self.written[object_id]
            elif entity is not None and image is not None and self._is_in_place(object_id, entity, image):
                continue
            else:
                before = self._committed_entry(object_id)
            after = None if entity is None else self.entry(entity)
            if before == after:
                continue
            self.written[object_id] = after
            if before is not None:
                removed.append(before)
            if after is not None:
                added.append((after, INT64.encode(object_id)))
        if removed or added:
            self.version += 1
            added.sort()
            self._disk.put_all(self.database, removed, added)

    def _is_in_place(self, object_id: int, entity: E, image: E) -> bool:
        return (
            object_id not in self.cache.opened
            and object_id not in self.cache.committed_ranks
            and self.key(entity) == self.key(image)
        )

    def rewritten(self) -> tuple[list[bytes], list[Entry]]:
        """What a new transaction must be told after the last one was given up: entries that go, and that come."""
        self.version += 1
        committed = [self._committed_entry(object_id) for object_id in self.written]
        removed = [entry for entry in committed if entry is not None]
        added = sorted(
            (entry, INT64.encode(object_id)) for object_id, entry in self.written.items() if entry is not None
        )
        return removed, added

    def forget(self) -> None:
        """All is committed: nothing is behind, and nothing differs."""
        self.version += 1
        self.written.clear()
        self._seen = 0

    # -- reading

    def holder(self, entry: bytes) -> int | None:
        """The id under an entry of a unique index."""
        self.settle()
        raw = self._disk.transaction.get(entry, db=self.database)
        return None if raw is None else integer_of(raw)

    def entries(self) -> Iterator[Entry]:
        """All entries, up to date."""
        self.settle()
        return entries(self._disk.transaction, self.database, Range())

    def walk(self, span: Range) -> Iterator[E]:
        """The objects of a range. What the loop's body changes is seen: see `View.scan`."""
        present, log, size = self.cache.present, self.cache.log, 1
        is_by_id = self.index is self.index.table.by_id
        while True:
            self.settle()
            version = self.version
            found = list(islice(entries(self._disk.transaction, self.database, span), size))
            for entry, object_id in found:
                span = span._replace(position=entry)
                yield present(integer_of(entry if is_by_id else object_id))
                if self._seen != len(log):
                    self.settle()
                if self.version != version:
                    size = 1
                    break
            else:
                if len(found) < size:
                    return
                size = min(size * CHUNK_GROWTH, LARGEST_CHUNK)

    # -- places

    def admit(self, entity: E) -> None:
        """Refuse a new object whose key is taken, and one whose key cannot be stored."""
        key = self.key(entity)
        if self.holder(self.index.entry_key(entity)) is not None:
            raise NotUnique.on_create()
        self.hints[key] = entity.id

    def move(self, entity: E, before: Key, after: Key) -> None:
        """The key of an object has changed: give it its new place, or refuse the key."""
        old, new = self.index.encode_key(before), self.index.entry_key(entity)
        if old == new:
            return
        if self.index.is_unique:
            if self.holder(new) not in (None, entity.id):
                raise NotUnique.on_edit()
            self.hints[after] = entity.id
            return
        cache = self.cache
        rank = cache.ranks[entity.id][self._slot]
        changed = self._rank_at(old + INT64.encode(rank), new, rank)
        if changed != rank:
            cache.rerank(entity.id, self._slot, changed)

    def _rank_at(self, here: bytes, new: bytes, rank: int) -> int:
        """The rank under a new key, by rule 2 of spec 02, section 2.3."""
        previous, following = self._neighbours(here)
        if (previous is None or previous[:-RANK_BYTES] <= new) and (
            following is None or new <= following[:-RANK_BYTES]
        ):
            if following is not None and following[:-RANK_BYTES] == new:
                return rank_of(following) - 1
            if previous is None or previous[:-RANK_BYTES] < new:
                return rank
        return self.cache.new_rank(self._slot)

    def _neighbours(self, here: bytes) -> tuple[bytes | None, bytes | None]:
        """The entries before and after a place; an entry at the place itself is passed over."""
        self.settle()
        cursor = self._disk.transaction.cursor(self.database)
        following: bytes | None = None
        if cursor.set_range(here):
            following = cursor.key()
            if following == here:
                following = cursor.key() if cursor.next() else None
            cursor.set_range(here)
            previous = cursor.key() if cursor.prev() else None
        else:
            previous = cursor.key() if cursor.last() else None
        return previous, following


def rank_of(entry: bytes) -> int:
    """The rank at the end of an entry of an ordered index."""
    return integer_of(entry[-RANK_BYTES:])
