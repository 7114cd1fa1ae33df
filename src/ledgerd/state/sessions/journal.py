"""The journal: the memory of each session that can be undone, in the file, so that a restarted node can undo blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Protocol

import msgspec

from ledgerd.state.errors import unreadable
from ledgerd.state.files.disk import Database, Disk, LmdbTransaction
from ledgerd.state.sessions.sessions import Changes, SessionStack
from ledgerd.state.sessions.undo import TableUndo
from ledgerd.state.tables.keys import INT64, integer_of
from ledgerd.state.tables.tables import Table

JOURNAL = "journal"


class TableJournal(msgspec.Struct, array_like=True, frozen=True):
    """A table's part of a session, with former objects as bytes."""

    number: int
    next_id: int
    next_ranks: tuple[int, ...]
    created: tuple[int, ...]
    removed: dict[int, bytes]
    modified: dict[int, bytes]
    ranks: dict[int, tuple[int, ...]]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(tuple[TableJournal, ...])


class ImageEncoder(Protocol):
    """Gives the bytes of a former value of an object."""

    def __call__(self, table: Table[Any], object_id: int, image: Any, /) -> bytes: ...  # noqa: ANN401


class Journal:
    """The sub-database of a store's journal, by revision."""

    def __init__(self, disk: Disk, database: Database, tables: Iterable[Table[Any]]) -> None:
        self._disk = disk
        self._database = database
        self._tables = {table.number: table for table in tables}

    def load(self, stack: SessionStack, revision: int) -> None:
        """Put the committed sessions on an empty stack; without any, the store has this revision."""
        cursor = self._disk.transaction.cursor(self._database)
        keys = list(cursor.iternext(keys=True, values=False))
        stack.set_revision(integer_of(keys[0]) - 1 if keys else revision)
        for key in keys:
            stack.add_stored(integer_of(key), partial(self._read, key))
        if stack.sessions:
            stack.sessions[-1].load()

    def _read(self, key: bytes) -> Changes:
        raw = self._disk.transaction.get(key, db=self._database)
        if raw is None:
            raise unreadable(f"{self._disk.folder}: the journal of a block is missing")
        return decode_session(raw, self._tables)

    def write(self, transaction: LmdbTransaction, stack: SessionStack, image_bytes: ImageEncoder) -> None:
        for revision in stack.dropped:
            transaction.delete(INT64.encode(revision), db=self._database)
        for session in stack.unstored():
            journal = encode_session(session.changes, image_bytes)
            transaction.put(INT64.encode(session.revision), journal, db=self._database)


def encode_session(changes: Changes, image_bytes: ImageEncoder) -> bytes:
    return _encoder.encode([_table_journal(table, undo, image_bytes) for table, undo in changes.items()])


def _table_journal(table: Table[Any], undo: TableUndo[Any], image_bytes: ImageEncoder) -> TableJournal:
    modified = {object_id: image_bytes(table, object_id, image) for object_id, image in undo.modified.items()}
    removed = {
        object_id: b"" if object_id in modified else table.codec.encode(entity)
        for object_id, entity in undo.removed.items()
    }
    return TableJournal(table.number, undo.next_id, undo.next_ranks, tuple(undo.created), removed, modified, undo.ranks)


def decode_session(raw: bytes, tables: Mapping[int, Table[Any]]) -> Changes:
    changes: Changes = {}
    for journal in _decoder.decode(raw):
        table = tables[journal.number]
        decode: Callable[[bytes], Any] = table.codec.decode
        undo: TableUndo[Any] = TableUndo(journal.next_id, journal.next_ranks)
        undo.created = set(journal.created)
        undo.ranks = dict(journal.ranks)
        undo.modified = {object_id: decode(body) for object_id, body in journal.modified.items()}
        undo.removed = {
            object_id: decode(body) if body else undo.modified[object_id].__copy__()
            for object_id, body in journal.removed.items()
        }
        changes[table] = undo
    return changes
