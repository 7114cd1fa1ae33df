"""Filling a new state with rows in the order of their ids, as an import does: faster than creating them one by one.

Rows are written behind each other at once. The entries of the indexes are sorted on the way, beside the state, and
written behind each other at the end: each page of the file is written once, instead of once in each commit. Memory
holds a bounded number of rows, and none of them as objects. The state is the one that `Store.create` would have made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, NamedTuple

from ledgerd.state.errors import NotUniqueRow, StoreMisuse
from ledgerd.state.files.disk import Disk
from ledgerd.state.files.header import Header
from ledgerd.state.files.ranges import KeyValue
from ledgerd.state.files.sorting import RunFile, Sorter
from ledgerd.state.memory.open_index import OpenIndex
from ledgerd.state.memory.open_table import OpenTable
from ledgerd.state.tables.keys import INT64
from ledgerd.state.tables.tables import E, Table

ID_BYTES = 8


class LoadingLimits(NamedTuple):
    """How much is in memory at once."""

    rows_a_run: int = 1 << 15
    items_a_block: int = 1 << 10
    """A merge has one block of each run in memory."""
    bytes_a_commit: int = 16 << 20


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
        self._count(loading.add(entity))
        self._rows += 1
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
        self.sorters = [(each, Sorter(runs)) for each in opened.indexes.values()]
        """For each index, its entries with the ids that they lead to."""
        self._records: list[KeyValue] = []
        self._unique = [(each.index.entry_key, sorter) for each, sorter in self.sorters if each.index.is_unique]
        self._ordered = [(each.index.entry_key, sorter) for each, sorter in self.sorters if not each.index.is_unique]
        self._encode = opened.cache.form.encode
        self._next_id = 0
        self._count = 0

    def waiting(self) -> Iterator[tuple[OpenIndex[E], list[KeyValue]]]:
        """For the order of ids and each index, a list of what is written next, behind all that is there."""
        yield self.opened.by_id, self._records
        for opened, _ in self.sorters:
            yield opened, []

    def add(self, entity: E) -> int:
        """Returns the size of the record. Rows come in order: the rank in all indexes is the number of rows before."""
        object_id = entity.id
        if object_id < self._next_id:
            raise StoreMisuse(f"the next id of {self.opened.table.title} cannot be set to {object_id}")
        key = INT64.encode(object_id)
        for entry_key, sorter in self._unique:
            sorter.items.append(entry_key(entity) + key)
        if self._ordered:
            ending = INT64.encode(self._count) + key
            for entry_key, sorter in self._ordered:
                sorter.items.append(entry_key(entity) + ending)
        record = self._encode(entity, (self._count,) * len(self._ordered))
        self._next_id = object_id + 1
        self._count += 1
        self._records.append((key, record))
        return len(record)

    def finish(self) -> None:
        self.opened.set_loaded(self._next_id, self._count)
