"""What is read where there are no tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ledgerd.state.errors import UnknownKey
from ledgerd.state.tables.tables import E, Index, Table
from ledgerd.state.views.view import TableOrIndex, View


class EmptyView(View):
    """A view of nothing."""

    revision = 0

    def find(self, _table: Table[E], _object_id: int) -> E | None:
        return None

    def lookup(self, _index: Index[E], *_key: Any) -> E | None:  # noqa: ANN401 - as declared by the index
        return None

    def scan(self, source: TableOrIndex[E], **_bounds: object) -> Iterator[E]:  # noqa: ARG002 - there is none
        return iter(())

    def position(self, _source: TableOrIndex[E], _entity: E) -> bytes:
        raise UnknownKey

    def meta(self, _name: str) -> bytes | None:
        return None

    def next_id(self, _table: Table[Any]) -> int:
        return 0
