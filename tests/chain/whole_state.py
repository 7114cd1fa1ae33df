"""All of a store at one moment, to be compared with it at another: objects, ids to come, places in every order.

In an order without equal keys, an object's place follows from its fields: it is told by the ids in that order alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ledgerd.state import Store, Table
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, BLOCK_SUMMARY_COUNT

WholeState = dict[str, Any]

SUMMARIES_LOOKED_AT = 300
"""Of the ids of past blocks; a test changes those around its head, the others are too many to look at each time."""


def whole_state(store: Store, tables: Sequence[Table[Any]] = STORED_TABLES, *, head: int | None = None) -> WholeState:
    """What there is: the bytes of each object, the ids of each order, and the place of each object among equal keys.

    With `head`, of the ids of past blocks only the latest are read.
    """
    found: WholeState = {"revision": store.revision}
    for table in tables:
        found[f"{table.title}: counters"] = store._tables[table].counters  # noqa: SLF001 - no caller needs them
        if table is BLOCK_SUMMARIES and head is not None:
            numbers = range(max(0, head - SUMMARIES_LOOKED_AT), head + SUMMARIES_LOOKED_AT)
            entities = [store.get(table, number % BLOCK_SUMMARY_COUNT) for number in numbers]
        else:
            entities = list(store.scan(table))
        encode, ordered = table.codec.encode, table.ordered_indexes
        for entity in entities:
            places = tuple(store.position(index, entity) for index in ordered)
            found[f"{table.title} {entity.id}"] = (encode(entity), places)
        for index in table.indexes:
            found[index.title] = [entity.id for entity in store.scan(index)]
    return found


def first_change(before: WholeState, after: WholeState) -> str | None:
    """Where two states differ, if they do."""
    if before == after:
        return None
    keys = [key for key in [*before, *after] if before.get(key) != after.get(key)]
    return f"{keys[0]}: {before.get(keys[0])!r:.300} became {after.get(keys[0])!r:.300}"
