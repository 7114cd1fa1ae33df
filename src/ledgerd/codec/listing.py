"""The generated functions of a record as text, for people: what is compiled, and what its short names stand for."""

from __future__ import annotations

import linecache
import re
import struct
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from ledgerd.codec.types.records import RecordKind

DIRECTIONS = {"read": "reader", "write": "writer", "print": "printer", "show": "transcriber"}
"""Bytes to a value, a value to bytes, a value to JSON, bytes to JSON: by the first word of the function's name."""

LONGEST = 60
"""Characters of a value that are shown."""

_BOUND = re.compile(r"k[0-9]+")


def listing(kind: RecordKind, directions: tuple[str, ...] = tuple(DIRECTIONS)) -> str:
    """The functions of a record, each with the values that its `k` names are bound to."""
    return "\n".join(_function_text(getattr(kind, DIRECTIONS[direction])) for direction in directions)


def _function_text(function: FunctionType) -> str:
    lines = linecache.getlines(function.__code__.co_filename)
    return "".join([*_bindings(function), *lines])


def _bindings(function: FunctionType) -> Iterator[str]:
    for name, value in function.__globals__.items():
        if _BOUND.fullmatch(name):
            yield f"# {name} = {_described(value)}\n"


def _described(value: Any) -> str:
    """A value as a person can read it: names and small values in full, of large ones the number of their parts."""
    owner = getattr(value, "__self__", None)
    name = getattr(value, "__qualname__", None)
    if isinstance(owner, struct.Struct):
        return f"struct.Struct({owner.format!r}).{value.__name__}"
    if isinstance(owner, ModuleType) or (owner is None and name is not None):
        return f"{value.__module__}.{name}"
    if owner is not None and name is not None:
        return f"{type(owner).__module__}.{name}"
    text = repr(value)
    return text if len(text) <= LONGEST else f"{type(value).__name__} of {len(value)}: {text[:LONGEST]}..."
