"""The orders of keys: bytes that sort as the ledger does."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.state.tables.keys import (
    BOOL,
    C_TEXT,
    CUT_TEXT,
    INT8,
    INT64,
    NAME_TEXT,
    NAME_WORD,
    OWN_ID,
    TIME,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    UINT128,
    Order,
    descending,
    end_of_prefix,
    fixed_bytes,
    integer_of,
    integers_of,
    key_encoder,
)

WORD_ORDER = (
    "ba ab id bob viz dave null on1x alice carol invite readdle a-long-account.name chain.cash committee "
    "abcdefghi zbcdefgha anonymous"
)
TEXT_ORDER = (
    "a-long-account.name ab abcdefghi alice anonymous ba bob carol chain.cash committee dave id invite null on1x "
    "readdle viz zbcdefgha"
)
WORD_ORDER_OF_HEADER = (
    "b a1 aa bob viz null temp on1x alice committee abcdefgh abcdefghi on1x.viz"  # spec 01, section 2.4
)

NAMES = st.text(st.characters(codec="ascii", exclude_characters="\0"), max_size=32)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)


def test_names_in_word_order_are_those_of_the_reference() -> None:
    assert sorted(TEXT_ORDER.split(), key=NAME_WORD.encode) == WORD_ORDER.split()
    assert sorted(WORD_ORDER_OF_HEADER.split(), key=NAME_WORD.encode) == WORD_ORDER_OF_HEADER.split()


def test_names_in_text_order_are_those_of_the_reference() -> None:
    assert sorted(WORD_ORDER.split(), key=NAME_TEXT.encode) == TEXT_ORDER.split()


@given(NAMES, NAMES)
def test_word_order_compares_little_endian_words(one: str, other: str) -> None:
    def words(name: str) -> tuple[Any, ...]:
        return struct.unpack("<4Q", name.encode().ljust(32, b"\0"))

    assert (NAME_WORD.encode(one) < NAME_WORD.encode(other)) == (words(one) < words(other))


@given(NAMES, NAMES)
def test_text_order_compares_bytes(one: str, other: str) -> None:
    assert (NAME_TEXT.encode(one) < NAME_TEXT.encode(other)) == (one.encode() < other.encode())


@given(TEXTS, TEXTS)
def test_c_text_is_seen_up_to_its_first_nul(one: str, other: str) -> None:
    def seen(text: str) -> bytes:
        return text.encode().split(b"\0")[0]

    assert (C_TEXT.encode(one) < C_TEXT.encode(other)) == (seen(one) < seen(other))
    assert (C_TEXT.encode(one) == C_TEXT.encode(other)) == (seen(one) == seen(other))


@pytest.mark.parametrize(
    ("order", "values"),
    [
        (TIME, (0, 1, 255, 256, 0xFFFFFFFF)),
        (INT8, (-128, -1, 0, 1, 127)),
        (INT64, (-(1 << 63), -256, -1, 0, 255, (1 << 63) - 1)),
        (UINT128, (0, 1 << 64, (1 << 128) - 1)),
        (BOOL, (False, True)),
        (fixed_bytes(3), (b"\0\0\0", b"\0\0\1", b"\xff\0\0")),
    ],
)
def test_values_in_order_have_bytes_in_order(order: Order, values: tuple[Any, ...]) -> None:
    assert sorted(values, key=order.encode) == list(values)
    assert sorted(values, key=descending(order).encode) == list(values)[::-1]


@pytest.mark.parametrize("order", [TIME, INT8, INT64, UINT128, BOOL])
def test_numbers_can_be_compared_as_they_are_but_turned_round_they_cannot(order: Order) -> None:
    assert order.is_natural
    assert not descending(order).is_natural


@pytest.mark.parametrize("order", [NAME_TEXT, NAME_WORD, C_TEXT, fixed_bytes(3)])
def test_texts_are_compared_by_their_bytes_only(order: Order) -> None:
    assert not order.is_natural


@given(TEXTS, TEXTS)
def test_descending_turns_any_order_round(one: str, other: str) -> None:
    backward = descending(C_TEXT).encode

    assert (backward(one) > backward(other)) == (C_TEXT.encode(one) < C_TEXT.encode(other))


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_an_ordered_integer_can_be_read_back(value: int) -> None:
    assert integer_of(INT64.encode(value)) == value


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=99))
def test_many_ordered_integers_can_be_read_back_at_once(values: list[int]) -> None:
    assert list(integers_of([INT64.encode(value) for value in values])) == values


@given(st.tuples(TEXTS, st.integers(0, 300)), st.tuples(TEXTS, st.integers(0, 300)))
def test_a_key_of_parts_compares_part_by_part(one: tuple[str, int], other: tuple[str, int]) -> None:
    encode = key_encoder((C_TEXT, TIME))
    first = one[0].encode().split(b"\0")[0], one[1]
    second = other[0].encode().split(b"\0")[0], other[1]

    assert (encode(one) < encode(other)) == (first < second)
    assert encode(one).startswith(encode(one[:1]))
    assert encode(()) == b""


NUMBERS = (BOOL, UINT8, UINT16, UINT32, UINT64, INT8, INT64, OWN_ID)
EDGES = [sign * (1 << bits) + by for bits in (0, 7, 8, 16, 32, 63, 64) for sign in (1, -1) for by in (-1, 0, 1)]


def encoded_or_refused(encode: Callable[[Any], bytes], value: object) -> bytes | None:
    try:
        return encode(value)
    except OverflowError:
        return None


@pytest.mark.parametrize("order", [*NUMBERS, *map(descending, NUMBERS)], ids=lambda order: order.title)
def test_a_key_that_is_packed_at_once_is_that_of_its_parts(order: Order) -> None:
    one, two = key_encoder((order,)), key_encoder((order, INT64))
    for edge in EDGES:
        expected = encoded_or_refused(order.encode, edge)
        behind = None if expected is None else expected + INT64.encode(-7)
        assert encoded_or_refused(one, (edge,)) == expected
        assert encoded_or_refused(two, (edge, -7)) == behind
        assert encoded_or_refused(two, (edge,)) == expected


def test_a_fixed_part_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="2 bytes where 3 are ordered"):
        fixed_bytes(3).encode(b"ab")


@given(st.binary(max_size=4), st.binary(max_size=6))
def test_the_end_of_a_prefix_is_behind_all_that_begins_with_it(prefix: bytes, raw: bytes) -> None:
    end = end_of_prefix(prefix)

    if end is None:
        assert prefix.strip(b"\xff") == b""
    elif raw.startswith(prefix):
        assert raw < end
    else:
        assert (raw < prefix) == (raw < end)


CUT = st.text(st.sampled_from("ab\0é\udcc3\udca9"), max_size=4) | st.integers(30, 34).map("a".__mul__)
LONG = st.integers(198, 202).map("a".__mul__) | st.integers(198, 201).map(lambda count: "a" * count + "b")


@pytest.mark.parametrize("order", [NAME_TEXT, NAME_WORD, C_TEXT, CUT_TEXT, descending(NAME_TEXT)])
@given(st.lists(CUT | LONG, min_size=20, unique=True))
def test_two_texts_that_are_whole_in_their_bytes_have_other_bytes(order: Order, texts: list[str]) -> None:
    assert order.is_whole is not None
    whole = [text for text in texts if order.is_whole(text)]
    assert len({order.encode(text) for text in whole}) == len(whole)
