"""The state as other processes read it: consistent snapshots of the last commit, which never make the writer wait.

Open a reader in the process that uses it: it does not survive a fork.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

import lmdb

from ledgerd.basics.closing import Closing, on_error
from ledgerd.codec.partial import extract_reader
from ledgerd.state.errors import StorageError, UnknownKey, unreadable
from ledgerd.state.files.disk import DATA_FILE, Database, LmdbTransaction, environment_to_read, failure
from ledgerd.state.files.header import (
    HEADER,
    LAYOUT_KEY,
    check_header,
    database_names,
    read_counters,
    read_revision,
    read_value,
)
from ledgerd.state.files.ranges import Range, entries, runs
from ledgerd.state.tables.keys import INT64, integer_of, integers_of
from ledgerd.state.tables.records import RecordForm
from ledgerd.state.tables.tables import E, Index, Key, Table, layout
from ledgerd.state.views.view import RangeView, T, TableOrIndex, index_of, searched_key, span

MOST_DERIVED, DROPPED = 16_384, 1_024
"""Objects whose derived values are remembered, for each function; then so many of the oldest are dropped at once, as it
takes longer to find the oldest one the more have been dropped before it.
"""

Forms = dict[Table[Any], RecordForm[Any]]


class Derivations(dict[Callable[[Any], Any], dict[bytes, Any]]):
    """What functions have returned for objects, by the bytes of the object: equal bytes give equal values."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
        """Objects that are remembered for each function."""


