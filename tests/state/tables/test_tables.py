"""Declarations of tables and indexes, and the text that tells whether a file was written for them."""

from __future__ import annotations

import msgspec
import pytest

from ledgerd.state import Entity, StoreMisuse, Table, ordered, unique
from ledgerd.state.tables.keys import C_TEXT, INT64, NAME_TEXT, TIME
from ledgerd.state.tables.tables import layout
from tests.state.items import ITEM_BY_NAME, ITEM_BY_OPEN_TIME, ITEM_BY_TIME, ITEM_BY_WEIGHT, ITEMS, TABLES, Item


def test_a_table_begins_with_the_id() -> None:
    class Wrong(msgspec.Struct):
        name: str = ""

    with pytest.raises(TypeError, match="Wrong does not begin with its id"):
        Table(Wrong, number=9)  # type: ignore[type-var]


def test_an_index_is_declared_once() -> None:
    class Thing(Entity):
        weight: int = 0

    things = Table(Thing, number=9)
    ordered(things, "by_weight", lambda thing: (thing.weight,), (INT64,))

    with pytest.raises(TypeError, match="by_weight is declared twice"):
        ordered(things, "by_weight", lambda thing: (thing.weight,), (TIME,))


def test_an_object_has_a_rank_for_each_index_with_equal_keys() -> None:
    assert ITEMS.ordered_indexes == [ITEM_BY_TIME, ITEM_BY_WEIGHT]


def test_two_objects_cannot_claim_one_key_that_ends_with_their_own_id() -> None:
    assert ITEM_BY_NAME.can_collide
    assert not ITEM_BY_OPEN_TIME.can_collide
    assert not ITEM_BY_TIME.can_collide


def test_a_key_that_is_cut_is_not_whole() -> None:
    assert ITEM_BY_NAME.is_whole(("alice",))
    assert not ITEM_BY_NAME.is_whole(("a\0lice",))
    assert ITEM_BY_TIME.is_whole((5,))


def test_a_key_that_the_database_cannot_hold_is_refused() -> None:
    class Text(Entity):
        title: str = ""

    texts = Table(Text, number=9)
    by_title = unique(texts, "by_title", lambda text: (text.title,), (C_TEXT,))
    again = ordered(texts, "by_title_again", lambda text: (text.title,), (C_TEXT,))

    assert len(by_title.entry_key(Text(title="a" * 510))) == 511
    with pytest.raises(StoreMisuse, match=r"a key of 512 bytes .* more than 511"):
        by_title.entry_key(Text(title="a" * 511))
    assert len(again.entry_key(Text(title="a" * 502))) == 503
    with pytest.raises(StoreMisuse, match="more than 503"):
        again.entry_key(Text(title="a" * 503))


def test_the_layout_names_all_that_a_file_depends_on() -> None:
    assert layout(TABLES[::-1]).splitlines() == [
        "1 Item(id: ObjectId, name: str, time: UInt32, weight: Int64, is_open: bool, note: Int64)",
        "  Item.by_name unique(name text)",
        "  Item.by_time ordered(uint32)",
        "  Item.by_weight ordered(int64 desc)",
        "  Item.by_open_time unique(bool, uint32, own id)",
        "2 Counter(id: ObjectId, value: Int64)",
    ]


def test_another_order_or_kind_of_index_is_another_layout() -> None:
    declared = [Table(Item, number=1) for _ in range(3)]
    unique(declared[0], "by_name", lambda item: (item.name,), (NAME_TEXT,))
    unique(declared[1], "by_name", lambda item: (item.name,), (C_TEXT,))
    ordered(declared[2], "by_name", lambda item: (item.name,), (C_TEXT,))

    assert len({layout((table,)) for table in declared}) == 3
