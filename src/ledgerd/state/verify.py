"""Proof that objects and indexes agree: every object stands once in every index, in its place, and none else does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ledgerd.state.indexing import IndexState
from ledgerd.state.keys import integer_of
from ledgerd.state.ranges import Range

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ledgerd.state.cache import TableCache
    from ledgerd.state.tables import E


def verify(caches: Iterable[TableCache[Any]]) -> list[str]:
    """All that is wrong, a line each."""
    return [problem for cache in caches for problem in _verify_table(cache)]


def _verify_table(cache: TableCache[E]) -> Iterator[str]:
    title, count = cache.table.title, 0
    for entity in cache.by_id.walk(Range()):
        count += 1
        if entity.id >= cache.next_id:
            yield f"{title} {entity.id}: the next id is {cache.next_id}"
        for place, rank in enumerate(cache.ranks.get(entity.id, ())):
            if rank >= cache.next_ranks[place]:
                yield f"{title} {entity.id}: its rank {rank} has not been given yet"
    for state in cache.indexes.values():
        yield from _verify_index(cache, state, count)


def _verify_index(cache: TableCache[E], state: IndexState[E], count: int) -> Iterator[str]:
    title, seen = state.index.title, 0
    for entry, raw in state.entries():
        seen += 1
        object_id = integer_of(raw)
        entity = cache.find(object_id)
        if entity is None:
            yield f"{title}: an entry leads to {object_id}, which does not exist"
        elif state.entry(entity) != entry:
            yield f"{title}: {object_id} stands where it does not belong"
    if seen != count:
        yield f"{title}: {seen} entries for {count} objects"
