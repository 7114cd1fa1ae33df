"""Records: fields in order, neighbours packed together, errors that name their place, canonical bytes kept."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, ClassVar

import msgspec
import pytest

from ledgerd.codec import DecodeError, Void, array_of, codec_of, missing, one_of, sorted_by
from ledgerd.codec.errors import EncodeError
from ledgerd.codec.types.numbers import Int16, Int64, ShareAmount, UInt8, UInt16, UInt32, UInt64, UInt128


class Point(msgspec.Struct, frozen=True):
    x: UInt8
    y: Int16


class Shape(msgspec.Struct, frozen=True):
    title: str = msgspec.field(name="name")
    points: tuple[Point, ...]
    flags: tuple[bool, ...]
    note: str | None
    weights: Annotated[dict[str, UInt16], sorted_by(lambda key: key)]
    corner: Point
    serial: UInt64


SHAPE = Shape("hi", (Point(1, -2), Point(3, 4)), (True, False), None, {"b": 1, "a": 2}, Point(9, -1), 2**40)
PACKED = "0268690201feff03040002010000020161020001620100" + "09ffff" + "0000000000010000"


def test_fields_are_written_in_the_order_of_their_declaration() -> None:
    assert codec_of(Shape).encode(SHAPE).hex() == PACKED


def test_what_was_written_is_read_back_with_maps_in_order() -> None:
    read = codec_of(Shape).decode(bytes.fromhex(PACKED))
    assert read == SHAPE
    assert list(read.weights) == ["a", "b"]


def test_json_leaves_out_an_absent_optional_and_quotes_large_numbers() -> None:
    assert codec_of(Shape).to_json(SHAPE) == (
        '{"name":"hi","points":[{"x":1,"y":-2},{"x":3,"y":4}],"flags":[true,false],'
        '"weights":[["a",2],["b",1]],"corner":{"x":9,"y":-1},"serial":"1099511627776"}'
    )


def test_json_input_may_leave_out_any_key() -> None:
    assert codec_of(Shape).from_json({}) == Shape("", (), (), None, {}, Point(0, 0), 0)


def test_a_decode_error_names_the_field_and_the_index() -> None:
    with pytest.raises(DecodeError) as caught:
        codec_of(Shape).decode(bytes.fromhex("0268690201feff03"))
    assert caught.value.place == "points[1]"
    assert caught.value.code == 8


def test_a_bad_flag_names_its_place() -> None:
    with pytest.raises(DecodeError, match=r"flags\[1\]: 2 is not a value"):
        codec_of(Shape).decode(bytes.fromhex("026869000201020000"))


def test_an_encode_error_names_the_field_and_the_index() -> None:
    with pytest.raises(EncodeError) as caught:
        codec_of(Shape).encode(Shape("", (Point(1, 1), Point(256, 0)), (), None, {}, Point(0, 0), 0))
    assert caught.value.place == "points[1]"


def test_a_json_error_names_the_field_and_the_index() -> None:
    with pytest.raises(DecodeError) as caught:
        codec_of(Shape).from_json({"points": [{"x": 1}, {"y": "z"}]})
    assert caught.value.place == "points[1].y"


def test_bytes_after_a_value_are_ignored_but_not_in_our_own_files() -> None:
    data = bytes.fromhex(PACKED) + b"more"
    assert codec_of(Shape).decode(data) == SHAPE
    with pytest.raises(DecodeError, match="4 bytes follow"):
        codec_of(Shape).decode_exactly(data)


@pytest.mark.parametrize("length", range(len(PACKED) // 2))
def test_every_truncation_is_the_documented_error(length: int) -> None:
    with pytest.raises(DecodeError):
        codec_of(Shape).decode(bytes.fromhex(PACKED)[:length])


class Amounts(msgspec.Struct, frozen=True):
    share: ShareAmount
    wide: UInt128
    votes: Annotated[tuple[Int64, ...], array_of(3)]
    number: Annotated[UInt32, missing(30)]


def test_wide_numbers_put_their_high_half_first() -> None:
    packed = codec_of(Amounts).encode(Amounts(-1, 2**64 + 2, (1, 2, 3), 7))
    assert (
        packed.hex()
        == "ff" * 8
        + "0100000000000000"
        + "0200000000000000"
        + "".join(f"0{n}00000000000000" for n in (1, 2, 3))
        + "07000000"
    )
    assert codec_of(Amounts).decode(packed) == Amounts(-1, 2**64 + 2, (1, 2, 3), 7)


def test_wide_numbers_are_always_quoted_and_negative_ones_never() -> None:
    assert codec_of(Amounts).to_json(Amounts(-(2**40), 5, (0, 1, 2**32), 7)) == (
        '{"share":-1099511627776,"wide":"5","votes":[0,1,"4294967296"],"number":7}'
    )


def test_a_field_may_have_a_default_of_its_own_in_json() -> None:
    assert codec_of(Amounts).from_json({}) == Amounts(0, 0, (0, 0, 0), 30)


def test_an_array_of_json_that_is_too_short_is_filled_and_too_long_is_cut() -> None:
    assert codec_of(Amounts).from_json({"votes": [1]}).votes == (1, 0, 0)
    assert codec_of(Amounts).from_json({"votes": [1, 2, 3, 4]}).votes == (1, 2, 3)


class Sets(msgspec.Struct, frozen=True):
    names: Annotated[tuple[str, ...], sorted_by(lambda name: name[::-1])]
    weights: Annotated[dict[str, UInt8], sorted_by(lambda name: name)]


def test_sets_are_sorted_and_of_equals_the_first_stays() -> None:
    read = codec_of(Sets).decode(bytes.fromhex("03026261026162026261" + "020162010161020000"))
    assert read.names == ("ba", "ab")
    assert read.weights == {"a": 2, "b": 1}


def test_of_two_equal_keys_of_a_map_the_first_stays() -> None:
    assert codec_of(Sets).decode(bytes.fromhex("00" + "02016101016102")).weights == {"a": 1}
    assert codec_of(Sets).from_json({"weights": [["a", 1], ["a", 2]]}).weights == {"a": 1}


def test_a_pair_of_json_that_is_too_short_keeps_the_default() -> None:
    assert codec_of(Sets).from_json({"weights": [["a"]]}).weights == {"a": 0}


class Kept(msgspec.Struct, frozen=True, dict=True):
    names: Annotated[tuple[str, ...], sorted_by(lambda name: name)]
    size: UInt16

    KEEPS_PACKED: ClassVar[bool] = True

    @cached_property
    def packed(self) -> bytes:
        return codec_of(Kept).encode(self)


def test_a_record_keeps_the_canonical_bytes_it_was_read_from() -> None:
    data = bytes.fromhex("02016101620500")
    kept = codec_of(Kept).decode(data + b"rest")
    assert kept.__dict__["packed"] == data


@pytest.mark.parametrize("data", ["02016201610500", "03016101610162" + "0500", "82000161016205000000"])
def test_a_record_read_from_another_form_is_packed_anew(data: str) -> None:
    kept = codec_of(Kept).decode(bytes.fromhex(data))
    assert "packed" not in kept.__dict__
    assert codec_of(Kept).decode(kept.packed) == kept
    assert kept.packed.hex() == "02016101620500"


class Wrapped(msgspec.Struct, frozen=True):
    inner: UInt32

    TRANSPARENT: ClassVar[bool] = True


class Choice(msgspec.Struct, frozen=True):
    chosen: Annotated[Void | Wrapped | Point, one_of()]


def test_a_variant_is_its_tag_and_then_its_value() -> None:
    assert codec_of(Choice).encode(Choice(Wrapped(5))).hex() == "0105000000"
    assert codec_of(Choice).decode(bytes.fromhex("02010200")) == Choice(Point(1, 2))
    assert codec_of(Choice).to_json(Choice(Wrapped(5))) == '{"chosen":[1,5]}'
    assert codec_of(Choice).to_json(Choice(Void())) == '{"chosen":[0,{}]}'


@pytest.mark.parametrize("tag", ["03", "7f", "ffffffff0f", "8001"])
def test_an_unknown_tag_is_an_error(tag: str) -> None:
    with pytest.raises(DecodeError, match="chosen: unknown tag"):
        codec_of(Choice).decode(bytes.fromhex(tag) + bytes(20))


def test_a_variant_of_json_that_is_too_short_is_the_first_alternative() -> None:
    assert codec_of(Choice).from_json({"chosen": [2]}) == Choice(Void())
    assert codec_of(Choice).from_json({"chosen": ["2", {"x": 1}]}) == Choice(Point(1, 0))


def test_a_value_that_is_no_alternative_is_not_written() -> None:
    with pytest.raises(EncodeError, match="not one of its alternatives"):
        codec_of(Choice).encode(Choice("text"))  # type: ignore[arg-type]


def test_an_annotation_that_says_too_little_is_refused() -> None:
    with pytest.raises(TypeError, match="annotate it"):
        codec_of(int)


def test_types_that_are_no_records_have_codecs_too() -> None:
    assert codec_of(tuple[Point, ...]).encode((Point(1, 2),)).hex() == "01010200"
    assert codec_of(UInt16).decode(b"\x01\x02") == 0x201
    assert codec_of(str).to_json('a"b') == '"a\\"b"'


def test_json_leaves_out_absent_optionals_at_the_beginning_too() -> None:
    class Sought(msgspec.Struct, frozen=True):
        first: UInt8 | None
        second: UInt8 | None
        third: UInt8 | None

    texts = [codec_of(Sought).to_json(Sought(*each)) for each in ((None, None, None), (None, 2, None), (1, None, 3))]

    assert texts == ["{}", '{"second":2}', '{"first":1,"third":3}']
