"""The contexts in which objects are changed: they tell the tables before and after, and may record what was before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar

from ledgerd.state.memory.open_table import Edit, OpenTable
from ledgerd.state.tables.tables import E, Entity

T = TypeVar("T")


class Editing:
    """Several objects while they are being changed.

    An edit of an object inside an edit of it is allowed; both see the same object. When the body raises, or when
    a change cannot be kept, all of them get back the values that they had before.
    """

    __slots__ = ("_begun", "_edits")

    def __init__(self, edits: Sequence[Edit[Any]]) -> None:
        self._edits = edits
        self._begun: list[Edit[Any]] = []

    def __enter__(self) -> None:
        try:
            for edit in self._edits:
                edit.__enter__()
                self._begun.append(edit)
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
            for edit in self._begun:
                edit.__exit__(None, None, None)
        except BaseException:
            self._revert()
            raise

    def _revert(self) -> None:
        for edit in reversed(self._begun):
            edit.table.revert(edit)


Editor = Callable[..., Edit[Any] | Editing]
Rememberer = Callable[[Any], None]
"""`Store.editing` and `Store.remember`, or what records the objects that they are called with."""


def recording_editor(
    tables: Mapping[type[Entity], OpenTable[Any]],
    record: type[E],
    touched: dict[int, tuple[E, T]],
    read: Callable[[E], T],
    remember: Callable[[Any], None],
) -> tuple[Editor, Rememberer]:
    """Ways to edit and to remember objects of these tables that record, once, each of a kind with what is read of it
    before.
    """

    def record_of(entity: Any) -> None:  # noqa: ANN401 - an object of any table
        if entity.id not in touched:
            touched[entity.id] = entity, read(entity)

    def remembering(entity: Any) -> None:  # noqa: ANN401 - the same
        if type(entity) is record:
            record_of(entity)
        remember(entity)

    def editing(entity: Any, *others: Any) -> Edit[Any] | Editing:  # noqa: ANN401 - the same
        kind = type(entity)
        if not others:
            if kind is record and entity.id not in touched:  # without a call: most edits are of one object
                touched[entity.id] = entity, read(entity)
            return Edit(tables[kind], entity)
        for each in (entity, *others):
            if type(each) is record:
                record_of(each)
        return Editing([Edit(tables[type(each)], each) for each in (entity, *others)])

    return editing, remembering
