"""`ledgerd debug codec`: the functions that are generated for a type, as text."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import msgspec

from ledgerd.codec import record_kind
from ledgerd.codec.listing import DIRECTIONS, listing
from ledgerd.protocol.errors import OperatorError

ROOTS = (
    "ledgerd.protocol.operations",
    "ledgerd.protocol.blocks.block",
    "ledgerd.state.objects",
    "ledgerd.p2p.wire.messages",
)
"""Modules that import all types with codecs: operations, blocks, state objects, peer messages."""


def run(chosen: argparse.Namespace) -> int:
    found = [record for record in _records() if record.__name__.lower() == chosen.type.lower()]
    if not found:
        raise OperatorError(f"there is no type {chosen.type}; the classes of {', '.join(ROOTS)} can be printed")
    directions = tuple(DIRECTIONS) if chosen.direction is None else (chosen.direction,)
    for record in found:
        sys.stdout.write(f"# {record.__module__}.{record.__qualname__}\n{listing(record_kind(record), directions)}\n")
    return 0


def _records() -> Iterator[type[Any]]:
    for root in ROOTS:
        import_module(root)
    known: set[type[Any]] = set()
    waiting: list[type[Any]] = [msgspec.Struct]
    while waiting:
        for record in waiting.pop().__subclasses__():
            if record not in known:
                known.add(record)
                waiting.append(record)
    declared = (record for record in known if record.__module__.startswith("ledgerd.") and record.__struct_fields__)
    yield from sorted(declared, key=lambda record: (record.__module__, record.__qualname__))
