"""What fields accept from JSON, and the refusals that clients see."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.codec.errors import BAD_CAST, PARSE_ERROR, DecodeError
from ledgerd.codec.json.errors import JsonError
from ledgerd.codec.json.scalars import (
    as_array,
    as_bool,
    as_int64,
    as_object,
    as_string,
    as_uint64,
    parse_int64,
)

RECORDED: dict[str, Any] = json.loads((Path(__file__).parents[2] / "vectors" / "texts.json").read_text())
CONVERSIONS: dict[str, Callable[[object], object]] = {
    "uint64": as_uint64,
    "int64": as_int64,
    "bool": as_bool,
    "string": as_string,
    "array": as_array,
    "object": as_object,
}
WHAT = {PARSE_ERROR: "Parse Error", BAD_CAST: "Bad Cast"}


@pytest.mark.parametrize("fact", RECORDED["scalars"], ids=lambda fact: f"{fact['target']}-{fact['value']}")
def test_a_refusal_is_the_recorded_one(fact: dict[str, Any]) -> None:
    with pytest.raises(JsonError) as refused:
        CONVERSIONS[fact["target"]](fact["value"])

    error = refused.value
    assert [list(layer) for layer in error.layers] == fact["layers"]
    assert f"{WHAT[error.code]} ({error.code})\n{error.log}" == fact["message"]


@pytest.mark.parametrize(
    ("value", "unsigned", "signed"),
    [
        (0, 0, 0),
        (2**64 - 1, 2**64 - 1, -1),
        (-1, 2**64 - 1, -1),
        (-(2**63), 2**63, -(2**63)),
        (1.9, 1, 1),
        (-1.9, 2**64 - 1, -1),
        (True, 1, 1),
        (False, 0, 0),
        (None, 0, 0),
        ("12", 12, 12),
        ("+12", 12, 12),
        ("007", 7, 7),
        ("-5", 2**64 - 5, -5),
        ("-0", 0, 0),
        ("12\x00z", 12, 12),
        ("0" * 5000 + "1", 1, 1),
    ],
)
def test_an_integer_of_any_source(value: object, unsigned: int, signed: int) -> None:
    assert as_uint64(value) == unsigned
    assert as_int64(value) == signed


@pytest.mark.parametrize(
    ("value", "unsigned", "signed"),
    [
        (float(2**63), 2**63, -(2**63)),
        (1.5 * 2**63, 3 * 2**62, -(2**63)),
        (float(2**64), 0, -(2**63)),
        (1e300, 0, -(2**63)),
        (-1e300, 2**63, -(2**63)),
        (float("nan"), 2**63, -(2**63)),
    ],
)
def test_a_double_beyond_64_bits_is_what_the_processor_makes_of_it(value: float, unsigned: int, signed: int) -> None:
    assert as_uint64(value) == unsigned
    assert as_int64(value) == signed


def test_the_ends_of_the_range_of_a_text() -> None:
    assert as_uint64("18446744073709551615") == 2**64 - 1
    assert as_uint64("-18446744073709551615") == 1
    assert as_int64("9223372036854775807") == 2**63 - 1
    assert as_int64("-9223372036854775808") == -(2**63)


@pytest.mark.parametrize(
    "text",
    ["", "+", "-", "+-1", "--1", " 1", "1 ", "1,000", "0x10", "1e5", "1.0", "\u0661", "\0", "9" * 20],
)
def test_other_text_is_no_integer(text: str) -> None:
    for convert, name in ((as_uint64, "uint64_t"), (as_int64, "int64_t")):
        with pytest.raises(DecodeError) as refused:
            convert(text)
        assert refused.value.code == PARSE_ERROR
        assert refused.value.text == f"Couldn't parse {name}"


@pytest.mark.parametrize("text", ["18446744073709551616", "-18446744073709551616", "9" * 5000])
def test_an_unsigned_text_stays_within_64_bits(text: str) -> None:
    with pytest.raises(DecodeError):
        as_uint64(text)


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775809", "9" * 5000])
def test_a_signed_text_stays_within_63_bits_and_a_sign(text: str) -> None:
    with pytest.raises(DecodeError):
        parse_int64(text)


@pytest.mark.parametrize(
    ("value", "truth"),
    [(True, True), (0, False), (-2, True), (0.0, False), (0.5, True), (None, False), ("true", True), ("false", False)],
)
def test_what_json_reads_as_true(value: object, truth: bool) -> None:
    assert as_bool(value) is truth


@pytest.mark.parametrize("value", ["", "True", "1", [], {}])
def test_what_json_refuses_as_a_boolean(value: object) -> None:
    with pytest.raises(DecodeError) as refused:
        as_bool(value)
    assert refused.value.code == BAD_CAST


@pytest.mark.parametrize(
    ("value", "text"),
    [("x", "x"), (None, ""), (True, "true"), (-5, "-5"), (2**63, "9223372036854775808"), (0.5, "0.50000000000000000")],
)
def test_a_scalar_becomes_a_string(value: object, text: str) -> None:
    assert as_string(value) == text


def test_containers_are_handed_through() -> None:
    assert as_array([1]) == [1]
    assert as_object({"a": 1}) == {"a": 1}


@given(st.integers(-(2**63), 2**64 - 1))
def test_a_number_and_its_text_are_read_alike(number: int) -> None:
    assert as_uint64(str(number)) == as_uint64(number)
    if number < 2**63:
        assert as_int64(str(number)) == as_int64(number) == number


@given(st.floats(-(2.0**63), 2.0**63, exclude_max=True))
def test_a_double_is_cut_toward_zero(value: float) -> None:
    assert as_int64(value) == int(value)
    assert as_uint64(value) == int(value) % 2**64


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
        max_leaves=4,
    ),
    st.sampled_from(sorted(CONVERSIONS)),
)
def test_anything_converts_or_is_refused(value: object, target: str) -> None:
    with suppress(DecodeError):
        CONVERSIONS[target](value)
