"""A state that is copied and put back: the same to the last entry, whatever happened in between."""

from __future__ import annotations

from pathlib import Path

from ledgerd.state import Store
from ledgerd.state.files.copying import copy_commit, copy_state, put_back
from ledgerd.state.files.disk import DATA_FILE
from ledgerd.state.tables.keys import INT64
from tests.state.blocks import SMALL, check_blocks, content, expected, make_block
from tests.state.items import COUNTERS, ITEMS, TABLES, Counter, Item


def make_blocks(folder: Path, count: int) -> None:
    with Store.open(folder, TABLES, space=SMALL) as store:
        for _ in range(count):
            make_block(store)
            store.commit()


def test_a_state_that_is_put_back_is_as_it_was_copied(tmp_path: Path) -> None:
    state, copy = tmp_path / "state", tmp_path / "copies" / "one"
    make_blocks(state, 7)
    copy_state(state, copy)
    make_blocks(state, 5)

    put_back(state, copy)

    with Store.open(state, TABLES) as store:
        assert store.revision == 7
        check_blocks(store)


def test_the_last_commit_is_copied_without_the_writer(tmp_path: Path) -> None:
    """Beside a writer it is copied where imported states are checked: one process opens a file once."""
    state, copy = tmp_path / "state", tmp_path / "copy"
    make_blocks(state, 7)

    copy_commit(state, copy)

    make_blocks(state, 5)
    with Store.open(copy, TABLES) as store:
        assert store.revision == 7
        check_blocks(store)
        assert store.verify() == []


def test_a_copy_can_be_put_back_twice_and_opened_itself(tmp_path: Path) -> None:
    state, copy = tmp_path / "state", tmp_path / "copy"
    make_blocks(state, 3)
    copy_state(state, copy)
    for _ in range(2):
        make_blocks(state, 2)
        put_back(state, copy)

    for folder in (state, copy):
        with Store.open(folder, TABLES) as store:
            assert content(store) == expected(3)


def test_of_a_table_only_rows_that_are_named_are_put_back(tmp_path: Path) -> None:
    state, copy = tmp_path / "state", tmp_path / "copy"
    with Store.open(state, TABLES, space=SMALL) as store:
        first, second = (store.create(ITEMS, Item(name=name, weight=1)).id for name in ("first", "second"))
        counter = store.create(COUNTERS, Counter(value=1)).id
        store.commit()
    copy_state(state, copy)
    with Store.open(state, TABLES, space=SMALL) as store:
        for each in (first, second):
            with store.editing(item := store.get(ITEMS, each)):
                item.is_open = True
        with store.editing(count := store.get(COUNTERS, counter)):
            count.value = 2
        store.commit()

    put_back(state, copy, {ITEMS.title: [INT64.encode(first)]})

    with Store.open(state, TABLES, space=SMALL) as store:
        assert [store.get(ITEMS, each).is_open for each in (first, second)] == [False, True]
        assert store.get(COUNTERS, counter).value == 1


def test_a_copy_that_is_larger_than_the_state_is_put_back_whole(tmp_path: Path) -> None:
    large, small = tmp_path / "large", tmp_path / "small"
    with Store.open(large, TABLES, space=SMALL) as store:
        for number in range(20_000):
            store.create(ITEMS, Item(name=f"item{number}"))
            if number % 1_000 == 999:
                store.commit()
    make_blocks(small, 1)
    assert (large / DATA_FILE).stat().st_size > SMALL.initial

    put_back(small, large)

    with Store.open(small, TABLES) as store:
        assert store.count(ITEMS) == 20_000
        assert store.verify() == []
