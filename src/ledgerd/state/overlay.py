"""What a session of the writer has changed, laid over the snapshots of a reader in another process.

So that process sees what is not committed: on the one side `rows_of` takes it out of a session, on the other an
`Overlay` collects it, and its view answers as the writer's store would.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic

from ledgerd.state.keys import INT64, integer_of
from ledgerd.state.ranges import Entry, Range, entries
from ledgerd.state.reader import Snapshot
from ledgerd.state.records import RecordForm
from ledgerd.state.tables import E, Index, Key, Table
from ledgerd.state.view import Source, index_of, span

if TYPE_CHECKING:
    from ledgerd.state.sessions import Session

Row = tuple[int, int, bytes | None]
"""The number of a table, the id of an object, and its record as it stands in the file; nothing when it is removed."""

MOST_ROWS = 200_000
"""Past that many an overlay takes no more, and is not laid over anything until it is emptied."""

_entry_of = itemgetter(0)


def rows_of(session: Session) -> list[Row]:
    """Every object that a session has changed, as it stands now."""
    rows: list[Row] = []
    for cache, undo in session.records.items():
        for object_id in undo.created | undo.modified.keys() | undo.removed.keys() | undo.ranks.keys():
            entity = cache.find(object_id)
            record = None if entity is None else cache.record.encode(entity, cache.ranks.get(object_id, ()))
            rows.append((cache.table.number, object_id, record))
    return rows


class LaidTable(Generic[E]):
    """The objects of a table that are not as they were committed, and their entries in its indexes."""

    def __init__(self, table: Table[E]) -> None:
        self.form = RecordForm(table)
        self.rows: dict[int, bytes | None] = {}
        self._places = {
            index: place for place, index in enumerate(each for each in table.indexes if not each.is_unique)
        }
        self._orders: dict[Index[E], list[Entry]] = {}
        """Sorted, for the indexes that were asked for; the others are not kept."""

    def lay(self, object_id: int, record: bytes | None) -> None:
        """An object is now this, or gone."""
        before = self.rows.get(object_id)
        self.rows[object_id] = record
        for index, order in self._orders.items():
            if before is not None:
                del order[bisect_left(order, self._entry(index, object_id, before))]
            if record is not None:
                entry = self._entry(index, object_id, record)
                order.insert(bisect_left(order, entry), entry)

    def order(self, index: Index[E]) -> list[Entry]:
        """Its objects that there are, as entries of an index."""
        order = self._orders.get(index)
        if order is None:
            rows = ((object_id, record) for object_id, record in self.rows.items() if record is not None)
            order = self._orders[index] = sorted(self._entry(index, *row) for row in rows)
        return order

    def _entry(self, index: Index[E], object_id: int, record: bytes) -> Entry:
        own_id = INT64.encode(object_id)
        if index is index.table.by_id:
            return own_id, own_id
        key = index.entry_key(self.form.decode(record))
        if not index.is_unique:
            key += INT64.encode(self.form.ranks(record)[self._places[index]])
        return key, own_id

    def between(self, index: Index[E], walk: Range, position: bytes | None) -> Sequence[Entry]:
        """What `ranges.entries` would give of them."""
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
        """The id of the one among them with this key."""
        order = self.order(index)
        place = bisect_left(order, wanted, key=_entry_of)
        return order[place][1] if place < len(order) and order[place][0] == wanted else None


Laid = dict[Table[Any], LaidTable[Any]]


class Overlay:
    """What is not committed, over the state of one revision."""

    def __init__(self, tables: Iterable[Table[Any]]) -> None:
        self._tables = {table.number: table for table in tables}
        self._laid: Laid = {}
        self._revision = 0
        self._rows = 0

    def lay(self, revision: int, rows: Iterable[Row]) -> None:
        """More has changed since this revision was committed."""
        if revision != self._revision:
            self.clear()
            self._revision = revision
        for number, object_id, record in rows:
            table = self._tables[number]
            if self._rows < MOST_ROWS:
                laid = self._laid.get(table)
                if laid is None:
                    laid = self._laid[table] = LaidTable(table)
                laid.lay(object_id, record)
            self._rows += 1

    def clear(self) -> None:
        """All is as it was committed."""
        self._laid = {}
        self._rows = 0

    def over(self, snapshot: Snapshot) -> Snapshot:
        """The state with what has changed; a snapshot of another revision as it is."""
        if not self._laid or self._rows > MOST_ROWS or snapshot.revision != self._revision:
            return snapshot
        return OverlaidSnapshot(snapshot, self._laid)


class OverlaidSnapshot(Snapshot):
    """A snapshot, with objects that are not committed over it. Use it before more is laid."""

    def __init__(self, below: Snapshot, laid: Laid) -> None:
        super().__init__(*below.parts)
        self._laid = laid

    def _record(self, table: Table[Any], own_id: bytes) -> bytes | None:
        laid = self._laid.get(table)
        if laid is not None:
            object_id = integer_of(own_id)
            if object_id in laid.rows:
                return laid.rows[object_id]
        return super()._record(table, own_id)

    def _id_under(self, index: Index[Any], wanted: bytes) -> bytes | None:
        laid = self._laid.get(index.table)
        if laid is None:
            return super()._id_under(index, wanted)
        own_id = laid.id_under(index, wanted)
        if own_id is None:
            own_id = super()._id_under(index, wanted)
            if own_id is not None and integer_of(own_id) in laid.rows:
                return None  # it had this key when it was committed
        return own_id

    def scan(
        self,
        source: Source[E],
        *,
        lower: Key = (),
        upper: Key = (),
        reverse: bool = False,
        after: E | None = None,
    ) -> Iterator[E]:
        index = index_of(source)
        laid = self._laid.get(index.table)
        if laid is None:
            return super().scan(source, lower=lower, upper=upper, reverse=reverse, after=after)
        position = None if after is None else self.position(index, after)
        walk = Range(*span(index, lower, upper), reverse)
        found = merge(
            self._committed(index, laid, walk, position),
            laid.between(index, walk, position),
            key=_entry_of,
            reverse=reverse,
        )
        return (self.get(index.table, integer_of(own_id)) for _, own_id in found)

    def _committed(self, index: Index[E], laid: LaidTable[E], walk: Range, position: bytes | None) -> Iterator[Entry]:
        """The entries of the objects that are as they were committed."""
        is_by_id = index is index.table.by_id
        database = self._databases[index.table.title if is_by_id else index.title]
        for key, value in entries(self._transaction, database, walk, position):
            own_id = key if is_by_id else value
            if integer_of(own_id) not in laid.rows:
                yield key, own_id

    def count(self, table: Table[Any]) -> int:
        laid = self._laid.get(table)
        committed = super().count(table)
        if laid is None:
            return committed
        return committed + sum(
            (record is not None) - (super(OverlaidSnapshot, self)._record(table, INT64.encode(object_id)) is not None)
            for object_id, record in laid.rows.items()
        )
