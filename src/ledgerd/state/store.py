"""The store: the state as its one writer reads and changes it, with sessions and the durable commit.

A store belongs to one thread. Changes between commits are in memory; the file is always that of the last commit.
`docs/state-store.md` explains how it works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ledgerd.basics.closing import Closing, on_error
from ledgerd.state.errors import StoreMisuse, UnknownKey
from ledgerd.state.files.committing import Committing
from ledgerd.state.files.disk import Database, Disk, Space
from ledgerd.state.files.header import HEADER, Header, database_names, require_known
from ledgerd.state.files.lock import lock_writer
from ledgerd.state.files.ranges import Range
from ledgerd.state.loading import Loading, LoadingLimits
from ledgerd.state.memory.cache import ObjectCache
from ledgerd.state.memory.due_times import DueTime
from ledgerd.state.memory.editing import Edit, Editing, Editor, Rememberer, recording_editor
from ledgerd.state.memory.open_index import OpenIndex
from ledgerd.state.memory.open_table import OpenTable
from ledgerd.state.memory.open_tables import OpenTables
from ledgerd.state.memory.uncached import UncachedView
from ledgerd.state.sessions.journal import JOURNAL, Journal
from ledgerd.state.sessions.sessions import Session, SessionStack
from ledgerd.state.tables.records import Row
from ledgerd.state.tables.tables import E, Entity, Index, Key, Table
from ledgerd.state.verify import verify
from ledgerd.state.views.reader import MOST_DERIVED, CommitView, Derivations, Forms
from ledgerd.state.views.view import TableOrIndex, View, span

T = TypeVar("T")

CACHED_OBJECTS = 100_000


class Store(View, Closing):
    """The tables of a folder, open for writing."""

    def __init__(self, folder: Path, tables: Sequence[Table[Any]], space: Space, cached: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._cached = cached
        self._lock = lock_writer(folder)
        with on_error(self._lock.close):
            self._disk = Disk(folder, space)
            self._open(tuple(tables))

    @classmethod
    def open(
        cls,
        path: Path | str,
        tables: Sequence[Table[Any]],
        *,
        space: Space = Space(),  # noqa: B008 - immutable
        cached: int = CACHED_OBJECTS,
    ) -> Store:
        """Open a state for writing; an empty folder becomes a new state. `StorageError`: it is locked, damaged, of
        another layout, or cannot be read. The space is a hint for the size of the file, and says where what commits
        change is written too; so many decoded objects may stay in memory after a commit.
        """
        return cls(Path(path), tables, space, cached)

    def _open(self, tables: tuple[Table[Any], ...]) -> None:
        with on_error(self._disk.close):
            (header,) = self._disk.open_databases((HEADER,)).values()
            require_known(self._disk.transaction, header, str(self._disk.folder))
            databases = self._disk.open_databases((*database_names(tables), JOURNAL))
            self._header = Header(self._disk, databases, tables)
            self._disk.commit()
            self._committing = Committing(self._disk, self._header)
            self._committing.begin(tables, databases)
        self._assemble(tables, databases)

    def _assemble(self, tables: tuple[Table[Any], ...], databases: dict[str, Database]) -> None:
        self._databases = databases
        self.commits = 0
        """How often something was made durable since the start."""
        self._journal = Journal(self._disk, databases[JOURNAL], tables)
        self._stack = SessionStack(self._restore)
        sessions = self._stack.sessions
        self._tables = {table: OpenTable(table, self._disk, databases, sessions) for table in tables}
        self._by_record: dict[type[Entity], OpenTable[Any]] = {
            table.record: opened for table, opened in self._tables.items()
        }
        self._indexes: dict[TableOrIndex[Any], OpenIndex[Any]] = {
            table: opened.by_id for table, opened in self._tables.items()
        }
        for table, opened in self._tables.items():
            for each in opened.all_indexes:
                self._indexes[each.index] = each
            counters = self._header.counters(table)
            if counters is not None:
                opened.set_counters(counters[0], counters[1:])
        self._opened = OpenTables(self._tables.values(), self._cached)
        self._disk.on_begin(self._opened.write_again)
        self._journal.load(self._stack, self._header.revision)

    # -- reading

    def find(self, table: Table[E], object_id: int) -> E | None:
        cache: ObjectCache[E] = self._tables[table].cache
        entity = cache.objects.get(object_id)
        return cache.load(object_id) if entity is None else entity

    def get(self, table: Table[E], object_id: int) -> E:
        cache: ObjectCache[E] = self._tables[table].cache
        entity = cache.objects.get(object_id) or cache.load(object_id)
        if entity is None:
            raise UnknownKey
        return entity

    def objects(self, table: Table[E]) -> Mapping[int, E | None]:
        """The decoded objects of a table, by id, as they are in memory: for the few tables that are read all the time.

        An object that is missing here may still be in the file: `get` finds it.
        """
        opened: OpenTable[E] = self._tables[table]
        return opened.cache.objects

    def lookup(self, index: Index[E], *key: Any) -> E | None:  # noqa: ANN401 - as declared by the index
        opened: OpenIndex[E] = self._indexes[index]
        object_id = opened.hints.get(key)
        if object_id is not None:
            entity = opened.cache.objects.get(object_id)
            if entity is not None and opened.key(entity) == key:
                return entity
        return self._search(opened, key)

    def at(self, index: Index[E], *key: Any) -> E:  # noqa: ANN401 - as declared by the index
        opened: OpenIndex[E] = self._indexes[index]
        object_id = opened.hints.get(key)
        if object_id is not None:
            entity = opened.cache.objects.get(object_id)
            if entity is not None and opened.key(entity) == key:
                return entity
        found = self._search(opened, key)
        if found is None:
            raise UnknownKey
        return found

    def finder(self, index: Index[E]) -> Callable[[Any], E]:
        """`at` for an index whose keys never change, in a third of the time: for what is asked all the time."""
        opened: OpenIndex[E] = self._indexes[index]
        return opened.finder(partial(self.at, index))

    def at_each(self, index: Index[E], keys: Iterable[Any]) -> list[E]:
        """What `at` gives for each of these keys, which have one part."""
        opened: OpenIndex[E] = self._indexes[index]
        hints, objects, key_of = opened.hints, opened.cache.objects, opened.key
        found = []
        for key in keys:
            entity = objects.get(hints.get((key,), -1))
            found.append(entity if entity is not None and key_of(entity) == (key,) else self.at(index, key))
        return found

    def _search(self, opened: OpenIndex[E], key: Key) -> E | None:
        index = opened.index
        if not index.is_unique or len(key) < len(index.order):
            return self.first(index, lower=key, upper=key)
        if index is index.table.by_id:
            return opened.cache.find(key[0])
        object_id = opened.id_of(key)
        if object_id is None:
            return None
        opened.hints[key] = object_id
        return opened.cache.present(object_id)

    def scan(
        self,
        source: TableOrIndex[E],
        *,
        lower: Key = (),
        upper: Key = (),
        reverse: bool = False,
        after: E | None = None,
    ) -> Iterator[E]:
        opened: OpenIndex[E] = self._indexes[source]
        if after is None and not reverse:
            return opened.scan(lower, upper)
        low, high = span(opened.index, lower, upper)
        position = None if after is None else opened.entry(after)
        return opened.walk(Range(low, high, reverse), position)

    def first(self, source: TableOrIndex[E], *, lower: Key = (), upper: Key = (), reverse: bool = False) -> E | None:
        if reverse:
            return next(self.scan(source, lower=lower, upper=upper, reverse=True), None)
        opened: OpenIndex[E] = self._indexes[source]
        first = opened.first(lower, upper)
        return None if first is None else opened.cache.present(first.object_id)

    def front(
        self, index: Index[E], count: int, derive: Callable[[E], T], *, lower: Key = (), upper: Key = ()
    ) -> list[T]:
        """What a function makes of each of the first objects of a scan, so many at most.

        It is remembered until the entry of the object changes, so it may depend on nothing that changes while the
        object's key stays, and must be the same function each time.
        """
        opened: OpenIndex[E] = self._indexes[index]
        return opened.front(*span(opened.index, lower, upper), count, derive)

    def oldest(self, table: Table[E]) -> E | None:
        """The object of a table with the least id."""
        opened: OpenTable[E] = self._tables[table]
        return opened.oldest()

    def due_time(self, index: Index[E], prefix: Key = ()) -> DueTime:
        """When the first object is due whose key begins with these parts, behind which comes the time."""
        opened: OpenTable[E] = self._tables[index.table]
        return opened.due_time(index, prefix)

    def position(self, source: TableOrIndex[E], entity: E) -> bytes:
        return self._indexes[source].entry(entity)

    def meta(self, name: str) -> bytes | None:
        return self._header.values.get(name)

    def next_id(self, table: Table[Any]) -> int:
        return self._tables[table].next_id

    @property
    def revision(self) -> int:
        return self._stack.revision

    @property
    def folder(self) -> Path:
        return self._disk.folder

    @property
    def space(self) -> Space:
        return self._disk.space

    @property
    def uncached(self) -> View:
        """The state as it is now, for a walk over more objects than should stay in memory: none of them may be edited.

        What is scanned is kept in memory only if it is there already.
        """
        return UncachedView(self, self._indexes)

    @contextmanager
    def committed(self) -> Iterator[CommitView]:
        """The last commit, read without the cache: for a walk over more objects than should stay in memory.

        Keep it short, and do not change the store meanwhile.
        """
        with self._disk.environment.begin() as transaction:
            forms: Forms = {table: opened.cache.form for table, opened in self._tables.items()}
            yield CommitView(transaction, self._databases, forms, Derivations(MOST_DERIVED))

    def find_at(self, table: Table[E], object_id: int, revision: int) -> E | None:
        """An object as it was at a revision that can still be gone back to; not to be changed."""
        return self._stack.value_at(table, object_id, revision, self.find(table, object_id))

    def removed_since(self, table: Table[E], revision: int) -> Iterator[E]:
        return self._stack.removed_since(table, revision)

    def last_changes(self, table: Table[E]) -> Iterator[tuple[E | None, E | None]]:
        """What the newest session has changed in a table: each object as it was before, and as it is now."""
        opened: OpenTable[E] = self._tables[table]
        return opened.last_changes()

    @contextmanager
    def beside(self) -> Iterator[Store]:
        """A store of its own over the last commit, to be changed as one likes: nothing of it ever becomes durable.

        A file has one writer: before the other one is used, either has to `rest`; and a commit of this one ends the use
        of that one.
        """
        other = StoreBeside(self._disk.beside(), self._databases, tuple(self._tables), self._cached)
        try:
            yield other
        finally:
            other.close()

    def rest(self) -> None:
        """Let another store of the file write; what is not committed here is written again when it is needed."""
        self._disk.abort()

    # -- changing

    def create(self, table: Table[E], entity: E) -> E:
        """Add a new object; it gets the next id. `NotUnique` when another object has one of its keys."""
        opened: OpenTable[E] = self._tables[table]
        return opened.create(entity)

    def create_all(self, table: Table[E], entities: Sequence[E]) -> None:
        """Add new objects, one after the other."""
        opened: OpenTable[E] = self._tables[table]
        opened.create_all(entities)

    def remove(self, entity: Entity) -> None:
        self._by_record[type(entity)].remove(entity)

    def remove_oldest(self, table: Table[E], is_over: Callable[[E], bool]) -> E | None:
        """Remove objects of a table without indexes, the least id first, while each is over; the first that is not."""
        opened: OpenTable[E] = self._tables[table]
        return opened.remove_oldest(is_over)

    def editing(self, entity: Entity, *others: Entity) -> Edit[Any] | Editing:
        """A context in which these objects may be changed; at its end their keys are compared one after the other."""
        if not others:
            return Edit(self._by_record[type(entity)], entity)
        return Editing([Edit(self._by_record[type(each)], each) for each in (entity, *others)])

    def remember(self, entity: Entity) -> None:
        """Call it before fields of an object are assigned of which no key is made: `editing` compares keys, and takes
        three times as long. An error behind it is for the session to undo.
        """
        sessions = self._stack.sessions
        if not sessions or id(entity) not in sessions[-1].kept:
            self._by_record[type(entity)].remember(entity)

    def recording(
        self, table: Table[E], touched: dict[int, tuple[E, T]], read: Callable[[E], T]
    ) -> tuple[Editor, Rememberer]:
        """`editing` and `remember`, which also record, once, each object of a table with what is read of it before the
        change.
        """
        return recording_editor(self._by_record, table.record, touched, read, self.remember)

    def set_meta(self, name: str, value: bytes) -> None:
        """Set a named value, outside of all sessions, to be stored with the next commit."""
        self._header.set_value(name, value)

    @contextmanager
    def loading(self, limits: LoadingLimits = LoadingLimits()) -> Iterator[Loading]:  # noqa: B008 - immutable
        """A context in which a new state gets its rows all at once; they are committed at its end.

        After an error in it the store is of no use, and its file is refused.
        """
        if self.revision or any(opened.next_id or opened.cache.committed for opened in self._tables.values()):
            raise StoreMisuse("rows can be loaded into a new state only")
        loading = Loading(self._disk, self._header, self._tables.values(), limits)
        try:
            yield loading
            loading.finish()
        finally:
            loading.close()
        self.commit()

    # -- sessions

    def begin(self, *, replays_ties: bool = False, revision: int | None = None) -> Session:
        """Begin a session on top of those that are open, of the next revision or of a later one.

        Its undo is exact, the order of equal keys included. With `replays_ties` equal keys get the order that the
        reference's undo gives them: for sessions inside a block, where that is consensus (spec 02, section 2.5).
        """
        return self._stack.begin(revision, replays_ties=replays_ties)

    def undo(self) -> None:
        """Undo the newest session, pushed or not: the last block."""
        if not self._stack.sessions:
            raise StoreMisuse("there is no session to undo")
        self._stack.undo(self._stack.sessions[-1])

    @property
    def undoable(self) -> int:
        return len(self._stack.sessions)

    @property
    def oldest_revision(self) -> int:
        """The least revision that can still be gone back to."""
        return self._stack.base

    def set_revision(self, revision: int) -> None:
        """Count revisions from here; only while there are no sessions."""
        self._stack.set_revision(revision)

    def irreversible(self, revision: int) -> None:
        self._stack.drop_until(revision)

    def changed_rows(self, session: Session) -> list[Row]:
        """Every object that a session has changed, as it is now: for the overlay of a reader in another process."""
        return [row for table, undo in session.changes.items() for row in self._tables[table].rows(undo)]

    def _restore(self, session: Session) -> None:
        for table, undo in session.changes.items():
            if session.replays_ties:
                self._tables[table].replay(undo)
            else:
                self._tables[table].restore(undo)

    # -- commit

    def commit(self) -> None:
        """Make all changes durable at once, with the journal of the sessions that can be undone.

        A failure leaves the file as it was, and what is in memory too: the commit may be tried again.
        """
        if any(session.is_open for session in self._stack.sessions):
            raise StoreMisuse("a commit stands between blocks: push, squash or undo the open session first")
        if self._opened.changed():
            self._stack.mark_changed()
        self._committing.carry_out(self._write, self._stack.revision)
        self._stack.mark_stored()
        self._header.mark_committed(self._stack.revision)
        self._opened.mark_committed()
        self.commits += 1

    def _write(self) -> None:
        changed = self._opened.changed()
        for opened in changed:
            opened.flush()
        transaction = self._disk.transaction
        self._journal.write(transaction, self._stack, self._image_bytes)
        for opened in changed:
            opened.write(transaction)
        self._header.write(transaction, self._opened.counters(), self._stack.revision)

    def _image_bytes(self, table: Table[E], object_id: int, image: E) -> bytes:
        return self._tables[table].image_bytes(object_id, image)

    # -- checking and closing

    def verify(self) -> list[str]:
        """What is wrong with rows and indexes."""
        return verify(self._tables.values())

    def close(self) -> None:
        self._disk.close()
        self._committing.close()
        self._lock.close()


class StoreBeside(Store):
    """A store over the last commit of another one."""

    def __init__(self, disk: Disk, databases: dict[str, Database], tables: tuple[Table[Any], ...], cached: int) -> None:
        self._cached = cached
        self._disk = disk
        with on_error(disk.abort):
            self._header = Header(disk, databases, tables)
            self._assemble(tables, databases)

    def commit(self) -> None:
        raise StoreMisuse("what was tried beside the state cannot become durable")

    def close(self) -> None:
        """Abandon all of it; the file stays open for the other store."""
        self._disk.abort()
