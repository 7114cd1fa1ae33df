"""Some fields read from the bytes of a record are those of the record, wherever its declaration has them."""

from __future__ import annotations

from typing import get_type_hints

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledgerd.codec import DecodeError, codec_of
from ledgerd.codec.partial import bytes_before, columns_reader, extract_reader, fields_reader, span_reader
from ledgerd.codec.types.numbers import Int64, ShareAmount, UInt8, UInt64, UInt128
from tests.strategies import printable_values_of


class Shop(msgspec.Struct, frozen=True):
    """Texts and numbers by turns."""

    number: UInt64
    market: Int64
    owner: str
    size: UInt8
    key: bytes
    wide: UInt128
    shares: tuple[ShareAmount, ...]
    rank: UInt8
    is_closed: bool


class Middle(msgspec.Struct, frozen=True):
    """Some neighbouring fields of it."""

    owner: str
    size: UInt8
    key: bytes


FIELDS = get_type_hints(Shop, include_extras=True)
READABLE = tuple(name for name in FIELDS if name != "shares")


def stored(value: object) -> object:
    """As the field is given: a text as its bytes."""
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


@given(printable_values_of(Shop), st.sets(st.sampled_from(READABLE), min_size=1), st.permutations([*FIELDS]))
def test_fields_are_read_wherever_the_declaration_has_them(shop: Shop, wanted: set[str], order: list[str]) -> None:
    moved = msgspec.defstruct("Moved", [(name, FIELDS[name]) for name in order])
    record = moved(**{name: getattr(shop, name) for name in order})
    names = [name for name in FIELDS if name in wanted]
    read = fields_reader(moved, names)(codec_of(moved).encode(record))
    values = tuple(stored(getattr(shop, name)) for name in names)
    assert read == (values if len(names) > 1 else values[0])


@given(printable_values_of(Shop))
def test_an_extract_has_the_values_of_its_fields_under_their_names(shop: Shop) -> None:
    extract = extract_reader(Shop, "owner", "key", "rank")(codec_of(Shop).encode(shop))
    assert (extract.owner, extract.key, extract.rank) == (shop.owner, shop.key, shop.rank)


@given(printable_values_of(Shop))
def test_neighbouring_fields_are_cut_out_as_they_stand(shop: Shop) -> None:
    span = span_reader(Shop, "owner", "key")(codec_of(Shop).encode(shop))
    assert span == codec_of(Middle).encode(Middle(shop.owner, shop.size, shop.key))


@given(st.integers(0, 40_000))
@example(127)
@example(128)
@example((1 << 14) - 1)
@example(1 << 14)
def test_texts_of_every_length_are_passed(length: int) -> None:
    packed = codec_of(Shop).encode(Shop(1, 2, "x" * length, 7, b"k" * (length // 2), 3, (), 9, is_closed=True))
    assert fields_reader(Shop, ("size", "key"))(packed) == (7, b"k" * (length // 2))


@given(st.lists(printable_values_of(Shop), max_size=9), st.sampled_from((("number", "market"), ("market", "rank"))))
def test_numbers_of_many_records_are_read_at_once(shops: list[Shop], names: tuple[str, str]) -> None:
    """Whether they stand first in each record or not."""
    columns = columns_reader(Shop, names)([codec_of(Shop).encode(shop) for shop in shops])
    assert [[*column] for column in columns] == [[getattr(shop, name) for shop in shops] for name in names]


def test_bytes_before_a_field_are_counted_where_they_do_not_vary() -> None:
    assert [bytes_before(Shop, name) for name in ("number", "market", "owner")] == [0, 8, 16]
    with pytest.raises(TypeError, match=r"the size of Shop\.owner varies"):
        bytes_before(Shop, "size")


def test_a_list_is_not_read_in_part() -> None:
    with pytest.raises(TypeError, match="shares is neither a text nor of a fixed size"):
        fields_reader(Shop, ("shares",))


@pytest.mark.parametrize("names", [("size",), ("rank",), ("wide",), ("number",)])
def test_bytes_that_end_early_are_an_error_of_the_codec(names: tuple[str, ...]) -> None:
    with pytest.raises(DecodeError):
        fields_reader(Shop, names)(b"\0")