class CommitView(RangeView):
    """The state of one commit. Each object is decoded again for the caller: changing it changes nothing else."""

    def __init__(
        self, transaction: LmdbTransaction, databases: dict[str, Database], forms: Forms, derivations: Derivations
    ) -> None:
        self._transaction = transaction
        self._databases = databases
        self._forms = forms
        self._derivations = derivations

    @property
    def parts(self) -> tuple[LmdbTransaction, dict[str, Database], Forms, Derivations]:
        return self._transaction, self._databases, self._forms, self._derivations

    def find(self, table: Table[E], object_id: int) -> E | None:
        raw = self._raw(table, object_id)
        return None if raw is None else self._form(table).decode(raw)

    def _form(self, table: Table[E]) -> RecordForm[E]:
        return self._forms[table]

    def _raw(self, table: Table[Any], object_id: int) -> bytes | None:
        try:
            key = INT64.encode(object_id)
        except OverflowError:
            return None
        return self._record(table, key)

    def _record(self, table: Table[Any], own_id: bytes) -> bytes | None:
        return self._transaction.get(own_id, db=self._databases[table.title])

    def _id_under(self, index: Index[Any], wanted: bytes) -> bytes | None:
        if index is index.table.by_id:
            return wanted
        return self._transaction.get(wanted, db=self._databases[index.title])

    def lookup(self, index: Index[E], *key: Any) -> E | None:  # noqa: ANN401 - as declared by the index
        if not index.is_unique or len(key) < len(index.order):
            return self.first(index, lower=key, upper=key)
        wanted = searched_key(index, key)
        own_id = None if wanted is None else self._id_under(index, wanted)
        return None if own_id is None else self.find(index.table, integer_of(own_id))

    def has(self, index: Index[E], *key: Any) -> bool:  # noqa: ANN401 - as declared by the index
        if not index.is_unique or len(key) < len(index.order):
            return super().has(index, *key)
        wanted = searched_key(index, key)
        return wanted is not None and self._id_under(index, wanted) is not None

    def derived(self, derive: Callable[[E], T], index: Index[E], *key: Any) -> T | None:  # noqa: ANN401
        if not index.is_unique or len(key) < len(index.order):
            return super().derived(derive, index, *key)
        wanted = searched_key(index, key)
        own_id = None if wanted is None else self._id_under(index, wanted)
        raw = None if own_id is None else self._record(index.table, own_id)
        return None if raw is None else self._derive(derive, index.table, raw)

    def _derive(self, derive: Callable[[E], T], table: Table[E], raw: bytes) -> T:
        known = self._known(derive)
        if raw in known:
            value: T = known[raw]
            return value
        value = known[raw] = derive(self._form(table).decode(raw))
        return value

    def _known(self, derive: Callable[[Any], T]) -> dict[bytes, T]:
        known = self._derivations.setdefault(derive, {})
        if len(known) >= self._derivations.most:
            for oldest in list(islice(known, DROPPED)):
                del known[oldest]
        return known

    def derived_from_bytes(self, derive: Callable[[bytes], T], index: Index[E], *key: Any) -> T | None:  # noqa: ANN401
        wanted = searched_key(index, key)
        own_id = None if wanted is None else self._id_under(index, wanted)
        raw = None if own_id is None else self._record(index.table, own_id)
        if raw is None:
            return None
        known = self._known(derive)
        if raw in known:
            return known[raw]
        value = known[raw] = self._form(index.table).derived(derive, raw)
        return value

    def derived_all(self, derive: Callable[[E], T], index: Index[E], keys: Sequence[int]) -> list[T | None]:
        table, wanted = index.table, [index.encode_key((key,)) for key in keys]
        own_ids: dict[bytes, bytes] = dict(zip(wanted, wanted, strict=True))
        if index is not table.by_id:
            own_ids = dict(self._transaction.cursor(self._databases[index.title]).getmulti(wanted))
        rows = dict(self._transaction.cursor(self._databases[table.title]).getmulti(list(own_ids.values())))
        known = self._derivations.setdefault(derive, {})
        found: list[T | None] = []
        for key in wanted:
            own_id = own_ids.get(key)
            raw = None if own_id is None else rows.get(own_id)
            if raw is None:
                found.append(None)
            else:
                found.append(known[raw] if raw in known else self._derive(derive, table, raw))
        return found

    def peek(self, table: Table[E], object_id: int, read: Callable[[bytes], T]) -> T | None:
        raw = self._raw(table, object_id)
        return None if raw is None else read(raw[self._form(table).start :])

    def _walk(self, index: Index[E], walk: Range, position: bytes | None) -> Iterator[E]:
        if index is index.table.by_id:
            decode = self._form(index.table).decode
            found = entries(self._transaction, self._databases[index.table.title], walk, position)
            return (decode(raw) for _, raw in found)
        found = entries(self._transaction, self._databases[index.title], walk, position)
        return (self.get(index.table, integer_of(raw)) for _, raw in found)

    def scan_ids(
        self, source: TableOrIndex[E], *, lower: Key = (), upper: Key = (), reverse: bool = False
    ) -> Iterator[int]:
        index = index_of(source)
        walk = Range(*span(index, lower, upper), reverse)
        is_by_id = index is index.table.by_id
        database = self._databases[index.table.title if is_by_id else index.title]
        return chain.from_iterable(map(integers_of, runs(self._transaction, database, walk, of_keys=is_by_id)))

    def peek_all(self, index: Index[E], read: Callable[[bytes], T], *, lower: Key = (), upper: Key = ()) -> Iterator[T]:
        start, cursor = self._form(index.table).start, self._transaction.cursor(self._databases[index.table.title])
        for own_ids in runs(self._transaction, self._databases[index.title], Range(*span(index, lower, upper))):
            for _, raw in cursor.getmulti(own_ids):
                yield read(raw[start:] if start else raw)

    def scan_bytes(self, table: Table[E]) -> Iterator[bytes]:
        start = self._form(table).start
        rows: Iterator[bytes] = self._transaction.cursor(self._databases[table.title]).iternext(keys=False)
        return (raw[start:] for raw in rows) if start else rows

    def scan_fields(self, table: Table[E], *fields: str) -> Iterator[E]:
        read, derived = extract_reader(table.record, *fields), self._form(table).derived
        rows: Iterator[bytes] = self._transaction.cursor(self._databases[table.title]).iternext(keys=False)
        return (derived(read, raw) for raw in rows)

    def position(self, source: TableOrIndex[E], entity: E) -> bytes:
        index = index_of(source)
        key = index.entry_key(entity)
        if index.is_unique:
            return key
        raw = self._raw(index.table, entity.id)
        if raw is None:
            raise UnknownKey
        slot = index.table.ordered_indexes.index(index)
        return key + INT64.encode(self._form(index.table).ranks(raw)[slot])

    def meta(self, name: str) -> bytes | None:
        return read_value(self._transaction, self._databases[HEADER], name)

    def count(self, table: Table[Any]) -> int:
        return int(self._transaction.stat(self._databases[table.title])["entries"])

    def next_id(self, table: Table[Any]) -> int:
        next_id, *_ = read_counters(self._transaction, self._databases[HEADER], table) or (0,)
        return next_id

    @property
    def revision(self) -> int:
        return read_revision(self._transaction, self._databases[HEADER])


