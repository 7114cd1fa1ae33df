"""JSON text straight from bytes is the text of the value that the bytes stand for."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec
import pytest
from hypothesis import example, given, settings

from ledgerd.codec import DecodeError, codec_of, record_kind, sorted_by
from ledgerd.codec.kinds import Reading
from ledgerd.codec.types.numbers import UInt8, UInt16
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.operations import Operation
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


@settings(max_examples=15)  # a block is large; each transaction is looked at above
@given(printable_values_of(Block))
@example(record_kind(Block).default())
def test_every_block_is_transcribed_as_it_is_printed(block: Block) -> None:
    codec = codec_of(Block)
    packed = codec.encode(block)
    assert codec.transcribe(packed) == codec.to_json(codec.decode(packed))


@pytest.mark.parametrize("counts", [b"\0", b"\1", b"\2", b"\x80\0", b"\x81\0", b"\x82\0"])
def test_a_count_may_have_any_form(counts: bytes) -> None:
    """None, one and two, also in the longer form that a foreign program may write."""
    packed = counts + bytes((7, 8)[: counts[0] & 127])
    codec = codec_of(tuple[UInt8, ...])
    assert codec.transcribe(packed) == codec.to_json(codec.decode(packed)) == ("[]", "[7]", "[7,8]")[counts[0] & 127]


def test_what_is_transcribed_ends_where_its_bytes_end() -> None:
    codec = codec_of(tuple[UInt8, ...])
    for packed in (b"\1\7\0", b"\1", b"\2\7", b""):
        with pytest.raises(DecodeError):
            codec.transcribe(packed)


def test_a_refusal_in_an_only_element_names_its_index() -> None:
    with pytest.raises(DecodeError, match=r"operations\[0\]: unknown tag 127"):
        codec_of(Transaction).transcribe(bytes(10) + b"\1\x7f\0\0")


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
