"""The header of the file: its format and layout, its revision, the counters of each table, and small named values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ledgerd.basics.formats import Format, newer_format
from ledgerd.state.errors import StoreNewer, StoreOutdated, unreadable
from ledgerd.state.files.disk import Database, Disk, LmdbTransaction
from ledgerd.state.tables.tables import Table, layout

HEADER = "header"
FORMAT_KEY = b"format"
OPENED_BY_KEY = b"opened by"
LAYOUT_KEY = b"layout"
REVISION_KEY = b"revision"
COUNTERS = b"counters:"
VALUE = b"value:"
STATE = Format("ledgerd state", 1, "1.0.0")
"""Of the state and of the projections: the number grows when tables of either change, or the bytes of their rows."""
FORMAT = STATE.text
BEING_LOADED = "being loaded\n"
"""Stands before the layout while the rows of a new state come in, which has no indexes yet."""

Counters = tuple[int, ...]
"""The next id of a table, then the next rank of each of its ordered indexes."""

_encode = msgspec.msgpack.Encoder().encode
_decode_counters = msgspec.msgpack.Decoder(tuple[int, ...]).decode
_decode_revision = msgspec.msgpack.Decoder(int).decode


def database_names(tables: Iterable[Table[Any]]) -> list[str]:
    names = [HEADER]
    for table in tables:
        names.append(table.title)
        names += [index.title for index in table.indexes]
    return names


def check_header(transaction: LmdbTransaction, database: Database, tables: tuple[Table[Any], ...], folder: str) -> bool:
    """Whether there is a state; `StoreOutdated` when it was written for other tables."""
    require_known(transaction, database, folder)
    found = transaction.get(FORMAT_KEY, db=database)
    if found is None:
        return False
    found_layout = transaction.get(LAYOUT_KEY, db=database) or b""
    if found_layout.startswith(BEING_LOADED.encode()):
        raise unreadable(f"{folder}: the import that made it was stopped")
    if found != FORMAT or found_layout != layout(tables).encode():
        raise StoreOutdated(
            f"the state in {folder} was written by another version of this program, which this one cannot read: start "
            "the node, which converts it, or makes it again from a snapshot or its block log where it has one; else "
            "remove it, then replay the block log or import a snapshot"
        )
    return True


def require_known(transaction: LmdbTransaction, database: Database, folder: str) -> None:
    """`StoreNewer` for what a newer version has written, before anything else of it is opened."""
    found = transaction.get(FORMAT_KEY, b"", db=database)
    if STATE.is_newer(found):
        opened_by = transaction.get(OPENED_BY_KEY, b"", db=database).decode("ascii", "replace")
        number = STATE.number_in(found) or 0
        raise StoreNewer(newer_format(f"the state in {folder}", number, STATE.number, opened_by))


class Header:
    """The header of a store that is open for writing."""

    def __init__(self, disk: Disk, databases: dict[str, Database], tables: tuple[Table[Any], ...]) -> None:
        self._database = databases[HEADER]
        self._layout = layout(tables).encode()
        transaction = disk.transaction
        if not check_header(transaction, self._database, tables, str(disk.folder)):
            if not disk.is_new:
                raise unreadable(f"{disk.folder}: it has no header")
            transaction.put(FORMAT_KEY, FORMAT, db=self._database)
            transaction.put(OPENED_BY_KEY, STATE.opened_by.encode(), db=self._database)
            transaction.put(LAYOUT_KEY, self._layout, db=self._database)
        self.is_loading = False
        """Whether rows of a new state come in past the store: the file says so until all of it is there."""
        self._is_marked_loading = False
        self.revision = read_revision(transaction, self._database)
        """The committed one."""
        self.values: dict[str, bytes] = {}
        """Named values as the next commit will have them."""
        counters: dict[str, Counters] = {}
        self._changed: set[str] = set()
        """Names of the values that differ from the committed ones."""
        for key, value in transaction.cursor(self._database):
            if key.startswith(VALUE):
                self.values[key[len(VALUE) :].decode()] = value
            elif key.startswith(COUNTERS):
                counters[key[len(COUNTERS) :].decode()] = _decode_counters(value)
        self._counters: Mapping[str, Counters] = counters
        """The committed ones."""
        self._written: Mapping[str, Counters] = counters
        """Those that were written last."""

    def counters(self, table: Table[Any]) -> Counters | None:
        return self._counters.get(table.title)

    def set_value(self, name: str, value: bytes) -> None:
        self.values[name] = value
        self._changed.add(name)

    def write_layout(self, transaction: LmdbTransaction) -> None:
        mark = BEING_LOADED.encode() if self.is_loading else b""
        transaction.put(LAYOUT_KEY, mark + self._layout, db=self._database)
        self._is_marked_loading = self.is_loading

    def write(self, transaction: LmdbTransaction, counters: Mapping[str, Counters], revision: int) -> None:
        if self._is_marked_loading or self.is_loading:
            self.write_layout(transaction)
        self._written = counters
        for title, each in counters.items():
            if self._counters.get(title) != each:
                transaction.put(COUNTERS + title.encode(), _encode(each), db=self._database)
        for name in self._changed:
            transaction.put(VALUE + name.encode(), self.values[name], db=self._database)
        if revision != self.revision:
            transaction.put(REVISION_KEY, _encode(revision), db=self._database)

    def mark_committed(self, revision: int) -> None:
        """What was written last is durable."""
        self._counters = self._written
        self._changed.clear()
        self.revision = revision


def read_revision(transaction: LmdbTransaction, database: Database) -> int:
    raw = transaction.get(REVISION_KEY, db=database)
    return 0 if raw is None else _decode_revision(raw)


def read_counters(transaction: LmdbTransaction, database: Database, table: Table[Any]) -> Counters | None:
    raw = transaction.get(COUNTERS + table.title.encode(), db=database)
    return None if raw is None else _decode_counters(raw)


def read_value(transaction: LmdbTransaction, database: Database, name: str) -> bytes | None:
    return transaction.get(VALUE + name.encode(), db=database)
