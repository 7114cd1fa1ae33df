from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.node.config.values.kind import OptionKind, WrongValue
from ledgerd.node.config.values.values import (
    BOOL,
    PATH,
    SIZE,
    SWITCH,
    TEXT,
    UINT32,
    UINT64,
    choice_of,
    name_among,
    uint32,
)


def refused(kind: OptionKind[Any], text: str) -> str:
    with pytest.raises(WrongValue) as error:
        kind.read(text)
    return str(error.value)


@pytest.mark.parametrize("kind", [BOOL, SWITCH])
def test_yes_and_no_have_four_words_each_in_any_case(kind: OptionKind[bool]) -> None:
    assert [kind.read(word) for word in ("true", "YES", "On", "1")] == [True] * 4
    assert [kind.read(word) for word in ("false", "No", "OFF", "0")] == [False] * 4


def test_an_empty_yes_or_no_is_yes() -> None:
    assert BOOL.read("") is True


@pytest.mark.parametrize("text", ["2", "y", "wahr", "true false", '"true"'])
def test_no_other_word_is_yes_or_no(text: str) -> None:
    assert refused(BOOL, text) == "is neither true nor false"


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("+7", 7), ("007", 7), ("4294967295", 2**32 - 1), ("-1", 4294967295), ("-4294967295", 1), ("-0", 0)],
)
def test_a_number_of_32_bits_wraps_round_below_zero(text: str, value: int) -> None:
    assert UINT32.read(text) == value


@pytest.mark.parametrize("text", ["4294967296", "-4294967296", "9" * 5_000])
def test_a_number_above_32_bits_is_refused(text: str) -> None:
    assert refused(UINT32, text) == "is above the largest, 4294967295"


def test_a_number_of_64_bits_ends_there() -> None:
    assert UINT64.read("18446744073709551615") == 2**64 - 1
    assert UINT64.read("-1") == 2**64 - 1
    assert refused(UINT64, "18446744073709551616") == "is above the largest, 18446744073709551615"


@pytest.mark.parametrize("text", ["", "33%", "0x10", "1.5", "1e3", "4G", " 1", "1 2", "--1", "+", "\u0661", "1_000"])
def test_what_is_no_decimal_number_is_refused(text: str) -> None:
    assert refused(UINT32, text) == "is not a whole number in decimal digits"


def test_bounds_of_a_number_hold_at_both_ends() -> None:
    kind = uint32(least=1, most=255)

    assert [kind.read("1"), kind.read("255")] == [1, 255]
    assert refused(kind, "0") == refused(kind, "256") == "is not between 1 and 255"


def test_a_number_that_is_raised_is_never_refused_for_being_small() -> None:
    kind = uint32(raised_to=30)

    assert [kind.read("0"), kind.read("29"), kind.read("31")] == [30, 30, 31]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4G", 4294967296),
        ("4GiB", 4294967296),
        ("4GB", 4000000000),
        ("500M", 524288000),
        ("1024", 1024),
        ("1Z", 0),
        ("0", 0),
        ("1k", 1024),
        ("1kb", 1000),
        ("1KIB", 1024),
        ("2T", 2 << 40),
        ("1P", 1 << 50),
        ("15E", 15 << 60),
        ("16E", 0),
        ("1YB", 10**24 % 2**64),
    ],
)
def test_sizes_are_those_of_the_reference(text: str, value: int) -> None:
    assert SIZE.read(text) == value


@pytest.mark.parametrize("text", ["", "G", "4 G", "4GG", "4Gi", "4GiBs", "4X", "-1", "+1", "1.5G", "4B", "0x10"])
def test_what_is_no_size_is_refused(text: str) -> None:
    assert refused(SIZE, text) == "is not a size"


@given(st.integers(0, 2**64 - 1))
def test_a_size_is_shown_as_it_could_be_written(value: int) -> None:
    assert SIZE.read(SIZE.show(value)) == value


@given(st.integers(0, 2**32 - 1))
def test_a_number_is_shown_as_it_could_be_written(value: int) -> None:
    assert UINT32.read(UINT32.show(value)) == value


def test_texts_and_paths_are_taken_as_they_are() -> None:
    assert TEXT.read('"a b"') == '"a b"'
    assert PATH.read("a/b c") == Path("a/b c")


def test_a_choice_is_one_of_its_words() -> None:
    kind = choice_of("red", "blue")

    assert kind.read("blue") == "blue"
    assert refused(kind, "green") == "is none of them"
    assert refused(kind, "") == "is empty"


def test_a_choice_may_allow_any_other_text() -> None:
    kind = choice_of("red", or_else="FILE")

    assert kind.read("paint.toml") == "paint.toml"
    assert refused(kind, "") == "is empty"
    assert kind.takes == "one of red, FILE"


def test_a_name_that_is_not_known_brings_the_nearest_one() -> None:
    kind = name_among(lambda: ("chain", "webserver"), "plugin")

    assert kind.read("chain") == "chain"
    assert refused(kind, "web_server") == "names no plugin; the nearest one is webserver"
