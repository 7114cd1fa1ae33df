"""The rank of an object among equal keys, where its key has changed (spec 02, section 2.3)."""

from __future__ import annotations

from ledgerd.state.memory.open_index import OpenIndex
from ledgerd.state.tables.keys import INT64, integer_of
from ledgerd.state.tables.tables import RANK_BYTES, E


def rank_after_change(opened: OpenIndex[E], entity: E, indexed: E) -> int | None:
    """By rule 2; None when it is the rank after all others. `indexed` is a copy of the object, with its entry's key."""
    rank = opened.cache.ranks[entity.id][opened.slot]
    old, new = opened.index.entry_key(indexed), opened.index.entry_key(entity)
    if old == new:
        return rank
    previous, following = opened.neighbours(old + INT64.encode(rank))
    if (previous is None or previous[:-RANK_BYTES] <= new) and (following is None or new <= following[:-RANK_BYTES]):
        if following is not None and following[:-RANK_BYTES] == new:
            return integer_of(following[-RANK_BYTES:]) - 1
        if previous is None or previous[:-RANK_BYTES] < new:
            return rank
    return None
