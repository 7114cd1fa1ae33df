"""JSON text straight from bytes is the text of the value that the bytes stand for."""

from __future__ import annotations

from typing import Annotated

import msgspec
import pytest
from hypothesis import given

from ledgerd.codec import DecodeError, codec_of, record_kind, sorted_by
from ledgerd.codec.numbers import UInt8, UInt16
from ledgerd.protocol.block import Block
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.transaction import Transaction
from tests.strategies import printable_values_of


class Point(msgspec.Struct, frozen=True):
    x: UInt8
    y: UInt16


class Shape(msgspec.Struct, frozen=True):
    title: str = msgspec.field(name="name")
    points: tuple[Point, ...]
    note: str | None
    weights: Annotated[dict[str, UInt16], sorted_by(lambda key: key)]
    tags: Annotated[tuple[str, ...], sorted_by(lambda key: key)]
    corner: Point


@given(printable_values_of(Operation))
def test_every_operation_is_shown_as_it_is_printed(operation: Operation) -> None:
    codec = codec_of(Operation)
    packed = b"before" + codec.encode(operation)
    assert codec.transcribe(packed + b"behind", 6) == (codec.to_json(operation), len(packed))


@given(printable_values_of(Transaction))
def test_every_transaction_is_shown_as_it_is_printed(transaction: Transaction) -> None:
    codec = codec_of(Transaction)
    assert codec.transcribe(codec.encode(transaction), 0)[0] == codec.to_json(transaction)


def test_a_block_is_shown_as_it_is_printed() -> None:
    codec = codec_of(Block)
    packed = codec.encode(record_kind(Block).default())
    assert codec.transcribe(packed, 0) == (codec.to_json(codec.decode(packed)), len(packed))


@given(printable_values_of(Shape))
def test_fields_of_every_kind_are_shown_as_they_are_printed(shape: Shape) -> None:
    codec = codec_of(Shape)
    packed = codec.encode(shape)
    assert codec.transcribe(packed, 0) == (codec.to_json(shape), len(packed))


def test_bytes_that_are_not_text_keep_their_form() -> None:
    assert codec_of(str).transcribe(b"\x02a\xff", 0) == ('"a\udcff"', 3)


def test_a_tag_that_is_not_known_is_refused() -> None:
    with pytest.raises(DecodeError, match="unknown tag 127"):
        codec_of(Operation).transcribe(b"\x7f", 0)


def test_bytes_that_end_too_early_are_noticed_by_the_end_or_refused() -> None:
    packed = codec_of(Shape).encode(Shape("name", (Point(1, 2),), "note", {"a": 1}, ("t",), Point(3, 4)))
    for length in range(len(packed)):
        try:
            _, end = codec_of(Shape).transcribe(packed[:length], 0)
        except DecodeError:
            continue
        assert end > length
