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
from ledgerd.state.ranges import Entry, Range, entries, first_entry
from ledgerd.state.tables import RANK_BYTES, E, Index, Key
from ledgerd.state.view import searched_key

if TYPE_CHECKING:
    from ledgerd.state.cache import TableCache

CHUNK_GROWTH = 4
LARGEST_CHUNK = 256
REMEMBERED_SEARCHES = 64


class IndexState(Generic[E]):
    """One index of an open store."""

    __slots__ = (
        "_disk",
        "_found",
        "_found_at",
        "cache",
        "database",
        "has_returned",
        "hints",
        "index",
        "key",
        "pending",
        "place",
        "version",
        "written",
    )

    def __init__(self, index: Index[E], cache: TableCache[E], disk: Disk, database: Database) -> None:
        self.index = index
        self.key = index.key
        self.place: int | None = None
        """Which of the indexes of its table this is; of an ordered one, also the slot of its ranks."""
        self.pending: set[int] = set()
        """Ids of objects whose entry may be behind."""
        self.version = 0
        """Grows whenever an entry changes."""
        self.written: dict[int, bytes | None] = {}
        """What the open transaction holds of objects whose entry differs, or differed, from the committed one."""
        self.hints: dict[Key, int] = {}
        """Ids last seen under a key; each is checked before it is believed. Between two commits every key that an
        object has got in an exclusive index is among them."""
        self.has_returned = False
        """Whether objects have got keys back by an undo: keys that no hint may know, until they are settled."""
        self.cache = cache
        self._disk = disk
        self._found: dict[bytes, bytes | None] = {}
        self._found_at = 0
        self.database = database

    @property
    def _slot(self) -> int:
        return self.place or 0

    # -- entries

    def _entry(self, entity: E, ranks: dict[int, tuple[int, ...]]) -> bytes:
        raw = self.index.encode_key(self.key(entity))
        return raw if self.index.is_unique else raw + INT64.encode(ranks[entity.id][self._slot])

    def entry(self, entity: E) -> bytes:
        """The entry of an object: while it is being edited, where it stood before."""
        return self._entry(self.cache.opened.get(entity.id, entity), self.cache.ranks)

    def _committed_entry(self, object_id: int) -> bytes | None:
        image = self.cache.dirty[object_id]
        if image is None:
            return None
        changed = self.cache.committed_ranks
        return self._entry(image, changed if object_id in changed else self.cache.ranks)

    def settle(self) -> None:
        """Bring the entries of the objects that moved up to date."""
        if not self.pending:
            return
        removed: list[bytes] = []
        added: list[Entry] = []
        for object_id in self.pending:
            entity = self.cache.objects[object_id]
            before = self.written[object_id] if object_id in self.written else self._committed_entry(object_id)
            after = None if entity is None else self.entry(entity)
            if before == after:
                continue
            self.written[object_id] = after
            if before is not None:
                removed.append(before)
            if after is not None:
                added.append((after, INT64.encode(object_id)))
        self.pending.clear()
        self.has_returned = False
        if removed or added:
            self.version += 1
            added.sort()
            self._disk.put_all(self.database, removed, added)

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
        self.pending.clear()  # the table itself is written whole, without settling its own order first

    # -- reading

    def id_under(self, key: Key) -> int | None:
        """The id of the object that stands under a whole key of a unique index.

        Settling for every question would be dear where objects come in one by one: so hints are asked first, and
        the open transaction as it is, and only what contradicts the object itself is settled. (Where keys that
        differ may stand for the same entry, a hint that is missing says nothing.)
        """
        object_id = self.hints.get(key)
        if object_id is None and self.index.is_exact and self.index.is_exclusive and not self.has_returned:
            object_id = self._entered(key)
            if object_id is None:
                return None
        if object_id is not None:
            entity = self.cache.find(object_id)
            if entity is not None and self.key(entity) == key:
                self.hints[key] = object_id
                return object_id
        self.settle()
        return self._entered(key)

    def _entered(self, key: Key) -> int | None:
        """The id that the open transaction holds under a key; nothing for a key that cannot be stored."""
        entry = searched_key(self.index, key)
        raw = None if entry is None else self._disk.transaction.get(entry, db=self.database)
        return None if raw is None else integer_of(raw)

    def entries(self) -> Iterator[Entry]:
        """All entries, up to date."""
        self.settle()
        return entries(self._disk.transaction, self.database, Range())

    def is_empty(self, low: bytes, high: bytes | None) -> bool:
        """Whether nothing stands in a range. Asked in every block of what may be due, so the answer is remembered:
        the first entry at or behind `low` stays what it is until an entry changes.
        """
        if self.pending:
            self.settle()
        if self._found_at != self.version or len(self._found) > REMEMBERED_SEARCHES:
            self._found.clear()
            self._found_at = self.version
        try:
            entry = self._found[low]
        except KeyError:
            head = first_entry(self._disk.transaction, self.database, Range(low))
            entry = self._found[low] = None if head is None else head[0]
        return entry is None or (high is not None and entry >= high)

    def walk(self, span: Range, position: bytes | None = None) -> Iterator[E]:
        """The objects of a range. What the loop's body changes is seen: see `View.scan`."""
        present, size = self.cache.present, 0
        is_by_id = self.index is self.index.table.by_id
        while True:
            self.settle()
            version = self.version
            if size:
                found = list(islice(entries(self._disk.transaction, self.database, span, position), size))
            else:
                head = first_entry(self._disk.transaction, self.database, span, position)
                found, size = ([] if head is None else [head]), 1
            for entry, object_id in found:
                position = entry
                yield present(integer_of(entry if is_by_id else object_id))
                if self.pending:
                    self.settle()
                if self.version != version:
                    size = 0
                    break
            else:
                if len(found) < size:
                    return
                size = min(size * CHUNK_GROWTH, LARGEST_CHUNK)

    # -- places

    def admit(self, entity: E) -> None:
        """Refuse a new object whose key is taken, and one whose key cannot be stored."""
        key = self.key(entity)
        self.index.entry_key(entity)  # must be one that can be stored
        if self.id_under(key) is not None:
            raise NotUnique.on_create()
        self.hints[key] = entity.id

    def move(self, entity: E, standing: E) -> None:
        """The key of an object is no longer the one it stands under: give it its new place, or refuse the key."""
        if self.index.is_exclusive:
            key = self.key(entity)
            self.index.entry_key(entity)  # must be one that can be stored
            if self.id_under(key) not in (None, entity.id):
                raise NotUnique.on_edit()
            self.hints[key] = entity.id
        elif not self.index.is_unique:
            old, new = self.index.entry_key(standing), self.index.entry_key(entity)
            rank = self.cache.ranks[entity.id][self._slot]
            changed = rank if old == new else self._rank_at(old + INT64.encode(rank), new, rank)
            if changed != rank:
                self.cache.rerank(entity.id, self._slot, changed)

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
