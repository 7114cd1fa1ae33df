"""Which fields the keys of a table's indexes are made of, so that an edit can tell at once that it moved nothing."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FunctionType

    from ledgerd.state.tables import E, Index, Table


def key_reader(table: Table[E]) -> Callable[[E], object] | None:
    """A function that reads of an object all that its keys are made of: while that is equal, no key has changed.

    None for a table without indexes, or with a key whose fields cannot be told.
    """
    fields: set[str] = set()
    for index in table.indexes:
        found = fields_of(index.key, table.record)
        if found is None:
            return None
        fields |= found
    return _reader(fields)


def reader_of(index: Index[E]) -> Callable[[E], object]:
    """The same of one index: while it is equal, the key has not changed. The key itself where nothing else is known."""
    return _reader(fields_of(index.key, index.table.record) or set()) or index.key


def _reader(fields: set[str]) -> Callable[[Any], object] | None:
    names = sorted(fields - {"id"})  # which never changes
    return attrgetter(*names) if names else None


def fields_of(function: Any, record: type) -> set[str] | None:  # noqa: ANN401 - any function of one object
    """The fields that a function of an object, or a property of its type, reads; None where that cannot be told.

    Each name that it uses must be a field, a property of which the same can be said, or a constant of its module: one
    that calls a function could read anything.
    """
    code = getattr(function, "__code__", None)
    if code is None or code.co_freevars:
        return None
    fields: set[str] = set()
    for name in code.co_names:
        if name in record.__struct_fields__:  # type: ignore[attr-defined]
            fields.add(name)
            continue
        inner = getattr(record, name, None)
        if isinstance(inner, property):
            found = fields_of(inner.fget, record)
            if found is None:
                return None
            fields |= found
        elif not _is_constant(function, name):
            return None
    return fields


def _is_constant(function: FunctionType, name: str) -> bool:
    return name in function.__globals__ and not callable(function.__globals__[name])
