"""The legacy JSON grammar: what is valid, what it reads, and that the fast path agrees with the exact reader."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledgerd.codec.errors import ASSERTION, EOF, PARSE_ERROR, DecodeError
from ledgerd.codec.json.errors import JsonError
from ledgerd.codec.json.legacy import MAX_NESTING, MAX_OPEN, is_valid, parse
from ledgerd.codec.json.legacy_reader import LegacyReader

RECORDED: dict[str, Any] = json.loads((Path(__file__).parents[2] / "vectors" / "texts.json").read_text())

VALID = rb"""{}|[]| {"a":1}|null|nul|nope|nulll|tru |123|-0|007|12ab |-a|.5|5.|1e5|1E-5|1.5e3
18446744073709551615|-9223372036854775808|"a\u0041"|[1 2]|[1,,2,]|[,]|{,}|{"a":1"b":2}|{"a":1,"a":2}|foo|nan
{"a":tru}|[1.]|1a\|n\tx|00.5|-.5|[true false]|{"a":1 "b":2}|"\x"|[""]"""
INVALID = rb"""{"a":1} |nullx|truex|true |123 |-|.|-.|1.2.3|--1|+5|1e+5|1/2|1:2|1_2|1-2|-1-1
18446744073709551616|-9223372036854775809|{"a" 1}|{"a":}|{"a":,}|{a:1}|{'a':1}|[}|{"a":1]|[1]]|{"a":1|abc|NaN
Infinity|{"a":t r}|[1./2]|/* */{}|{"a":[|{"a":[1,2|{"a|{"a"|{"a":|[{"a":[1"""
VALID_BYTES = [
    b'""',
    b'"a\x01b"',
    b'"a\nb"',
    b'"\0"',
    b"1a\0",
    b'{"a"\t:\r\n1}',
    b'"\xff\xfe"',
    b"[1\0, 2]".replace(b"\0", b""),
]
INVALID_BYTES = [
    b"",
    b"{}\n",
    b'"a\x04b"',
    b"\0",
    b'{"a":\0}',
    b"1\x0b",
    b"\xef\xbb\xbf{}",
    b"[\0",
    b"[\0]",
    b"[1,\0,2]",
]
ENDS_TOO_EARLY = [b'"abc', b'"abc\\', b"[1", b"[", b" ", b"\t", b"\x04", b"\xff", b"[\x04", b'["a']


def cases(table: bytes) -> list[bytes]:
    return table.replace(b"\n", b"|").split(b"|")


def exactly_valid(text: bytes) -> bool:
    reader = LegacyReader(text)
    try:
        reader.read()
    except DecodeError as error:
        if error.code == PARSE_ERROR:
            return False
        raise
    return reader.pos == len(text)


@pytest.mark.parametrize("text", cases(VALID) + VALID_BYTES + [t.encode() for t in RECORDED["is_valid"]["true"]])
def test_a_valid_text(text: bytes) -> None:
    assert is_valid(text)
    assert exactly_valid(text)


@pytest.mark.parametrize("text", cases(INVALID) + INVALID_BYTES + [t.encode() for t in RECORDED["is_valid"]["false"]])
def test_an_invalid_text(text: bytes) -> None:
    assert not is_valid(text)


@pytest.mark.parametrize("text", ENDS_TOO_EARLY)
def test_a_text_that_ends_too_early_is_an_error_of_its_own(text: bytes) -> None:
    with pytest.raises(DecodeError) as refused:
        is_valid(text)

    assert refused.value.code == EOF


@pytest.mark.parametrize("fact", RECORDED["parse"], ids=lambda fact: fact["text"])
def test_the_answer_to_an_unreadable_request_is_the_recorded_one(fact: dict[str, str]) -> None:
    what = {PARSE_ERROR: "Parse Error", EOF: "End Of File"}

    with pytest.raises(JsonError) as refused:
        parse(fact["text"].encode())

    error = refused.value
    assert f"{what[error.code]} ({error.code})\n{error.log}" == fact["message"]
    assert error.layers[-1].data == {"str": fact["text"]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (rb"{}", {}),
        (
            rb'{"a":1,"b":-2,"c":1.5,"d":"x","e":true,"f":null,"g":[]}',
            dict(zip("abcdefg", [1, -2, 1.5, "x", True, None, []], strict=True)),
        ),
        (rb'{"b":1,"a":2,"b":3}', {"b": 1, "a": 2}),
        (rb'{"b":[1],"b":[2,3],}', {"b": [1]}),
        (rb"[18446744073709551615,-9223372036854775808]", [2**64 - 1, -(2**63)]),
        (rb"1e5", "1e5"),
        (rb"[-1.5E-3,0x10,1.5ex]", ["-1.5E-3", "0x10", "1.5ex"]),
        (rb"[nope nulll tru]", ["nope", "nulll", "tru"]),
        (rb"null trailing", None),
        (rb"{} {}", {}),
        (rb"12 34", 12),
        (rb'"a\tb\nc\rd\\e\"f\/g"', 'a\tb\nc\rd\\e"f/g'),
        (rb'"\u0041\b\f"', "u0041bf"),
        (rb"1a\tb c", "1a\tb"),
        (b'"\xff\xd0\xb6"', "\udcff\u0436"),
        (b"\0", None),
        (b'{"a":.5 "b" : -.5 "c":5.}', {"a": 0.5, "b": -0.5, "c": 5.0}),
    ],
)
def test_the_value_of_a_text(text: bytes, value: Any) -> None:
    assert repr(parse(text)) == repr(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (rb'"\u0041\b\f\n"', "A\b\f\n"),
        (rb'{"\u0436":"\u0436"}', {"\u0436": "\u0436"}),
        (rb'"\ud83d\ude00"', "\U0001f600"),
        (rb'"\ud83d"', "ud83d"),
        (rb'"\ude00\ud83d"', "ude00ud83d"),
        (rb'"\ud83d\u0041"', "ud83dA"),
        (rb'"\u12"', "u12"),
        (rb'"\u0000\x"', "\0x"),
        (rb"n\u0041", "nu0041"),
    ],
)
def test_the_escapes_of_standard_json_are_read_where_asked_for(text: bytes, value: Any) -> None:
    assert parse(text, unicode_escapes=True) == value


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_a_hundred_open_brackets_are_too_many(opening: bytes) -> None:
    closing = b"]" if opening == b"[" else b"}"

    assert parse(opening * (MAX_OPEN - 1) + b"1" + closing * (MAX_OPEN - 1))
    with pytest.raises(JsonError) as refused:
        parse(opening * MAX_OPEN + b"1" + closing * MAX_OPEN)
    assert refused.value.code == ASSERTION
    assert refused.value.layers[0].text == "open_object < 100 && open_array < 100: object graph too deep"


def test_brackets_inside_strings_count_too() -> None:
    assert parse(b'["' + b"{" * 99 + b'"]')
    with pytest.raises(JsonError):
        parse(b'["' + b"{" * 100 + b'"]')


@pytest.mark.parametrize("tail", [b"]", b"] 1e+5"])
def test_closing_brackets_inside_strings_do_not_buy_endless_depth(tail: bytes) -> None:
    cheat = b'"' + b"]" * 90 + b'"'

    def nested(depth: int) -> bytes:
        return (b"[" * 80 + cheat + b",") * (depth // 80) + b"[" * (depth % 80) + b"1" + b"]" * (depth - 1) + tail

    assert parse(nested(MAX_NESTING))
    with pytest.raises(JsonError) as refused:
        parse(nested(MAX_NESTING + 1))
    assert refused.value.code == ASSERTION
    with pytest.raises(JsonError):
        parse(nested(4000))


def test_many_brackets_side_by_side_are_not_depth() -> None:
    assert parse(b"[" + b"[{}]," * 300 + b"[]]") == [*[[{}]] * 300, []]


@pytest.mark.parametrize("size", [100, 70_000])
def test_validity_knows_no_depth(size: int) -> None:
    assert is_valid(b"[" * size + b"]" * size)
    assert is_valid(b'{"a":' * size + b"1" + b"}" * size)
    assert not is_valid(b'{"a":' * size)
    with pytest.raises(DecodeError):
        is_valid(b"[" * size)
    deep = b"[" * size + b"]" * size
    for text in (b'{"a":[' + deep + b",", b'{"a":[' + deep + b",?", b'{"a":{"b":[' + deep):
        assert not is_valid(text)
    with pytest.raises(DecodeError):
        is_valid(b"[" + deep + b",")


def test_errors_far_inside_list_the_arrays_around_them() -> None:
    with pytest.raises(JsonError) as refused:
        parse(b'[1,["a",{"b":[2 ?')

    assert [layer.text for layer in refused.value.layers[:-1]] == [
        "Unexpected char '63' in \"\"",
        "Attempting to parse array [2]",
        "Error parsing object",
        'Attempting to parse array ["a"]',
        "Attempting to parse array [1]",
    ]


ASCII_PIECES = rb"""{|}|[|]|,|:|"|"a"|"a":|1|-|.|e5|+| |\|null|true|nan|\u0041|\ud800|0|NaN|-0|1.5|/|x"""
OTHER_PIECES = [b"\0", b"\x04", b"\xff", b"\n", b"\t", b"\xd0\xb6", b"\xef\xbb\xbf", b"9" * 20, b"9" * 400]
PIECES = st.sampled_from(ASCII_PIECES.split(b"|") + OTHER_PIECES)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)
TEXTS = (
    st.lists(PIECES, max_size=12).map(b"".join)
    | st.binary(max_size=40)
    | JSON_VALUES.map(lambda value: json.dumps(value, ensure_ascii=False).encode())
    | JSON_VALUES.map(lambda value: json.dumps(value, indent=1).encode())
)


def outcome(action: Any) -> str:
    try:
        return repr(action())
    except JsonError as error:
        return f"{error.code} {error.layers}"


def verdict(action: Callable[[], bool]) -> bool | int:
    """The code where it is an error: what is around a fault is not told."""
    try:
        return action()
    except JsonError as error:
        return error.code


@given(TEXTS)
@example(b"1E400")
@example(b"[1.5e999]")
@example(b'{"a":1,"a":{"b":2,"b":3}}')
def test_the_fast_way_to_validity_agrees_with_the_exact_reader(text: bytes) -> None:
    assert verdict(lambda: is_valid(text)) == verdict(lambda: bool(text) and exactly_valid(text))


@given(TEXTS, st.booleans())
@example(b"[-0, -0.0, 1e5, 1.5e999]", False)
@example(b'{"a":1,"a":{"b":2,"b":3}}', True)
@example(b'"\\udc80"', True)
def test_the_fast_way_to_a_value_agrees_with_the_exact_reader(text: bytes, unicode_escapes: bool) -> None:
    def exact() -> Any:
        try:
            return LegacyReader(text, unicode_escapes=unicode_escapes).read()
        except JsonError as error:
            raise error.under("", {"str": text.decode("utf-8", "surrogateescape")}) from None

    assert outcome(lambda: parse(text, unicode_escapes=unicode_escapes)) == outcome(exact)


@given(JSON_VALUES)
def test_ordinary_json_means_what_it_says_to_a_client(value: Any) -> None:
    text = json.dumps(value)
    if re.search(r"[0-9]{19}|NaN|Infinity|[0-9]e", text):
        return
    assert parse(text.encode(), unicode_escapes=True) == value
