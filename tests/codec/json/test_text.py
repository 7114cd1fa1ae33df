"""Plain values as JSON text."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.codec.json.legacy import parse
from ledgerd.codec.json.text import bare_text, double_text, dumps, integer_text, quote

WIRE_TEXTS = st.binary().map(lambda raw: raw.decode("utf-8", "surrogateescape")) | st.text()


def test_only_what_json_must_escape_is_escaped() -> None:
    assert quote('\b\f\n\r\t\\"') == r'"\b\f\n\r\t\\\""'
    assert quote("\0\x04\x0b\x1f") == r'"\u0000\u0004\u000b\u001f"'
    assert quote("/\x7f\u0436\U0001f600\u2028") == '"/\x7f\u0436\U0001f600\u2028"'


@given(WIRE_TEXTS)
def test_a_quoted_text_is_read_back_with_every_byte(text: str) -> None:
    raw = quote(text).encode("utf-8", "surrogateescape")

    assert parse(raw, unicode_escapes=True) == text


@given(st.text())
def test_quoting_is_what_json_writers_do(text: str) -> None:
    assert quote(text).encode() == orjson.dumps(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (4294967295, "4294967295"),
        (4294967296, '"4294967296"'),
        (2**64 - 1, '"18446744073709551615"'),
        (-1, "-1"),
        (-(2**63), "-9223372036854775808"),
    ],
)
def test_integers_above_32_bits_stand_in_quotes(value: int, text: str) -> None:
    assert integer_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0, '"2.00000000000000000"'),
        (1.5, '"1.50000000000000000"'),
        (0.1, '"0.10000000000000001"'),
        (-0.0, '"-0.00000000000000000"'),
        (1e22, '"10000000000000000000000.00000000000000000"'),
    ],
)
def test_doubles_stand_in_quotes_with_17_decimals(value: float, text: str) -> None:
    assert double_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", "a"), (None, ""), (True, "true"), (False, "false"), (2**40, "1099511627776"), (-3, "-3")],
)
def test_a_scalar_as_bare_text(value: Any, text: str) -> None:
    assert bare_text(value) == text


def test_a_tree_has_no_spaces_and_keeps_the_order_of_its_keys() -> None:
    value: Any = {"b": [1, True, None, 5000000000], "a": {"x": False, "": "\n"}, "c": [], "d": {}, "e": 2.0}
    text = '{"b":[1,true,null,"5000000000"],"a":{"x":false,"":"\\n"},"c":[],"d":{},"e":"2.00000000000000000"}'

    assert dumps(value) == text


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**32 - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(JSON_VALUES)
def test_trees_without_large_numbers_are_ordinary_json(value: Any) -> None:
    assert json.loads(dumps(value)) == value
    assert parse(dumps(value).encode(), unicode_escapes=True) == value
