"""A view of an open store whose scans keep nothing in memory: for audits and snapshots, which see every object once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ledgerd.codec.partial import extract_reader
from ledgerd.state.files.ranges import Range
from ledgerd.state.memory.open_index import OpenIndex
from ledgerd.state.tables.tables import E, Index, Table
from ledgerd.state.views.view import RangeView, TableOrIndex, View


class UncachedView(RangeView):
    """Another view with scans of its own; single objects are those of the other, kept as it keeps them."""

    def __init__(self, store: View, indexes: Mapping[TableOrIndex[Any], OpenIndex[Any]]) -> None:
        self._store = store
        self._indexes = indexes

    def find(self, table: Table[E], object_id: int) -> E | None:
        return self._store.find(table, object_id)

    def lookup(self, index: Index[E], *key: Any) -> E | None:  # noqa: ANN401 - as declared by the index
        return self._store.lookup(index, *key)

    def _walk(self, index: Index[E], walk: Range, position: bytes | None) -> Iterator[E]:
        opened: OpenIndex[E] = self._indexes[index]
        return opened.walk(walk, position, keeps=False)

    def scan_fields(self, table: Table[E], *fields: str) -> Iterator[E]:
        opened: OpenIndex[E] = self._indexes[table]
        return opened.walk_fields(extract_reader(table.record, *fields))

    def position(self, source: TableOrIndex[E], entity: E) -> bytes:
        return self._store.position(source, entity)

    def meta(self, name: str) -> bytes | None:
        return self._store.meta(name)

    def next_id(self, table: Table[Any]) -> int:
        return self._store.next_id(table)

    @property
    def revision(self) -> int:
        return self._store.revision
