"""The state of the node, as its one writer sees it: objects, sessions and the durable commit.

Belongs to one thread. What it holds between commits is in memory; the file is always that of the last commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import lmdb

from ledgerd.state.cache import TableCache
from ledgerd.state.disk import Disk, Space, Transaction, put_all
from ledgerd.state.editing import Editing
from ledgerd.state.errors import StoreMisuse, unreadable
from ledgerd.state.header import Header, database_names
from ledgerd.state.indexing import IndexState
from ledgerd.state.journal import decode_session, encode_session
from ledgerd.state.keys import INT64
from ledgerd.state.lock import lock_writer
from ledgerd.state.ranges import Range
from ledgerd.state.reader import Forms, Snapshot
from ledgerd.state.sessions import Records, Session, SessionStack
from ledgerd.state.tables import E, Entity, Index, Key, Table
from ledgerd.state.verify import verify
from ledgerd.state.view import Source, View, span

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

JOURNAL = "journal"
CACHED_OBJECTS = 100_000


class Store(View):
    """The tables of a folder, open for writing."""

    def __init__(self, folder: Path, tables: Sequence[Table[Any]], space: Space, cached: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._cached = cached
        self._lock = lock_writer(folder)
        try:
            self._disk = Disk(folder, space)
            self._open(tuple(tables))
        except BaseException:
            self._lock.close()
            raise

    @classmethod
    def open(
        cls,
        path: Path | str,
        tables: Sequence[Table[Any]],
        *,
        space: Space = Space(),  # noqa: B008 - immutable
        cached: int = CACHED_OBJECTS,
    ) -> Store:
        """Open a state for writing, or begin one.

        Args:
            path: Its folder.
            tables: All tables it holds.
            space: Hints for the size of the file.
            cached: How many decoded objects may stay in memory after a commit.

        Raises:
            StorageError: It is locked, damaged, of another layout, or cannot be read; the text says what to do.
        """
        return cls(Path(path), tables, space, cached)

    def _open(self, tables: tuple[Table[Any], ...]) -> None:
        try:
            databases = self._disk.open_databases((*database_names(tables), JOURNAL))
            self._header = Header(self._disk, databases, tables)
            self._disk.commit()
        except BaseException:
            self._disk.close()
            raise
        self._databases = databases
        self._journal = databases[JOURNAL]
        self._stack = SessionStack()
        sessions = self._stack.sessions
        self._caches = {table: TableCache(table, self._disk, databases, sessions) for table in tables}
        self._by_record: dict[type[Entity], TableCache[Any]] = {
            table.record: cache for table, cache in self._caches.items()
        }
        self._indexes: dict[Index[Any], IndexState[Any]] = {
            state.index: state for cache in self._caches.values() for state in cache.all_indexes()
        }
        self._sources: dict[Source[Any], IndexState[Any]] = {table: each.by_id for table, each in self._caches.items()}
        for index, state in self._indexes.items():
            self._sources[index] = state
        for cache in self._caches.values():
            self._header.load_counters(cache)
        self._disk.on_begin(self._write_again)
        self._load_sessions()

    # -- reading

    def find(self, table: Table[E], object_id: int) -> E | None:
        cache: TableCache[E] = self._caches[table]
        entity = cache.objects.get(object_id)
        return cache.load(object_id) if entity is None else entity

    def objects(self, table: Table[E]) -> Mapping[int, E | None]:
        """The decoded objects of a table, by id, as they are in memory: for the few tables that are read all the time.

        What is not there may still be on the disk: `get` knows.
        """
        cache: TableCache[E] = self._caches[table]
        return cache.objects

    def lookup(self, index: Index[E], *key: Any) -> E | None:  # noqa: ANN401 - as declared by the index
        state: IndexState[E] = self._indexes[index]
        object_id = state.hints.get(key)
        if object_id is not None:
            entity = state.cache.objects.get(object_id)
            if entity is not None and state.key(entity) == key:
                return entity
        return self._search(state, key)

    def _search(self, state: IndexState[E], key: Key) -> E | None:
        index = state.index
        if not index.is_unique or len(key) < len(index.order):
            return self.first(index, lower=key, upper=key)
        object_id = state.id_under(key)
        if object_id is None:
            return None
        state.hints[key] = object_id
        return state.cache.present(object_id)

    def scan(
        self,
        source: Source[E],
        *,
        lower: Key = (),
        upper: Key = (),
        reverse: bool = False,
        after: E | None = None,
    ) -> Iterator[E]:
        state = self._state(source)
        low, high = span(state.index, lower, upper)
        if after is None and not reverse and state.is_empty(low, high):
            return iter(())
        position = None if after is None else state.entry(after)
        return state.walk(Range(low, high, reverse), position)

    def position(self, source: Source[E], entity: E) -> bytes:
        return self._state(source).entry(entity)

    def _state(self, source: Source[E]) -> IndexState[E]:
        return self._sources[source]

    def meta(self, name: str) -> bytes | None:
        return self._header.values.get(name)

    def next_id(self, table: Table[Any]) -> int:
        return self._caches[table].next_id

    @property
    def revision(self) -> int:
        return self._stack.revision

    @contextmanager
    def committed(self) -> Iterator[View]:
        """The last commit, its objects decoded anew and kept nowhere: for a walk that is not to fill the memory.

        Keep it short, and leave the store as it is meanwhile.
        """
        with self._disk.environment.begin() as transaction:
            forms: Forms = {table: cache.record for table, cache in self._caches.items()}
            yield Snapshot(transaction, self._databases, forms, {})

    # -- changing

    def create(self, table: Table[E], entity: E) -> E:
        """Take a new object in; it gets the next id. `NotUnique` when another has one of its keys."""
        cache: TableCache[E] = self._caches[table]
        return cache.create(entity)

    def remove(self, entity: Entity) -> None:
        """Take an object out."""
        self._by_record[type(entity)].remove(entity)

    def editing(self, *entities: Entity) -> Editing:
        """A context in which these objects may be changed; they find their new places one after the other."""
        return Editing(self._by_record, entities)

    def set_next_id(self, table: Table[Any], object_id: int) -> None:
        """Give ids from here on, as an import does; only while there are no sessions, and never an id again."""
        cache = self._caches[table]
        if self._stack.sessions or object_id < cache.next_id:
            raise StoreMisuse(f"the next id of {table.title} cannot be set to {object_id}")
        cache.next_id = object_id

    def set_meta(self, name: str, value: bytes) -> None:
        """Set a named value, outside of all sessions, to be stored with the next commit."""
        self._header.set_value(name, value)

    # -- sessions

    def begin(self, *, replays_ties: bool = False) -> Session:
        """Begin a session on top of those that are open.

        Its undo is exact, places among equal keys included. With `replays_ties` it gives the places that the
        reference's undo gives: for sessions inside a block, where they are consensus (spec 02, section 2.5).
        """
        return self._stack.begin(replays_ties=replays_ties)

    def undo(self) -> None:
        """Take the newest session back, pushed or not: the last block."""
        if not self._stack.sessions:
            raise StoreMisuse("there is no session to undo")
        self._stack.undo(self._stack.sessions[-1])

    @property
    def undoable(self) -> int:
        """How many sessions can be undone."""
        return len(self._stack.sessions)

    def set_revision(self, revision: int) -> None:
        """Count revisions from here; only while there are no sessions."""
        self._stack.set_revision(revision)

    def irreversible(self, revision: int) -> None:
        """Forget how to undo sessions up to this revision."""
        self._stack.drop_until(revision)

    def _load_sessions(self) -> None:
        cursor = self._disk.transaction.cursor(self._journal)
        keys = list(cursor.iternext(keys=True, values=False))
        self._stack.set_revision(self._header.revision - len(keys))
        for key in keys:
            self._stack.begin(replays_ties=False).keep_asleep(partial(self._read_session, key))
        if self._stack.sessions:
            self._stack.sessions[-1].wake()

    def _read_session(self, key: bytes) -> Records:
        raw = self._disk.transaction.get(key, db=self._journal)
        if raw is None:
            raise unreadable(f"{self._disk.folder}: the journal of a block is missing")
        return decode_session(raw, self._caches.values())

    # -- commit

    def commit(self) -> None:
        """Make all changes durable at once, with the journal of the sessions that can be undone.

        A failure leaves the file as it was, and what is in memory too: the commit may be tried again.
        """
        if any(session.is_open for session in self._stack.sessions):
            raise StoreMisuse("a commit stands between blocks: push, squash or undo the open session first")
        dirty = {cache: cache.dirty.keys() for cache in self._caches.values() if cache.dirty}
        if dirty and self._stack.sessions:
            self._stack.sessions[-1].is_stored = False
        while True:
            try:
                self._write()
                self._disk.commit()
                break
            except lmdb.MapFullError:
                self._disk.grow()
            except (lmdb.Error, OSError) as error:
                self._disk.fail(error)
            except BaseException:
                self._disk.abort()
                raise
        self._committed()

    def _write(self) -> None:
        for state in self._indexes.values():
            if state is not state.cache.by_id:
                state.settle()
        transaction = self._disk.transaction
        for revision in self._stack.dropped:
            transaction.delete(INT64.encode(revision), db=self._journal)
        for session in self._stack.sessions:
            if not session.is_stored:
                key, journal = INT64.encode(session.revision), encode_session(session.records)
                transaction.put(key, journal, db=self._journal)
        for cache in self._caches.values():
            cache.write(transaction)
        self._header.write(transaction, self._caches.values(), self._stack.revision)

    def _write_again(self, transaction: Transaction) -> None:
        for state in self._indexes.values():
            if state.written:
                put_all(transaction, state.database, *state.rewritten())

    def _committed(self) -> None:
        self._stack.dropped.clear()
        for session in self._stack.sessions:
            session.is_stored = True
        self._header.committed(self._caches.values(), self._stack.revision)
        caches = sorted(self._caches.values(), key=lambda cache: len(cache.objects), reverse=True)
        excess = sum(len(cache.objects) for cache in caches) - self._cached
        for cache in caches:
            recent = set(cache.dirty) if excess > 0 else set()
            cache.forget()
            if excess > 0:
                excess -= cache.evict(excess + self._cached // 8, recent)

    # -- care

    def verify(self) -> list[str]:
        """What is wrong between objects and indexes: nothing, in a sound state."""
        return verify(self._caches.values())

    def close(self) -> None:
        """Let the folder go; what was not committed is lost."""
        self._disk.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
