"""JSON text straight from bytes is the text of the value that the bytes stand for."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec
import pytest
from hypothesis import given

from ledgerd.codec import DecodeError, codec_of, record_kind, sorted_by
from ledgerd.codec.kinds import Reading
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


class Name(msgspec.Struct, frozen=True):
    """Its JSON is that of its field."""

    text: str

    TRANSPARENT: ClassVar[bool] = True


class Label(msgspec.Struct, frozen=True):
    """Its JSON has a form of its own."""

    text: str

    def json_text(self) -> str:
        return f'["{self.text}"]'


def shown(annotation: Any, packed: bytes, pos: int = 0) -> tuple[str, int]:
    """The JSON text of the value at a place of some bytes, and where it ends."""
    text, end = codec_of(annotation)._record.transcriber(packed, pos, Reading())  # noqa: SLF001 - of any type
    return text, end


@given(printable_values_of(Operation))
def test_every_operation_is_shown_as_it_is_printed(operation: Operation) -> None:
    codec = codec_of(Operation)
    packed = b"before" + codec.encode(operation)
    assert shown(Operation, packed + b"behind", 6) == (codec.to_json(operation), len(packed))


@given(printable_values_of(Transaction))
def test_every_transaction_is_shown_as_it_is_printed(transaction: Transaction) -> None:
    codec = codec_of(Transaction)
    assert shown(Transaction, codec.encode(transaction))[0] == codec.to_json(transaction)


def test_a_block_is_shown_as_it_is_printed() -> None:
    codec = codec_of(Block)
    packed = codec.encode(record_kind(Block).default())
    assert shown(Block, packed) == (codec.to_json(codec.decode(packed)), len(packed))


@given(printable_values_of(Shape))
def test_fields_of_every_kind_are_shown_as_they_are_printed(shape: Shape) -> None:
    codec = codec_of(Shape)
    packed = codec.encode(shape)
    assert shown(Shape, packed) == (codec.to_json(shape), len(packed))


def test_bytes_that_are_not_text_keep_their_form() -> None:
    assert shown(str, b"\x02a\xff") == ('"a\udcff"', 3)


def test_a_tag_that_is_not_known_is_refused() -> None:
    with pytest.raises(DecodeError, match="unknown tag 127"):
        shown(Operation, b"\x7f")


def test_bytes_that_end_too_early_are_noticed_by_the_end_or_refused() -> None:
    packed = codec_of(Shape).encode(Shape("name", (Point(1, 2),), "note", {"a": 1}, ("t",), Point(3, 4)))
    for length in range(len(packed)):
        try:
            _, end = shown(Shape, packed[:length])
        except DecodeError:
            continue
        assert end > length


@pytest.mark.parametrize("kind", [Shape, Name, Label])
def test_a_text_may_stand_in_a_frame(kind: type[msgspec.Struct]) -> None:
    packed = codec_of(kind).encode(record_kind(kind).default())
    framed = record_kind(kind).framed_transcriber('{{"{key}":', "}}", ("key",))
    text, end = shown(kind, packed)
    assert framed(packed, 0, Reading(), "here") == (f'{{"here":{text}}}', end)
