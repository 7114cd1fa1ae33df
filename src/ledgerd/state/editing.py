"""The context of `with store.editing(a, b):`, which tells the tables before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from ledgerd.state.open_table import Edit, OpenTable
    from ledgerd.state.tables import Entity


class Editing:
    """Objects while they are being changed.

    An edit of an object inside an edit of it is allowed; both see the same object. When the body raises, or when
    a change cannot be kept, all of them get back the values that they had before.
    """

    __slots__ = ("_edits", "_entities", "_tables")

    def __init__(self, tables: Mapping[type[Entity], OpenTable[Any]], entities: tuple[Entity, ...]) -> None:
        self._tables = tables
        self._entities = entities
        self._edits: list[Edit[Any]] = []

    def __enter__(self) -> None:
        try:
            for entity in self._entities:
                self._edits.append(self._tables[type(entity)].begin_edit(entity))
        except BaseException:
            self._revert()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._revert()
            return
        try:
            for edit in self._edits:
                edit.table.end_edit(edit)
        except BaseException:
            self._revert()
            raise

    def _revert(self) -> None:
        for edit in reversed(self._edits):
            edit.table.revert(edit)
