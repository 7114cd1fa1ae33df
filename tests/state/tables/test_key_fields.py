"""Which fields keys are made of: told for all that can be told, and never too few."""

from __future__ import annotations

import pytest

from ledgerd.state import Entity, Table, ordered, unique
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.tables.key_fields import fields_of, key_comparison
from ledgerd.state.tables.keys import BOOL, OWN_ID, UINT32

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


def moved(table: Table[Thing], before: Thing, after: Thing) -> list[str]:
    """The indexes in which two states of an object have different keys."""
    comparison = key_comparison(Thing, [(index, index.title) for index in table.indexes])
    return [*comparison(before, after)]


def test_an_index_has_moved_where_its_key_differs_and_nowhere_else() -> None:
    table = Table(Thing, number=1)
    assert moved(table, Thing(size=1), Thing(size=2)) == []
    unique(table, "by_size", lambda thing: (thing.size, thing.id), (UINT32, OWN_ID))
    ordered(table, "by_density", lambda thing: (thing.is_dense,), (BOOL,))
    unique(table, "by_own_id", lambda thing: (thing.id,), (OWN_ID,))
    assert moved(table, Thing(id=7, size=1, title="a"), Thing(id=7, size=1, title="b")) == []
    assert moved(table, Thing(id=7, size=1), Thing(id=7, size=2)) == ["Thing.by_size"]
    assert moved(table, Thing(id=7, weight=1), Thing(id=7, weight=2)) == []
    assert moved(table, Thing(id=7, weight=1), Thing(id=7, weight=LIMIT + 1)) == ["Thing.by_density"]
    assert moved(table, Thing(id=7, size=1), Thing(id=7, size=9)) == ["Thing.by_size", "Thing.by_density"]


def test_keys_are_compared_themselves_where_their_fields_cannot_be_told() -> None:
    table = Table(Thing, number=1)
    ordered(table, "by_double", lambda thing: (_doubled(thing.size),), (UINT32,))
    unique(table, "by_weight", lambda thing: (thing.weight, thing.id), (UINT32, OWN_ID))
    assert moved(table, Thing(size=1), Thing(size=2)) == ["Thing.by_double"]
    assert moved(table, Thing(weight=1), Thing(weight=2)) == ["Thing.by_weight"]
    assert moved(table, Thing(title="a"), Thing(title="b")) == []


@pytest.mark.parametrize("table", [table for table in STORED_TABLES if table.indexes], ids=lambda table: table.title)
def test_the_keys_of_every_table_of_the_ledger_can_be_told(table: Table[Entity]) -> None:
    for index in table.indexes:
        assert fields_of(index.key, table.record) is not None, index.title
