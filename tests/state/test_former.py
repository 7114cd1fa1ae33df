"""Bytes of former versions become those of today: for the four records that hardfork 14 gave new fields."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.codec import kind_of
from ledgerd.codec.annotations import fields_of
from ledgerd.codec.codec import Codec
from ledgerd.codec.records import RecordKind
from ledgerd.protocol.parameters import MAINNET
from ledgerd.protocol.properties import ChainPropertiesHf13
from ledgerd.protocol.property_versions import default_properties
from ledgerd.state.former import added_fields, conversions
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.accounts import ACCOUNTS, Account
from ledgerd.state.objects.former import FORMERS, UNTIL_HARDFORK_13
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.objects.validators import VALIDATOR_SCHEDULES, VALIDATORS, SchedulePlace, Validator
from ledgerd.state.tables import Table, layout
from tests.strategies import values_of

PROPERTIES = {"props", "median_props"}


@cache
def former_codec(table: Table[Any]) -> Codec[Any]:
    """What the former version wrote of a record: no field of markets, and the properties that it knew."""
    fields = [
        field._replace(kind=kind_of(ChainPropertiesHf13)) if field.attribute in PROPERTIES else field
        for field in fields_of(table.record)
        if not field.attribute.startswith("pm_")
    ]
    return Codec(RecordKind(table.record, lambda: fields))


def without_additions(entity: Any) -> Any:
    """An object as it is when its new fields have their defaults."""
    told = default_properties(MAINNET)
    values: dict[str, Any] = {}
    for field in fields_of(type(entity)):
        if field.attribute.startswith("pm_"):
            values[field.attribute] = field.default()
        elif field.attribute in PROPERTIES:
            known = getattr(entity, field.attribute)
            values[field.attribute] = msgspec.structs.replace(
                told, **{name: getattr(known, name) for name in ChainPropertiesHf13.__struct_fields__}
            )
    return msgspec.structs.replace(entity, **values)


@pytest.mark.parametrize("table", UNTIL_HARDFORK_13.changes, ids=lambda table: table.title)
@given(data=st.data())
def test_objects_become_those_with_the_new_fields_at_their_defaults(table: Table[Any], data: st.DataObject) -> None:
    entity = data.draw(values_of(table.record))
    if isinstance(entity, Validator):
        entity.schedule = data.draw(st.sampled_from(SchedulePlace))
    splice = UNTIL_HARDFORK_13.changes[table].splice()
    assert table.codec.decode(splice(former_codec(table).encode(entity))) == without_additions(entity)


def test_every_table_whose_fields_changed_is_declared() -> None:
    assert set(UNTIL_HARDFORK_13.changes) == {
        DYNAMIC_GLOBAL_PROPERTIES,
        ACCOUNTS,
        VALIDATORS,
        VALIDATOR_SCHEDULES,
    }


def test_neighbours_are_neighbours() -> None:
    with pytest.raises(TypeError, match="no neighbours"):
        added_fields(Account, "name", "proxy")
    with pytest.raises(TypeError, match="no set size"):
        added_fields(Account, "created", "recovery_account")


def test_todays_layout_is_of_no_former_version() -> None:
    assert not any(former.wrote(layout(STORED_TABLES)) for former in FORMERS)
    assert conversions(UNTIL_HARDFORK_13, layout(STORED_TABLES), STORED_TABLES) == []
