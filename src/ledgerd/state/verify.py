"""Checks that objects and indexes agree: each index has one entry for every object, the right one, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ledgerd.state.memory.open_index import OpenIndex
from ledgerd.state.memory.open_table import OpenTable
from ledgerd.state.tables.keys import integer_of
from ledgerd.state.tables.tables import E


def verify(tables: Iterable[OpenTable[Any]]) -> list[str]:
    return [problem for table in tables for problem in _verify_table(table)]


def _verify_table(opened: OpenTable[E]) -> Iterator[str]:
    """Objects are not kept in memory: there may be millions."""
    title, count = opened.table.title, 0
    next_id, *next_ranks = opened.counters
    for index in opened.all_indexes:
        index.flush()  # before the walk, which a map that grows would end
    for object_id in opened.ids():
        found = opened.cache.passing(object_id)
        if found is None:
            continue
        entity, ranks = found
        count += 1
        if object_id >= next_id:
            yield f"{title} {object_id}: the next id is {next_id}"
        for rank, following in zip(ranks, next_ranks, strict=True):
            if rank >= following:
                yield f"{title} {object_id}: its rank {rank} has not been given yet"
        for index in opened.indexes.values():
            if index.leads_to(index.entry_of(entity, ranks)) != object_id:
                yield f"{index.index.title}: the entry of {object_id} is missing"
    for index in opened.indexes.values():
        yield from _verify_count(index, count)


def _verify_count(opened: OpenIndex[E], count: int) -> Iterator[str]:
    """Each object has its entry; where there are as many entries as objects, there are no others."""
    title, seen = opened.index.title, opened.count()
    if seen == count:
        return
    for entry, raw in opened.entries():
        object_id = integer_of(raw)
        found = opened.cache.passing(object_id)
        if found is None:
            yield f"{title}: an entry leads to {object_id}, which does not exist"
        elif opened.entry_of(*found) != entry:
            yield f"{title}: the entry of {object_id} is wrong"
    yield f"{title}: {seen} entries for {count} objects"
