"""Varints: the recorded forms, and every form that is read though nobody writes it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.codec import DecodeError
from ledgerd.codec.kinds import Reading
from ledgerd.codec.types.varint import pack_varint, read_varint

KNOWN = {0: "00", 127: "7f", 128: "8001", 300: "ac02", 16384: "808001", 4294967295: "ffffffff0f"}


@pytest.mark.parametrize(("value", "packed"), KNOWN.items())
def test_a_varint_has_its_published_form(value: int, packed: str) -> None:
    assert pack_varint(value).hex() == packed


@given(st.integers(0, 2**32 - 1), st.binary(max_size=5))
def test_a_varint_comes_back_and_ends_where_it_ended(value: int, rest: bytes) -> None:
    reading = Reading()
    packed = pack_varint(value)
    assert read_varint(packed + rest, 0, reading) == (value, len(packed))
    assert not reading.normalised


@given(st.integers(0, 127), st.integers(1, 4))
def test_an_overlong_form_is_read_and_noted(value: int, zeros: int) -> None:
    overlong = bytes([value | 0x80]) + b"\x80" * (zeros - 1) + b"\0"
    reading = Reading()
    assert read_varint(overlong, 0, reading) == (value, zeros + 1)
    assert reading.normalised


def test_bits_above_the_thirty_second_are_dropped() -> None:
    assert read_varint(bytes.fromhex("ffffffff7f"), 0, Reading())[0] == 0xFFFFFFFF


def test_a_sixth_byte_shifts_by_its_count_modulo_thirty_two() -> None:
    assert read_varint(bytes.fromhex("808080808001"), 0, Reading())[0] == 1 << (35 & 31)


def test_a_varint_without_an_end_is_an_error_after_ten_bytes() -> None:
    with pytest.raises(DecodeError, match="ten bytes"):
        read_varint(b"\x80" * 64, 0, Reading())
