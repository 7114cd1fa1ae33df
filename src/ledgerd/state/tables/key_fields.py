"""Which fields the keys of a table's indexes are made of, so that an edit can tell at once that it moved nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ledgerd.codec.source import Source
from ledgerd.state.tables.tables import E, Index

T = TypeVar("T")


def key_comparison(record: type[E], indexes: Sequence[tuple[Index[E], T]]) -> Callable[[E, E], Sequence[T]]:
    """A function of two states of an object: what is given here for each index in which their keys differ.

    It compares fields first, all at once, since most changes move nothing. It is written for the table, as there is no
    faster way to compare a few attributes of two objects: for an index by time and a name it is

        def moved_Thing(before, after):
            if before.time == after.time and before.name == after.name:
                return ()
            moved = []
            if (before.time != after.time or before.name != after.name) and key(before) != key(after):
                moved.append(index)
            return moved
    """
    source = Source()
    known = [fields_of(index.key, record) for index, _ in indexes]
    if not indexes:
        source.add("return ()")
    elif None not in known:
        source.add(f"if {' and '.join(_terms('==', set().union(*filter(None, known)))) or 'True'}:")
        source.add("    return ()")
    source.add("moved = []")
    for (index, value), fields in zip(indexes, known, strict=True):
        key = source.bind(index.key)
        terms = _terms("!=", fields or set())
        condition = f"({' or '.join(terms)}) and " if terms else ""
        source.add(f"if {condition}{key}(before) != {key}(after):")
        source.add(f"    moved.append({source.bind(value)})")
    source.add("return moved")
    compiled: Callable[[E, E], Sequence[T]] = source.compiled(f"moved_{record.__name__}", "before, after")
    return compiled


def _terms(operator: str, fields: set[str]) -> list[str]:
    """The comparison of each field but the id, which never changes."""
    return [f"before.{name} {operator} after.{name}" for name in sorted(fields - {"id"})]


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
        elif name not in function.__globals__ or callable(function.__globals__[name]):
            return None
    return fields
