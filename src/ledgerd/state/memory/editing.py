"""The contexts in which objects are changed: they tell the tables before and after, and may record what was before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Generic, TypeVar

import msgspec

from ledgerd.state.memory.open_table import OpenTable
from ledgerd.state.tables.tables import E, Entity, Ranks

T = TypeVar("T")


class Edit(msgspec.Struct, Generic[E], gc=False):
    """The context in which one object is changed, and what the object goes back to when the change fails.

    Nothing is done as often as this: what most edits need is done here, without a call, and only an edit that changes
    keys goes to the table.
    """

    table: OpenTable[E]
    entity: E
    image: E | None = None
    """A copy from before the change."""
    ranks: Ranks = ()
    outer: E | None = None
    """The copy that the index entries were made of, when an edit of the same object encloses this one."""

    def __enter__(self) -> None:
        table, entity = self.table, self.entity
        object_id, cache = entity.id, table.cache
        if cache.objects.get(object_id) is not entity:
            cache.require_current(entity)
        image = self.image = entity.__copy__()
        if table.sessions:
            session = table.sessions[-1]
            undo = session.changes.get(table.table) or table.begin_undo(session)
            if object_id not in undo.modified and object_id not in undo.created:
                undo.modified[object_id] = image
        if object_id not in cache.committed:
            cache.committed[object_id] = (image, cache.ranks.get(object_id, ()))
        if table.indexes:
            if table.has_ranks:
                self.ranks = cache.ranks[object_id]
            outer = self.outer = cache.indexed_as.get(object_id)
            if outer is None:
                cache.indexed_as[object_id] = image

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        table = self.table
        if kind is not None:
            self.revert()
            return
        if not table.indexes:
            return
        entity, indexed_as = self.entity, table.cache.indexed_as
        object_id = entity.id
        indexed = indexed_as.get(object_id)
        if indexed is None:
            return  # named twice in one edit
        try:
            moved_in = table.moved_in(indexed, entity)
            if moved_in:
                table.end_edit(entity, self.outer, moved_in)
            elif self.outer is None:
                del indexed_as[object_id]
        except BaseException:
            self.revert()
            raise

    def revert(self) -> None:
        self.table.revert(self.entity, self.image, self.ranks, self.outer)


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
            edit.revert()


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
