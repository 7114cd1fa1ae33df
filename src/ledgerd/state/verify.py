"""Checks that objects and indexes agree: each index has one entry for every object, the right one, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ledgerd.state.keys import integer_of
from ledgerd.state.ranges import Range

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ledgerd.state.open_index import OpenIndex
    from ledgerd.state.open_table import OpenTable
    from ledgerd.state.tables import E


def verify(tables: Iterable[OpenTable[Any]]) -> list[str]:
    """Every problem, a line each."""
    return [problem for table in tables for problem in _verify_table(table)]


def _verify_table(opened: OpenTable[E]) -> Iterator[str]:
    title, count = opened.table.title, 0
    next_id, *next_ranks = opened.counters
    for entity in opened.by_id.walk(Range()):
        count += 1
        if entity.id >= next_id:
            yield f"{title} {entity.id}: the next id is {next_id}"
        for rank, following in zip(opened.cache.ranks.get(entity.id, ()), next_ranks, strict=True):
            if rank >= following:
                yield f"{title} {entity.id}: its rank {rank} has not been given yet"
    for index in opened.indexes.values():
        yield from _verify_index(index, count)


def _verify_index(opened: OpenIndex[E], count: int) -> Iterator[str]:
    title, seen = opened.index.title, 0
    for entry, raw in opened.entries():
        seen += 1
        object_id = integer_of(raw)
        entity = opened.cache.find(object_id)
        if entity is None:
            yield f"{title}: an entry leads to {object_id}, which does not exist"
        elif opened.entry(entity) != entry:
            yield f"{title}: the entry of {object_id} is wrong"
    if seen != count:
        yield f"{title}: {seen} entries for {count} objects"