class StateReader(Closing):
    """A state that is open for reading while another process writes it."""

    def __init__(self, folder: Path, tables: tuple[Table[Any], ...], most_derived: int) -> None:
        self.folder = folder
        self._forms: Forms = {table: RecordForm(table) for table in tables}
        self._derivations = Derivations(most_derived)
        self._layout = layout(tables).encode()
        if not (folder / DATA_FILE).exists():
            raise StorageError(f"there is no state in {folder}: start the node first")
        try:
            self._environment = environment_to_read(folder)
        except (lmdb.Error, OSError) as error:
            raise failure(folder, error) from error
        with on_error(self._environment.close):
            self._require_whole()
            self._databases = self._open_databases(tables)

    @classmethod
    def open(cls, path: Path | str, tables: Sequence[Table[Any]], *, most_derived: int = MOST_DERIVED) -> StateReader:
        return cls(Path(path), tuple(tables), most_derived)

    def _open_databases(self, tables: tuple[Table[Any], ...]) -> dict[str, Database]:
        try:
            header = self._environment.open_db(HEADER.encode(), create=False)
            with self._transaction() as transaction:
                if not check_header(transaction, header, tables, str(self.folder)):
                    raise unreadable(f"{self.folder}: it has no header")
            return {name: self._environment.open_db(name.encode(), create=False) for name in database_names(tables)}
        except lmdb.Error as error:
            raise unreadable(f"{self.folder}: {error}") from error

    @contextmanager
    def snapshot(self) -> Iterator[CommitView]:
        """The state of the last commit, unchanged until the end of the block.

        Keep it short: while it is open, the file cannot use the room again that the writer frees.
        """
        with self._transaction() as transaction:
            yield CommitView(transaction, self._databases, self._forms, self._derivations)

    @property
    def commit_number(self) -> int:
        """A number that each commit changes; it is read from the map, without a call of the system."""
        return int(self._environment.info()["last_txnid"])

    def _require_whole(self) -> None:
        """Find a truncated file, or one that is being copied: to read a page beyond its end would kill the process."""
        pages = int(self._environment.info()["last_pgno"]) + 1
        used = pages * int(self._environment.stat()["psize"])
        if (self.folder / DATA_FILE).stat().st_size < used:
            raise unreadable(f"{self.folder}: pages of it are missing")

    def is_current(self) -> bool:
        with self._transaction() as transaction:
            return transaction.get(LAYOUT_KEY, db=self._databases[HEADER]) == self._layout

    def free_dead_readers(self) -> int:
        """Free the places of readers whose processes have ended: the writer would keep for them what they read."""
        return int(self._environment.reader_check())

    def _transaction(self) -> LmdbTransaction:
        try:
            return self._environment.begin()
        except lmdb.MapResizedError:
            self._environment.set_mapsize(0)
        except lmdb.Error as error:
            raise failure(self.folder, error) from error
        return self._environment.begin()

    def close(self) -> None:
        """Close the file; snapshots that are open become invalid."""
        self._environment.close()
