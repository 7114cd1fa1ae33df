"""Records are taken as each of their fields by itself would be, whatever stands in it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.codec import DecodeError
from ledgerd.codec.json.scalars import as_object
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.properties import json_defaults_of
from ledgerd.snapshot.file import sections
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.file.sections import BY_NAME, LATER_FIELDS, LATER_FIELDS_OF, LENIENT, OLD_FIELDS, renamed
from tests.snapshot.recorded import STATES, light_file

KNOWN = [(name, record) for name, record in Snapshot.from_bytes(light_file("open-2-120")).records() if name in BY_NAME]
"""Records of the reference."""

FEW = [KNOWN[at] for at in range(0, len(KNOWN), max(1, len(KNOWN) // 300))]

RARE = {"props", "median_props", "genesis_time"}
"""Fields of validators, of their schedule and of the chain, of which there are few."""

ODD: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        255,
        256,
        1 << 31,
        1 << 63,
        1 << 64,
        1 << 70,
        -(1 << 63),
        -(1 << 70),
        1.5,
        -0.0,
        1e30,
    ),
    *("", "7", "-7", "true", "a\0b", "\udcff", "x" * 33, "0.000 VIZ", "-0.500 VIZ", "0.000000 SHARES", "0.001 SHARES"),
    *("1970-01-01T00:00:00", "1969-12-31T23:59:59", "20200101T000000", "VIZ", "1.2.3", "00ff", "0" * 64, "f" * 300),
    *([], [[]], ["ab"], [["viz"]], [["viz", 1]], [["viz", 1], ["viz", 2]], [["viz", 1, 2]], [[None, None]], [7], {}),
    {"id": 0},
]


def by_fields(name: str, record: object) -> Any:
    """What the fields say of a record."""
    section, given, made = BY_NAME[name], renamed(as_object(record)), dict[str, Any]()
    later = LATER_FIELDS.union(LATER_FIELDS_OF.get(section.table.name, ()))
    for field in section.fields:
        if field.name in given:
            try:
                made[field.attribute] = field.kind.parse(given[field.name])
            except DecodeError as problem:
                raise problem.within(field.name) from None
        elif field.name not in later and (section.table.name not in LENIENT or field.attribute == "id"):
            raise DecodeError("is missing").within(field.name)
    return section.table.record(**made)


def outcome(parse: Any, *given: object) -> tuple[Any, str]:
    try:
        made = parse(*given)
    except DecodeError as problem:
        return None, str(problem)
    return made, repr(made)  # which tells true from 1


def changed(data: st.DataObject, record: Any) -> Any:
    """The record, with something else somewhere in it."""
    if isinstance(record, dict) and record and data.draw(st.booleans()):
        name = data.draw(st.sampled_from(sorted(record)))
        old = {today: former for former, today in OLD_FIELDS.items()}
        match data.draw(st.sampled_from(("inner", "missing", "another", "old", "both"))):
            case "inner":
                return record | {name: changed(data, record[name])}
            case "missing":
                return {each: value for each, value in record.items() if each != name}
            case "another":
                return record | {"another": 1}
            case "old":
                return {old.get(each, each): value for each, value in record.items()}
            case _:
                return record | {old.get(each, each): value for each, value in record.items()}
    if isinstance(record, list) and record and data.draw(st.booleans()):
        return [changed(data, record[0]), *record[1:]]
    return data.draw(st.sampled_from(ODD))


@given(st.data())
def test_a_record_is_what_its_fields_are_one_by_one(data: st.DataObject) -> None:
    name, record = data.draw(st.sampled_from(FEW))
    given = changed(data, record)
    if name == "block_post_validation":
        return  # sets fields after reading

    with json_defaults_of(TESTNET):
        assert outcome(BY_NAME[name].parse, given) == outcome(by_fields, name, given)


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_any_value_of_any_field_is_taken_as_by_itself(value: object) -> None:
    records = dict(KNOWN)
    del records["block_post_validation"]
    with json_defaults_of(TESTNET):
        for name, record in records.items():
            assert isinstance(record, dict)
            for field in record:
                given = record | {field: value}
                assert outcome(BY_NAME[name].parse, given) == outcome(by_fields, name, given), field


@pytest.mark.parametrize("name", STATES)
def test_records_of_the_reference_are_taken_the_fast_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that there are many of: in a third of the time."""
    looked_at = list[dict[str, Any]]()

    def noted(given: dict[str, Any]) -> dict[str, Any]:
        looked_at.append(given)
        return given

    monkeypatch.setattr(sections, "renamed", noted)
    with json_defaults_of(TESTNET):
        for section, record in Snapshot.from_bytes(light_file(name)).records():
            if section in BY_NAME:
                BY_NAME[section].parse(record)

    assert [each for each in looked_at if not RARE & each.keys()] == []
