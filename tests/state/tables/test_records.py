"""The bytes of an object in the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.state import Store
from ledgerd.state.errors import StoreCorrupt
from ledgerd.state.tables.keys import INT64
from ledgerd.state.tables.records import RecordForm
from tests.state.items import COUNTERS, ITEMS, TABLES, Counter, Item

RANK = st.integers(-(1 << 63), (1 << 63) - 1)


@given(st.builds(Item, id=st.integers(0, 1 << 40), name=st.text("abc"), weight=RANK), st.tuples(RANK, RANK))
def test_an_object_and_its_ranks_come_back_from_their_bytes(item: Item, ranks: tuple[int, int]) -> None:
    form = RecordForm(ITEMS)

    raw = form.encode(item, ranks)

    assert (form.decode(raw), form.ranks(raw)) == (item, ranks)
    assert raw[form.start :] == ITEMS.codec.encode(item)


def test_without_ordered_indexes_the_bytes_are_those_of_the_object() -> None:
    counter = Counter(3, 8)

    assert RecordForm(COUNTERS).encode(counter, ()) == COUNTERS.codec.encode(counter)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A state of ten objects."""
    with Store.open(tmp_path, TABLES) as store:
        for number in range(10):
            store.create(ITEMS, Item(name=f"item{number}"))
        store.commit()
    return tmp_path


def test_an_object_that_cannot_be_read_is_damage_and_no_broken_rule(folder: Path) -> None:
    with Store.open(folder, TABLES) as store:
        database = store._databases[ITEMS.title]  # noqa: SLF001 - what no caller can do
        store._disk.transaction.put(INT64.encode(7), b"\0" * 20, db=database)  # noqa: SLF001

        with pytest.raises(StoreCorrupt, match="an object of Item cannot be read"):
            store.get(ITEMS, 7)
