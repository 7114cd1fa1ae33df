"""Limits: no length, count or depth that an input claims makes us allocate more than the input is long."""

from __future__ import annotations

import tracemalloc
from typing import Annotated

import msgspec
import pytest

from ledgerd.codec import DecodeError, codec_of, sorted_by
from ledgerd.codec.types.numbers import UInt16
from ledgerd.codec.types.varint import pack_varint

HOSTILE = [1 << 20, 10485759, 10485760, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]


class Everything(msgspec.Struct, frozen=True):
    text: str


class Many(msgspec.Struct, frozen=True):
    items: tuple[UInt16, ...]


class Mapped(msgspec.Struct, frozen=True):
    items: Annotated[dict[UInt16, UInt16], sorted_by(lambda key: key)]


@pytest.mark.parametrize("record", [Everything, Many, Mapped])
@pytest.mark.parametrize("length", HOSTILE)
def test_a_hostile_length_allocates_nothing_of_its_size(record: type[msgspec.Struct], length: int) -> None:
    codec = codec_of(record)
    with pytest.raises(DecodeError):
        codec.decode(pack_varint(length) + bytes(100))
    tracemalloc.start()
    try:
        with pytest.raises(DecodeError):
            codec.decode(pack_varint(length) + bytes(100))
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_a_string_may_be_one_byte_shorter_than_ten_mebibytes() -> None:
    longest = 10 * 1024 * 1024 - 1
    assert len(codec_of(Everything).decode(pack_varint(longest) + b"x" * longest).text) == longest
    with pytest.raises(DecodeError, match="above the limit"):
        codec_of(Everything).decode(pack_varint(longest + 1) + b"x" * (longest + 1))


def test_a_container_is_bounded_by_what_its_elements_take_in_memory() -> None:
    most = (10 * 1024 * 1024 - 1) // 2
    assert len(codec_of(Many).decode(pack_varint(most) + bytes(2 * most)).items) == most
    with pytest.raises(DecodeError, match="above the limit"):
        codec_of(Many).decode(pack_varint(most + 1) + bytes(2 * most + 2))


def test_bytes_that_are_not_utf8_come_back_unchanged() -> None:
    data = b"\x04\xff\xfe\x00\x80"
    assert codec_of(Everything).encode(codec_of(Everything).decode(data)) == data
