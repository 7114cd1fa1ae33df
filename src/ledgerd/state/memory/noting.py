"""Editing that notes what objects were before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ledgerd.state.memory.editing import Editing
from ledgerd.state.memory.open_table import Edit, OpenTable
from ledgerd.state.tables.tables import E, Entity

T = TypeVar("T")


def noting_editor(
    tables: Mapping[type[Entity], OpenTable[Any]],
    record: type[E],
    notes: dict[int, tuple[E, T]],
    read: Callable[[E], T],
) -> Callable[..., Edit[Any] | Editing]:
    """A way to edit objects of these tables that notes, once, each of a kind with what is read of it before."""

    def note(entity: Any) -> None:  # noqa: ANN401 - an object of any table
        if entity.id not in notes:
            notes[entity.id] = entity, read(entity)

    def editing(entity: Any, *others: Any) -> Edit[Any] | Editing:  # noqa: ANN401 - the same
        kind = type(entity)
        if not others:
            if kind is record and entity.id not in notes:  # without a call: most edits are of one object
                notes[entity.id] = entity, read(entity)
            return Edit(tables[kind], entity)
        for each in (entity, *others):
            if type(each) is record:
                note(each)
        return Editing([Edit(tables[type(each)], each) for each in (entity, *others)])

    return editing
