"""Taking over the files of a former version, in place: rows are rewritten, indexes made, and those of before dropped.

It goes on in steps of a bounded size, each a commit that also says how far it is: after a kill the next start goes on
there. Until the end the header bears a mark instead of a layout, so that no program reads what is half converted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import lmdb
import msgspec

from ledgerd.state.disk import Cursor, Disk, LmdbTransaction
from ledgerd.state.errors import unreadable
from ledgerd.state.former import Former, TableConversion, conversions
from ledgerd.state.header import COUNTERS, HEADER, LAYOUT_KEY, UNDER_CONVERSION, database_names
from ledgerd.state.journal import JOURNAL, TableJournal
from ledgerd.state.ranges import KeyValue
from ledgerd.state.tables import Table, layout

log = logging.getLogger(__name__)

PROGRESS_KEY = b"conversion"
ROWS_A_STEP = 20_000
BYTES_A_STEP = 16 << 20


class ConversionProgress(NamedTuple):
    """How far a conversion is: which part is at work, and the key of the last row that it has done."""

    part: int = 0
    last: bytes = b""
    rows: int = 0


_encode = msgspec.msgpack.Encoder().encode
_decode_progress = msgspec.msgpack.Decoder(tuple[int, bytes, int]).decode
_decode_counters = msgspec.msgpack.Decoder(tuple[int, ...]).decode
_decode_session = msgspec.msgpack.Decoder(tuple[TableJournal, ...]).decode


class DatabaseConversion(NamedTuple):
    """The rows of one sub-database."""

    title: str
    convert: Callable[[bytes], bytes]
    table: TableConversion | None = None


def convert(disk: Disk, tables: tuple[Table[Any], ...], formers: Sequence[Former]) -> None:
    """Make a state of a former version one of this version; nothing, where it is none, or not of a known version."""
    found = _found_layout(disk)
    begun = found.startswith(UNDER_CONVERSION)
    written = found.removeprefix(UNDER_CONVERSION)
    former = next((each for each in formers if each.wrote(written)), None)
    if former is not None:
        _Conversion(disk, tables, conversions(former, written, tables)).run(former, written, has_begun=begun)


def _found_layout(disk: Disk) -> str:
    """What the header says; nothing where there is none."""
    try:
        with disk.environment.begin() as transaction:
            header = disk.environment.open_db(HEADER.encode(), txn=transaction, create=False)
            return (transaction.get(LAYOUT_KEY, db=header) or b"").decode("utf-8", "replace")
    except lmdb.NotFoundError:
        return ""
    except lmdb.Error as error:
        disk.fail(error)


class _Conversion:
    def __init__(self, disk: Disk, tables: tuple[Table[Any], ...], changed: list[TableConversion]) -> None:
        self._disk = disk
        self._tables = tables
        self._changed = changed
        self._by_number = {each.table.number: each for each in changed}
        self._databases = disk.open_databases([JOURNAL, *database_names(tables)])
        self._header = self._databases[HEADER]
        disk.commit()
        self._parts = [
            DatabaseConversion(JOURNAL, self._session),
            *(DatabaseConversion(each.table.title, each.row, each) for each in changed),
        ]

    def run(self, former: Former, written: str, *, has_begun: bool) -> None:
        """Begin, or go on where an earlier start was stopped."""
        if has_begun:
            log.info("continuing the conversion of the state in %(folder)s", {"folder": self._disk.folder})
        else:
            log.info(
                "converting the state in %(folder)s, written by %(version)s",
                {"folder": self._disk.folder, "version": former.name},
            )
            self._commit(lambda transaction: self._begin(transaction, written))
        while (progress := self._progress()).part < len(self._parts):
            self._commit(lambda transaction, at=progress: self._step(transaction, at))  # type: ignore[misc]
        self._commit(self._finish)
        log.info("the state in %(folder)s is converted", {"folder": self._disk.folder})

    def _commit(self, work: Callable[[LmdbTransaction], None]) -> None:
        """Do a step as a whole, or not at all."""
        self._disk.carry_out(lambda: work(self._disk.transaction))

    def _begin(self, transaction: LmdbTransaction, written: str) -> None:
        transaction.put(LAYOUT_KEY, (UNDER_CONVERSION + written).encode(), db=self._header)
        for each in self._changed:
            key = COUNTERS + each.table.title.encode()
            raw = transaction.get(key, db=self._header)
            if raw is not None:
                transaction.put(key, _encode(each.counters(_decode_counters(raw))), db=self._header)
        self._tell(transaction, ConversionProgress())

    def _step(self, transaction: LmdbTransaction, at: ConversionProgress) -> None:
        part = self._parts[at.part]
        database = self._databases[part.title]
        rows = list(_following(transaction.cursor(database), at.last))
        converted = [(key, part.convert(raw)) for key, raw in rows]
        for key, raw in converted:
            transaction.put(key, raw, db=database)
        if part.table is not None:
            self._add_entries(transaction, part.table, converted)
        if not rows:
            self._tell(transaction, ConversionProgress(at.part + 1))
            return
        done = ConversionProgress(at.part, rows[-1][0], at.rows + len(rows))
        self._tell(transaction, done)
        count = transaction.stat(database)["entries"]
        log.info("%(part)s: %(done)d of %(of)d converted", {"part": part.title, "done": done.rows, "of": count})

    def _add_entries(self, transaction: LmdbTransaction, table: TableConversion, rows: list[KeyValue]) -> None:
        if not table.new_indexes:
            return
        added = [(index.title, entry, key) for key, raw in rows for index, entry in table.entries(raw)]
        for title, entry, key in sorted(added):
            transaction.put(entry, key, db=self._databases[title])

    def _session(self, raw: bytes) -> bytes:
        return _encode(
            [
                self._by_number[each.number].journal(each) if each.number in self._by_number else each
                for each in _decode_session(raw)
            ]
        )

    def _finish(self, transaction: LmdbTransaction) -> None:
        for title in (title for each in self._changed for title in each.former_indexes):
            database = self._disk.environment.open_db(title.encode(), txn=transaction)
            transaction.drop(database)
        transaction.delete(PROGRESS_KEY, db=self._header)
        transaction.put(LAYOUT_KEY, layout(self._tables).encode(), db=self._header)

    # -- how far it is

    def _progress(self) -> ConversionProgress:
        raw = self._disk.transaction.get(PROGRESS_KEY, db=self._header)
        if raw is None:
            raise unreadable(f"{self._disk.folder}: nothing says how far its conversion is")
        return ConversionProgress(*_decode_progress(raw))

    def _tell(self, transaction: LmdbTransaction, progress: ConversionProgress) -> None:
        transaction.put(PROGRESS_KEY, _encode(progress), db=self._header)


def _following(cursor: Cursor, last: bytes) -> Iterator[KeyValue]:
    """The next rows behind a key, as many as one step takes."""
    if not (cursor.set_range(last + b"\0") if last else cursor.first()):
        return
    size = 0
    for count, (key, raw) in enumerate(cursor.iternext(), 1):
        yield key, raw
        size += len(raw)
        if count >= ROWS_A_STEP or size >= BYTES_A_STEP:
            return
