"""Loading makes the file that creating the same rows one by one makes, in whatever portions it works."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import lmdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.state import Entity, Space, StateReader, Store, StoreMisuse, Table, unique
from ledgerd.state.errors import NotUniqueRow, StoreCorrupt
from ledgerd.state.loading import LoadingLimits
from ledgerd.state.tables.keys import C_TEXT, MAX_KEY_BYTES
from tests.state.ids import set_next_id
from tests.state.items import (
    COUNTERS,
    ITEM_BY_NAME,
    ITEM_BY_OPEN_TIME,
    ITEM_BY_TIME,
    ITEM_BY_WEIGHT,
    ITEMS,
    TABLES,
    Counter,
    Item,
)

SMALL = Space(1 << 20, 1 << 16, 1 << 17)
LIMITS = st.builds(LoadingLimits, st.integers(1, 7), st.integers(1, 4), st.integers(1, 300))

ROWS = st.lists(
    st.builds(
        Item,
        id=st.integers(0, 60),
        name=st.text("abcdef", max_size=5),
        time=st.integers(0, 3),
        weight=st.integers(-2, 2),
        is_open=st.booleans(),
    ),
    max_size=25,
    unique_by=(lambda item: item.id, lambda item: item.name),
).map(lambda items: sorted(items, key=lambda item: item.id))


def contents(folder: Path) -> dict[bytes, list[tuple[bytes, bytes]]]:
    """Every entry of every sub-database."""
    with lmdb.Environment(str(folder), max_dbs=64, readonly=True, lock=False) as environment:
        with environment.begin() as transaction:
            names = environment.dbs(transaction)
        handles = {name: environment.open_db(name, create=False) for name in names}
        with environment.begin() as transaction:
            return {name: list(transaction.cursor(handle)) for name, handle in handles.items()}


PORTIONS = LoadingLimits(2, 2, 100)


def with_rows(store: Store, rows: list[Item], limits: LoadingLimits = PORTIONS) -> None:
    with store.loading(limits) as loading:
        for row in rows:
            loading.add(ITEMS, row)
            loading.add(COUNTERS, Counter(row.id, value=row.weight))


def load(folder: Path, rows: list[Item], limits: LoadingLimits = PORTIONS) -> None:
    with Store.open(folder, TABLES, space=SMALL) as store:
        with_rows(store, rows, limits)


@given(rows=ROWS, limits=LIMITS)
def test_a_loaded_file_is_the_one_of_created_rows(rows: list[Item], limits: LoadingLimits) -> None:
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        with Store.open(one, TABLES, space=SMALL) as store:
            for row in rows:
                set_next_id(store, ITEMS, row.id)
                store.create(ITEMS, row.__copy__())
                set_next_id(store, COUNTERS, row.id)
                store.create(COUNTERS, Counter(value=row.weight))
            store.commit()

        load(Path(other), rows, limits)

        assert contents(Path(other)) == contents(Path(one))


def items(count: int) -> list[Item]:
    """Rows whose names go down while their ids go up."""
    return [Item(number, f"item{count - number:04}", number % 3, -number, number % 2 == 0) for number in range(count)]


def test_what_follows_a_load_goes_on_from_it(tmp_path: Path) -> None:
    with Store.open(tmp_path, TABLES, space=SMALL) as store:
        assert store.first(ITEM_BY_TIME) is None
        assert store.front(ITEM_BY_WEIGHT, 2, lambda item: item.name) == []
        assert list(store.scan(ITEM_BY_OPEN_TIME)) == []

        with_rows(store, items(9))

        assert store.commits == 1
        assert [item.id for item in store.scan(ITEM_BY_TIME)] == [0, 3, 6, 1, 4, 7, 2, 5, 8]
        assert store.front(ITEM_BY_WEIGHT, 2, lambda item: item.name) == ["item0009", "item0008"]
        assert next(iter(store.scan(ITEM_BY_OPEN_TIME))).id == 3
        assert store.create(ITEMS, Item(name="new", time=0)).id == 9
        assert [item.id for item in store.scan(ITEM_BY_TIME, upper=(0,))] == [0, 3, 6, 9]
        with store.editing(store.at(ITEM_BY_NAME, "item0001")):
            store.get(ITEMS, 8).time = 0
        store.commit()
        assert [item.id for item in store.scan(ITEM_BY_TIME, upper=(0,))] == [0, 3, 6, 9, 8]
        assert store.verify() == []


@pytest.mark.parametrize("limits", [LoadingLimits(), LoadingLimits(2, 2, 1), LoadingLimits(3, 1, 1 << 20)])
def test_two_rows_of_one_key_are_refused(tmp_path: Path, limits: LoadingLimits) -> None:
    rows = items(20)
    rows[17].name = rows[4].name

    with pytest.raises(NotUniqueRow, match="uniqueness constraint") as caught:
        load(tmp_path, rows, limits)

    assert (caught.value.table, caught.value.object_id) == ("Item", 17)


def test_the_file_of_two_rows_with_one_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotUniqueRow):
        load(tmp_path, [*items(20), Item(20, "item0001")], LoadingLimits(2, 2, 1))

    for opening in (Store.open, StateReader.open):
        with pytest.raises(StoreCorrupt, match="the import that made it was stopped"):
            opening(tmp_path, TABLES)


def test_a_store_whose_load_failed_does_not_become_a_state(tmp_path: Path) -> None:
    with Store.open(tmp_path, TABLES, space=SMALL) as store:
        with pytest.raises(StoreMisuse, match="the next id of Item cannot be set to 3"):
            with_rows(store, [Item(3, "one"), Item(3, "two")])
        store.commit()

    with pytest.raises(StoreCorrupt, match="the import that made it was stopped"):
        Store.open(tmp_path, TABLES)


def test_only_a_new_state_can_be_loaded(tmp_path: Path) -> None:
    with Store.open(tmp_path, TABLES) as store:
        store.create(ITEMS, Item(name="one"))

        with pytest.raises(StoreMisuse, match="a new state only"):
            with_rows(store, [])


class Page(Entity):
    """Something with a key of any length."""

    text: str = ""


def test_a_key_that_is_too_long_is_refused(tmp_path: Path) -> None:
    pages = Table(Page, number=3)
    unique(pages, "by_text", lambda page: (page.text,), (C_TEXT,))

    with (
        Store.open(tmp_path, (pages,)) as store,
        pytest.raises(StoreMisuse, match=r"a key of 512 bytes in Page\.by_text"),
        store.loading() as loading,
    ):
        loading.add(pages, Page(text="x" * MAX_KEY_BYTES))


def test_a_load_leaves_no_file_behind(tmp_path: Path) -> None:
    load(tmp_path, items(30))

    assert {path.name for path in tmp_path.iterdir()} == {"data.mdb", "lock.mdb", "writer.lock"}


def test_a_map_that_is_too_small_grows(tmp_path: Path) -> None:
    space = Space(initial=1 << 16, min_free=0, increment=1 << 13)
    with Store.open(tmp_path, TABLES, space=space) as store:
        with_rows(store, items(3000), LoadingLimits(100, 10, 1 << 15))

        assert [item.id for item in store.scan(ITEM_BY_NAME)] == list(reversed(range(3000)))
        assert store.verify() == []
