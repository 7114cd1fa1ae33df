"""Which fields keys are made of: told for all that can be told, and never too few."""

from __future__ import annotations

import pytest

from ledgerd.state import Entity, Table, ordered, unique
from ledgerd.state.key_fields import fields_of, key_reader, reader_of
from ledgerd.state.keys import BOOL, OWN_ID, UINT32
from ledgerd.state.objects import STORED_TABLES

LIMIT = 5


def _doubled(number: int) -> int:
    return 2 * number


class Thing(Entity):
    """With fields, and properties that read them."""

    size: int = 0
    weight: int = 0
    title: str = ""

    @property
    def is_large(self) -> bool:
        """Reads a field and a constant."""
        return self.size > LIMIT

    @property
    def is_odd(self) -> bool:
        """Reads a property and a field."""
        return self.is_large and bool(self.weight)

    @property
    def is_dense(self) -> bool:
        """Reads a property and a field."""
        return self.is_large or self.weight > LIMIT


def test_fields_are_found_behind_properties_and_constants() -> None:
    assert fields_of(lambda thing: (thing.size, thing.id), Thing) == {"size", "id"}
    assert fields_of(lambda thing: (thing.is_large,), Thing) == {"size"}
    assert fields_of(lambda thing: (thing.is_dense, thing.size != LIMIT), Thing) == {"size", "weight"}


def test_what_calls_a_function_or_reads_something_else_cannot_be_told() -> None:
    other = 3
    assert fields_of(lambda thing: (_doubled(thing.size),), Thing) is None
    assert fields_of(lambda thing: (len(thing.title),), Thing) is None
    assert fields_of(lambda thing: (thing.is_odd,), Thing) is None
    assert fields_of(lambda thing: (thing.size == other,), Thing) is None
    assert fields_of(lambda thing: (thing.size.real,), Thing) is None
    assert fields_of(len, Thing) is None


def test_a_reader_reads_the_fields_of_all_keys_of_a_table() -> None:
    table = Table(Thing, number=1)
    assert key_reader(table) is None
    unique(table, "by_size", lambda thing: (thing.size, thing.id), (UINT32, OWN_ID))
    ordered(table, "by_density", lambda thing: (thing.is_dense,), (BOOL,))
    read = key_reader(table)
    assert read is not None
    assert read(Thing(id=7, size=1, title="a")) == read(Thing(id=7, size=1, title="b"))
    assert read(Thing(id=7, size=1)) != read(Thing(id=7, size=2))
    assert read(Thing(id=7, weight=1)) != read(Thing(id=7, weight=2))
    ordered(table, "by_double", lambda thing: (_doubled(thing.size),), (UINT32,))
    assert key_reader(table) is None


@pytest.mark.parametrize("table", [table for table in STORED_TABLES if table.indexes], ids=lambda table: table.title)
def test_the_keys_of_every_table_of_the_ledger_can_be_told(table: Table[Entity]) -> None:
    for index in table.indexes:
        assert fields_of(index.key, table.record) is not None, index.title


def test_a_reader_of_one_index_is_its_key_where_fields_cannot_be_told() -> None:
    table = Table(Thing, number=1)
    told = ordered(table, "by_density", lambda thing: (thing.is_dense,), (BOOL,))
    untold = ordered(table, "by_double", lambda thing: (_doubled(thing.size),), (UINT32,))
    by_id = unique(table, "by_own_id", lambda thing: (thing.id,), (OWN_ID,))
    assert reader_of(told)(Thing(size=2, weight=3)) == (2, 3)
    assert reader_of(untold) is untold.key
    assert reader_of(by_id) is by_id.key
