"""The tables that the tests of the store are written with: one with every kind of index, and one with none."""

from __future__ import annotations

from ledgerd.codec.types.numbers import Int64, UInt32
from ledgerd.state.tables.keys import BOOL, INT64, NAME_TEXT, OWN_ID, TIME, descending
from ledgerd.state.tables.tables import Entity, Table, ordered, unique


class Item(Entity):
    """Something with a name, a time and a weight, and with a note, of which no key is made."""

    name: str = ""
    time: UInt32 = 0
    weight: Int64 = 0
    is_open: bool = False
    note: Int64 = 0


class Counter(Entity):
    """Something with no order of its own."""

    value: Int64 = 0


ITEMS = Table(Item, number=1)
ITEM_BY_NAME = unique(ITEMS, "by_name", key=lambda item: (item.name,), order=(NAME_TEXT,))
ITEM_BY_TIME = ordered(ITEMS, "by_time", key=lambda item: (item.time,), order=(TIME,))
ITEM_BY_WEIGHT = ordered(ITEMS, "by_weight", key=lambda item: (item.weight,), order=(descending(INT64),))
ITEM_BY_OPEN_TIME = unique(
    ITEMS,
    "by_open_time",
    key=lambda item: (item.is_open, item.time, item.id),
    order=(BOOL, TIME, OWN_ID),
)
COUNTERS = Table(Counter, number=2)

TABLES = (ITEMS, COUNTERS)
