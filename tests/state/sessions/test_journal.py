"""The journal: what a session remembers, as bytes and back, and the blocks that a restarted store can undo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.state import Store, Table
from ledgerd.state.errors import StoreCorrupt
from ledgerd.state.sessions.journal import JOURNAL, decode_session, encode_session
from ledgerd.state.sessions.sessions import Changes
from ledgerd.state.sessions.undo import TableUndo
from ledgerd.state.tables.keys import INT64
from tests.state.blocks import content, expected, make_block
from tests.state.items import COUNTERS, ITEMS, TABLES, Counter, Item

IDS = st.integers(0, (1 << 63) - 1)
RANKS = st.tuples(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(0, 1 << 40))
ITEM_OBJECTS = st.builds(Item, name=st.text("abc", max_size=8), time=st.integers(0, 9), is_open=st.booleans())


def image_bytes(table: Table[Any], _: int, image: Any) -> bytes:
    return table.codec.encode(image)


@st.composite
def item_changes(draw: st.DrawFn) -> Changes:
    undo = TableUndo[Item](draw(IDS), draw(RANKS))
    undo.created = draw(st.sets(IDS, max_size=3))
    undo.removed = draw(st.dictionaries(IDS, ITEM_OBJECTS, max_size=3))
    undo.modified = draw(st.dictionaries(IDS, ITEM_OBJECTS, max_size=3))
    undo.ranks = draw(st.dictionaries(IDS, RANKS, max_size=3))
    counters = TableUndo[Counter](draw(IDS), ())
    counters.modified = {7: Counter(7, draw(IDS))}
    return {ITEMS: undo, COUNTERS: counters}


@given(item_changes())
def test_a_session_comes_back_from_its_bytes(changes: Changes) -> None:
    found = decode_session(encode_session(changes, image_bytes), {table.number: table for table in TABLES})

    assert list(found) == list(changes)
    for table, undo in changes.items():
        back = found[table]
        assert (back.next_id, back.next_ranks, back.created) == (undo.next_id, undo.next_ranks, undo.created)
        assert (back.modified, back.ranks) == (undo.modified, undo.ranks)
        assert back.removed == {each: undo.modified.get(each, entity) for each, entity in undo.removed.items()}


def test_an_object_that_was_changed_and_removed_is_stored_once() -> None:
    undo = TableUndo[Item](8, (8, 8))
    undo.modified = {7: Item(7, "before")}
    undo.removed = {7: Item(7, "after")}

    raw = encode_session({ITEMS: undo}, image_bytes)

    assert b"before" in raw
    assert b"after" not in raw
    (back,) = decode_session(raw, {ITEMS.number: ITEMS}).values()
    assert back.removed == back.modified
    assert back.removed[7] is not back.modified[7]


def test_the_journal_holds_the_blocks_that_can_be_undone(tmp_path: Path) -> None:
    with Store.open(tmp_path, TABLES) as store:
        for _ in range(8):
            make_block(store)
            store.commit()
        store.undo()
        store.commit()
        journal = store._databases[JOURNAL]  # noqa: SLF001 - what no caller sees
        keys = [key for key, _ in store._disk.transaction.cursor(journal)]  # noqa: SLF001

    assert keys == [INT64.encode(6), INT64.encode(7)]


def test_a_journal_that_lacks_a_block_is_damage(tmp_path: Path) -> None:
    with Store.open(tmp_path, TABLES) as store:
        for _ in range(8):
            make_block(store)
        store.commit()
    with Store.open(tmp_path, TABLES) as store:
        journal = store._databases[JOURNAL]  # noqa: SLF001 - what no caller can do
        store._disk.transaction.delete(INT64.encode(7), db=journal)  # noqa: SLF001

        with pytest.raises(StoreCorrupt, match="the journal of a block is missing"):
            store.undo()


def test_only_the_newest_block_of_the_journal_is_read_when_a_state_is_opened(tmp_path: Path) -> None:
    with Store.open(tmp_path, TABLES) as store:
        for _ in range(8):
            make_block(store)
        store.commit()

    with Store.open(tmp_path, TABLES) as store:
        sessions = store._stack.sessions  # noqa: SLF001 - what no caller sees
        assert [bool(session.changes) for session in sessions] == [False, False, True]
        store.undo()
        assert [bool(session.changes) for session in sessions] == [False, True]
        assert content(store) == expected(7)


def test_the_image_of_an_object_that_was_removed_and_came_back_is_not_read_from_the_file(tmp_path: Path) -> None:
    """The open transaction has a placeholder where the record was: its entry by id was deleted and put again."""
    with Store.open(tmp_path, TABLES) as store:
        counter = store.create(COUNTERS, Counter(value=7))
        store.commit()
        with store.begin() as block:
            with store.editing(counter):
                counter.value = 8
            with store.begin():
                store.remove(counter)
                assert list(store.scan(COUNTERS)) == []
            assert list(store.scan(COUNTERS)) == [counter]
            block.push()
        store.commit()

    with Store.open(tmp_path, TABLES) as store:
        assert store.get(COUNTERS, 0).value == 8
        store.undo()
        assert store.get(COUNTERS, 0).value == 7
