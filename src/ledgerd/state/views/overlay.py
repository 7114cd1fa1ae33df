"""Uncommitted objects over the snapshots of a reader in another process.

The writer's process sends `Store.changed_rows` of a session; here an `Overlay` collects the rows, and its view of a
snapshot answers as the writer's store would.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from operator import itemgetter
from typing import Any, Generic

from ledgerd.state.files.ranges import KeyValue, Range, entries
from ledgerd.state.tables.keys import INT64, integer_of
from ledgerd.state.tables.records import RecordForm, Row
from ledgerd.state.tables.tables import E, Index, Key, Table
from ledgerd.state.views.reader import CommitView
from ledgerd.state.views.view import T, TableOrIndex, index_of, span

MOST_ROWS = 200_000
"""An overlay with more rows than this keeps none of the others, and is not used until it is cleared."""

_entry_of = itemgetter(0)


class TableOverlay(Generic[E]):
    """The objects of a table that differ from the commit, and their entries in its indexes."""

    def __init__(self, table: Table[E]) -> None:
        self.form = RecordForm(table)
        self.rows: dict[int, bytes | None] = {}
        self._slots = {index: slot for slot, index in enumerate(table.ordered_indexes)}
        self._orders: dict[Index[E], list[KeyValue]] = {}
        """Their entries, sorted; only for indexes that have been read."""

    def set_row(self, object_id: int, record: bytes | None) -> None:
        """An object has this record now; None when it was removed."""
        before = self.rows.get(object_id)
        self.rows[object_id] = record
        for index, order in self._orders.items():
            if before is not None:
                del order[bisect_left(order, self._entry(index, object_id, before))]
            if record is not None:
                entry = self._entry(index, object_id, record)
                order.insert(bisect_left(order, entry), entry)

    def order(self, index: Index[E]) -> list[KeyValue]:
        order = self._orders.get(index)
        if order is None:
            rows = ((object_id, record) for object_id, record in self.rows.items() if record is not None)
            order = self._orders[index] = sorted(self._entry(index, *row) for row in rows)
        return order

    def _entry(self, index: Index[E], object_id: int, record: bytes) -> KeyValue:
        own_id = INT64.encode(object_id)
        if index is index.table.by_id:
            return own_id, own_id
        key = index.entry_key(self.form.decode(record))
        if not index.is_unique:
            key += INT64.encode(self.form.ranks(record)[self._slots[index]])
        return key, own_id

    def between(self, index: Index[E], walk: Range, position: bytes | None) -> Sequence[KeyValue]:
        order = self.order(index)
        if walk.is_reverse:
            end = position or walk.high
            stop = len(order) if end is None else bisect_left(order, end, key=_entry_of)
            return order[bisect_left(order, walk.low, key=_entry_of) : stop][::-1]
        start = bisect_left(order, position or walk.low, key=_entry_of)
        if position is not None and start < len(order) and order[start][0] == position:
            start += 1
        stop = len(order) if walk.high is None else bisect_left(order, walk.high, key=_entry_of)
        return order[start:stop]

    def id_under(self, index: Index[E], wanted: bytes) -> bytes | None:
        order = self.order(index)
        at = bisect_left(order, wanted, key=_entry_of)
        return order[at][1] if at < len(order) and order[at][0] == wanted else None


TableOverlays = dict[Table[Any], TableOverlay[Any]]


class Overlay:
    """Uncommitted objects over the state of one revision."""

    def __init__(self, tables: Iterable[Table[Any]]) -> None:
        self._tables = {table.number: table for table in tables}
        self._overlays: TableOverlays = {}
        self._revision = 0
        self._rows = 0

    def add(self, revision: int, rows: Iterable[Row]) -> None:
        """Take in objects that have changed since this revision was committed; rows of another revision go."""
        if revision != self._revision:
            self.clear()
            self._revision = revision
        for number, object_id, record in rows:
            table = self._tables[number]
            if self._rows < MOST_ROWS:
                overlay = self._overlays.get(table)
                if overlay is None:
                    overlay = self._overlays[table] = TableOverlay(table)
                overlay.set_row(object_id, record)
            self._rows += 1

    def clear(self) -> None:
        self._overlays = {}
        self._rows = 0

    def over(self, snapshot: CommitView) -> CommitView:
        """The snapshot with these objects over it; a snapshot of another revision is returned as it is."""
        if not self._overlays or self._rows > MOST_ROWS or snapshot.revision != self._revision:
            return snapshot
        return SnapshotWithOverlay(snapshot, self._overlays)


class SnapshotWithOverlay(CommitView):
    """A snapshot with uncommitted objects over it; good until rows are added to the overlay."""

    def __init__(self, below: CommitView, overlays: TableOverlays) -> None:
        super().__init__(*below.parts)
        self._overlays = overlays

    def _record(self, table: Table[Any], own_id: bytes) -> bytes | None:
        overlay = self._overlays.get(table)
        if overlay is not None:
            object_id = integer_of(own_id)
            if object_id in overlay.rows:
                return overlay.rows[object_id]
        return super()._record(table, own_id)

    def _id_under(self, index: Index[Any], wanted: bytes) -> bytes | None:
        overlay = self._overlays.get(index.table)
        if overlay is None:
            return super()._id_under(index, wanted)
        own_id = overlay.id_under(index, wanted)
        if own_id is None:
            own_id = super()._id_under(index, wanted)
            if own_id is not None and integer_of(own_id) in overlay.rows:
                return None  # it had this key when it was committed
        return own_id

    def _walk(self, index: Index[E], walk: Range, position: bytes | None) -> Iterator[E]:
        overlay = self._overlays.get(index.table)
        if overlay is None:
            return super()._walk(index, walk, position)
        found = self._entries(index, overlay, walk, position)
        return (self.get(index.table, integer_of(own_id)) for _, own_id in found)

    def derived_all(self, derive: Callable[[E], T], index: Index[E], keys: Sequence[int]) -> list[T | None]:
        if index.table not in self._overlays:
            return super().derived_all(derive, index, keys)
        return [self.derived(derive, index, key) for key in keys]

    def peek_all(self, index: Index[E], read: Callable[[bytes], T], *, lower: Key = (), upper: Key = ()) -> Iterator[T]:
        if index.table not in self._overlays:
            return super().peek_all(index, read, lower=lower, upper=upper)
        encode = index.table.codec.encode
        return (read(encode(each)) for each in self.scan(index, lower=lower, upper=upper))

    def scan_bytes(self, table: Table[E]) -> Iterator[bytes]:
        if table not in self._overlays:
            return super().scan_bytes(table)
        return map(table.codec.encode, self.scan(table))

    def scan_fields(self, table: Table[E], *fields: str) -> Iterator[E]:
        return super().scan_fields(table, *fields) if table not in self._overlays else self.scan(table)

    def scan_ids(
        self, source: TableOrIndex[E], *, lower: Key = (), upper: Key = (), reverse: bool = False
    ) -> Iterator[int]:
        index = index_of(source)
        overlay = self._overlays.get(index.table)
        if overlay is None:
            return super().scan_ids(source, lower=lower, upper=upper, reverse=reverse)
        found = self._entries(index, overlay, Range(*span(index, lower, upper), reverse), None)
        return (integer_of(own_id) for _, own_id in found)

    def _entries(
        self, index: Index[E], overlay: TableOverlay[E], walk: Range, position: bytes | None
    ) -> Iterator[KeyValue]:
        return merge(
            self._committed(index, overlay, walk, position),
            overlay.between(index, walk, position),
            key=_entry_of,
            reverse=walk.is_reverse,
        )

    def _committed(
        self, index: Index[E], overlay: TableOverlay[E], walk: Range, position: bytes | None
    ) -> Iterator[KeyValue]:
        is_by_id = index is index.table.by_id
        database = self._databases[index.table.title if is_by_id else index.title]
        for key, value in entries(self._transaction, database, walk, position):
            own_id = key if is_by_id else value
            if integer_of(own_id) not in overlay.rows:
                yield key, own_id

    def count(self, table: Table[Any]) -> int:
        overlay = self._overlays.get(table)
        committed = super().count(table)
        if overlay is None:
            return committed
        return committed + sum(
            (record is not None)
            - (super(SnapshotWithOverlay, self)._record(table, INT64.encode(object_id)) is not None)
            for object_id, record in overlay.rows.items()
        )
