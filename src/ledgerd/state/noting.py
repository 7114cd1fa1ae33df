"""Editing that notes what objects were before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ledgerd.state.editing import Editing
from ledgerd.state.open_table import Edit, OpenTable
from ledgerd.state.tables import E, Entity

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

    def editing(entity: Entity, *others: Entity) -> Edit[Any] | Editing:
        kind = type(entity)
        if kind is record:
            note(entity)
        if not others:
            return Edit(tables[kind], entity)
        for other in others:
            if type(other) is record:
                note(other)
        return Editing([Edit(tables[type(each)], each) for each in (entity, *others)])

    return editing
