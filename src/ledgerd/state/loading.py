"""Filling a new state with rows in the order of their ids, as an import does: faster than creating them one by one.

Rows are written behind each other at once. The entries of the indexes are sorted on the way, beside the state, and
written behind each other at the end: each page of the file is written once, instead of once in each commit. Memory
holds a bounded number of rows, and none of them as objects. The state is the one that `Store.create` would have made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, NamedTuple

import msgspec

from ledgerd.state.errors import NotUniqueRow, StoreMisuse
from ledgerd.state.files.disk import Disk
from ledgerd.state.files.header import Header
from ledgerd.state.files.ranges import KeyValue
from ledgerd.state.files.sorting import RunFile, Sorter
from ledgerd.state.memory.open_index import OpenIndex
from ledgerd.state.memory.open_table import OpenTable
from ledgerd.state.tables.keys import INT64, integer_of
from ledgerd.state.tables.records import RecordForm
from ledgerd.state.tables.tables import E, Table

ID_BYTES = 8


class LoadingLimits(NamedTuple):
    """How much is in memory at once."""

    rows_a_run: int = 1 << 15
    items_a_block: int = 1 << 10
    """A merge has one block of each run in memory."""
    bytes_a_commit: int = 16 << 20


class PackedRows(msgspec.Struct, frozen=True, array_like=True):
    """Rows of one table as the file will have them, which another process may have made."""

    first_id: int
    next_id: int
    records: list[tuple[bytes, bytes]]
    entries: list[list[bytes]]
    """For each index, in any order."""


class RowPacking(Generic[E]):
    """Makes the bytes of the rows of one table, which come in the order of their ids."""

    def __init__(self, table: Table[E], count: int = 0) -> None:
        self.next_id = 0
        self.count = count
        """The rows before the next one: its rank in all indexes, as rows come in order."""
        self.records: list[KeyValue] = []
        self.entries: list[list[bytes]] = [[] for _ in table.indexes]
        """For each index, its entries with the ids that they lead to."""
        paired = list(zip(table.indexes, self.entries, strict=True))
        self._title = table.title
        self._unique = [(index.entry_key, entries) for index, entries in paired if index.is_unique]
        self._ordered = [(index.entry_key, entries) for index, entries in paired if not index.is_unique]
        self._encode = RecordForm(table).encode

    def add(self, entity: E) -> int:
        """Returns the size of the record. `StoreMisuse`: its id does not rise, or a key is too long."""
        object_id = entity.id
        self.require_rising(object_id)
        key = INT64.encode(object_id)
        for entry_key, entries in self._unique:
            entries.append(entry_key(entity) + key)
        if self._ordered:
            ending = INT64.encode(self.count) + key
            for entry_key, entries in self._ordered:
                entries.append(entry_key(entity) + ending)
        record = self._encode(entity, (self.count,) * len(self._ordered))
        self.next_id = object_id + 1
        self.count += 1
        self.records.append((key, record))
        return len(record)

    def require_rising(self, object_id: int) -> None:
        if object_id < self.next_id:
            raise StoreMisuse(f"the next id of {self._title} cannot be set to {object_id}")

    def extend(self, rows: PackedRows) -> int:
        """The same of rows that are packed, at least one, with the ranks that follow here."""
        self.require_rising(rows.first_id)
        for entries, added in zip(self.entries, rows.entries, strict=True):
            entries.extend(added)
        self.records += rows.records
        self.next_id = rows.next_id
        self.count += len(rows.records)
        return sum([len(record) for _, record in rows.records])


def packed_rows(table: Table[E], entities: Iterable[E], count: int) -> PackedRows:
    """Rows, at least one, behind so many others."""
    packing = RowPacking(table, count)
    for entity in entities:
        packing.add(entity)
    return PackedRows(integer_of(packing.records[0][0]), packing.next_id, packing.records, packing.entries)


class Loading:
    """Takes the rows of a store that is empty; what it has written becomes a state with `finish`."""

    def __init__(
        self,
        disk: Disk,
        header: Header,
        tables: Iterable[OpenTable[Any]],
        limits: LoadingLimits,
    ) -> None:
        header.is_loading = True
        self._disk = disk
        self._header = header
        self._runs = RunFile(disk.folder, limits.items_a_block)
        self._tables: dict[Table[Any], _TableLoading[Any]] = {
            opened.table: _TableLoading(opened, self._runs) for opened in tables
        }
        self._limits = limits
        self._rows = 0
        """Rows since the last run."""
        self._size = 0
        """Bytes that wait to be written."""
        self._waiting = {opened: items for loading in self._tables.values() for opened, items in loading.waiting()}

    def add(self, table: Table[E], entity: E) -> None:
        """Ids come in rising order. `StoreMisuse`: one does not, or a key is too long. Two equal keys fail `finish`."""
        loading: _TableLoading[E] = self._tables[table]
        self._count(loading.packing.add(entity))
        self._spill_full(1)

    def add_packed(self, table: Table[Any], rows: PackedRows) -> None:
        """The same of rows that were packed to stand behind those that are here."""
        self._count(self._tables[table].packing.extend(rows))
        self._spill_full(len(rows.records))

    def _spill_full(self, rows: int) -> None:
        self._rows += rows
        if self._rows >= self._limits.rows_a_run:
            self._rows = 0
            self._spill()

    def finish(self) -> None:
        """Make the indexes of what was added, and set the counters. `NotUniqueRow`: two rows have one key."""
        for loading in self._tables.values():
            for opened, sorter in loading.sorters:
                for items in sorter.sorted():
                    self._waiting[opened] += [(item[:-ID_BYTES], item[-ID_BYTES:]) for item in items]
                    self._count(sum(map(len, items)))
        self._commit()
        for loading in self._tables.values():
            loading.finish()
        self._header.is_loading = False

    def close(self) -> None:
        """Delete what was sorted; what was not written is lost."""
        self._runs.close()

    def _spill(self) -> None:
        for loading in self._tables.values():
            for _, sorter in loading.sorters:
                sorter.spill()

    def _count(self, size: int) -> None:
        self._size += size
        if self._size >= self._limits.bytes_a_commit:
            self._commit()

    def _commit(self) -> None:
        """Write what waits as one transaction; it is small, since its pages are in memory until the end."""
        self._disk.carry_out(self._write)
        for items in self._waiting.values():
            items.clear()
        self._size = 0

    def _write(self) -> None:
        transaction = self._disk.transaction
        self._header.write_layout(transaction)
        for opened, items in self._waiting.items():
            refused = opened.append(transaction, items) if items else None
            if refused is not None:
                raise NotUniqueRow(opened.index.table.title, refused)


class _TableLoading(Generic[E]):
    """The rows of one table."""

    def __init__(self, opened: OpenTable[E], runs: RunFile) -> None:
        self.opened = opened
        self.packing = RowPacking(opened.table)
        """Its records and entries are what waits to be written and sorted, and are taken from there."""
        self.sorters = [
            (each, Sorter(runs, entries))
            for each, entries in zip(opened.indexes.values(), self.packing.entries, strict=True)
        ]

    def waiting(self) -> Iterator[tuple[OpenIndex[E], list[KeyValue]]]:
        """For the order of ids and each index, a list of what is written next, behind all that is there."""
        yield self.opened.by_id, self.packing.records
        for opened, _ in self.sorters:
            yield opened, []

    def finish(self) -> None:
        self.opened.set_loaded(self.packing.next_id, self.packing.count)
