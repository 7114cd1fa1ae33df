"""Arrays that the reference prints as memory: recorded texts, and all values both ways."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.codec import DecodeError, codec_of
from ledgerd.protocol.types.arrays import FlagRow, NameRow, ProxiedShares, TimeClasses
from ledgerd.protocol.types.names import cut_name

INT64 = st.integers(-(2**63), 2**63 - 1)
NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789.-\u00e9", max_size=40).map(cut_name)

PROXIED: Any = codec_of(ProxiedShares)
NAME_ROW: Any = codec_of(NameRow)
FLAG_ROW: Any = codec_of(FlagRow)


def test_the_schedule_of_a_lone_validator_is_as_recorded() -> None:
    text = f'"76697a{"00" * 29}"'

    assert NAME_ROW.to_json(("viz",)) == text
    assert NAME_ROW.from_json(text.strip('"')) == ("viz",)


def test_places_without_a_validator_are_zeros() -> None:
    assert NAME_ROW.to_json(("", "ab", "")) == f'"{"00" * 32}6162{"00" * 62}"'


def test_proxied_shares_are_little_endian_numbers() -> None:
    assert PROXIED.to_json((1, -1, 256, 0)) == f'"01{"00" * 7}{"ff" * 8}0001{"00" * 14}"'


def test_eight_counts_are_little_endian_numbers() -> None:
    classes: Any = codec_of(TimeClasses)

    assert classes.to_json((1, 0, 0, 0, 0, 0, 0, -1)) == f'"01{"00" * 55}{"ff" * 8}"'
    assert classes.from_json("02") == (2, 0, 0, 0, 0, 0, 0, 0)
    assert codec_of(TimeClasses).encode((0,) * 8) == bytes(64)


def test_flags_are_bytes() -> None:
    assert FLAG_ROW.to_json((False, True, False)) == '"000100"'


@given(st.tuples(INT64, INT64, INT64, INT64))
def test_proxied_shares_are_read_as_they_are_printed(amounts: tuple[int, ...]) -> None:
    assert PROXIED.from_json(PROXIED.to_json(amounts).strip('"')) == amounts
    assert PROXIED.decode(PROXIED.encode(amounts)) == amounts


@given(st.lists(NAMES, max_size=21).map(tuple))
def test_names_are_read_as_they_are_printed(names: tuple[str, ...]) -> None:
    assert NAME_ROW.from_json(NAME_ROW.to_json(names).strip('"')) == names
    assert NAME_ROW.decode(NAME_ROW.encode(names)) == names


@given(st.lists(st.booleans(), max_size=21).map(tuple))
def test_flags_are_read_as_they_are_printed(flags: tuple[bool, ...]) -> None:
    assert FLAG_ROW.from_json(FLAG_ROW.to_json(flags).strip('"')) == flags
    assert FLAG_ROW.decode(FLAG_ROW.encode(flags)) == flags


def test_a_row_of_names_has_all_bytes_of_each() -> None:
    with pytest.raises(DecodeError, match="33 bytes are no row of names"):
        NAME_ROW.from_json("61" * 33)


def test_any_byte_but_zero_is_a_flag_that_is_set() -> None:
    assert FLAG_ROW.from_json("000203ff01") == (False, True, True, True, True)
