"""Assets as text."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.codec.errors import ASSERTION, PARSE_ERROR, DecodeError
from ledgerd.codec.json.errors import JsonError
from ledgerd.protocol.types.assets import asset_text, parse_asset_text

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent.parent / "vectors" / "texts.json").read_text())


def symbol(name: str, decimals: int) -> int:
    return int.from_bytes(bytes([decimals]) + name.encode(), "little")


TOKEN, SHARES = symbol("VIZ", 3), symbol("SHARES", 6)


def test_the_symbols_of_the_main_network() -> None:
    assert TOKEN == 1514755587
    assert SHARES == 23438642651878150


@pytest.mark.parametrize("text", RECORDED["printed"]["assets"])
def test_a_printed_asset_is_read_back(text: str) -> None:
    assert asset_text(*parse_asset_text(text)) == text


@pytest.mark.parametrize("fact", RECORDED["assets"], ids=lambda fact: str(fact["value"]))
def test_a_refusal_is_the_recorded_one(fact: dict[str, Any]) -> None:
    with pytest.raises(JsonError) as refused:
        parse_asset_text(fact["value"])

    assert f"Assert Exception ({refused.value.code})\n{refused.value.log}" == fact["message"]
    assert refused.value.layers[-1].data == fact["data"]


@pytest.mark.parametrize(
    ("amount", "of", "text"),
    [
        (1500, TOKEN, "1.500 VIZ"),
        (7, TOKEN, "0.007 VIZ"),
        (0, SHARES, "0.000000 SHARES"),
        (10_000_000, SHARES, "10.000000 SHARES"),
        (2**63 - 1, TOKEN, "9223372036854775.807 VIZ"),
        (5, symbol("A", 0), "5 A"),
        (5, symbol("", 1), "0.5 "),
        (1, symbol("X", 14), "0.00000000000001 X"),
        (-1500, TOKEN, "-1.00 VIZ"),
        (-500, TOKEN, "0.00 VIZ"),
        (-1, TOKEN, "0.99 VIZ"),
        (-999, TOKEN, "0. VIZ"),
        (-1000, TOKEN, "-1.000 VIZ"),
        (-5, symbol("A", 0), "-5 A"),
    ],
)
def test_an_asset_is_printed(amount: int, of: int, text: str) -> None:
    assert asset_text(amount, of) == text


@pytest.mark.parametrize(("of", "text"), [(symbol("VIZ", 15), "result < 15: "), (symbol("1234567", 3), "a[7] == 0: ")])
def test_a_symbol_that_cannot_be_printed(of: int, text: str) -> None:
    with pytest.raises(DecodeError) as refused:
        asset_text(1, of)
    assert (refused.value.code, refused.value.text) == (ASSERTION, text)


@pytest.mark.parametrize(
    ("text", "amount", "of"),
    [
        ("1.500 VIZ", 1500, TOKEN),
        (" \t1.500 VIZ\r\n", 1500, TOKEN),
        ("+1.500 VIZ", 1500, TOKEN),
        ("-1.500 VIZ", -500, TOKEN),
        ("-0.500 VIZ", 500, TOKEN),
        ("1.5 VIZ", 15, symbol("VIZ", 1)),
        ("15 VIZ", 15, symbol("VIZ", 0)),
        ("1. VIZ", 1, symbol("VIZ", 0)),
        ("1.5  V Z", 15, symbol(" V Z", 1)),
        ("1.50000000000000 viz", 150000000000000, symbol("viz", 14)),
        ("9223372036854775.808 VIZ", -(2**63), TOKEN),
        ("18446744073709552.000 VIZ", 384, TOKEN),
        ("-9223372036854775808 VIZ", -(2**63), symbol("VIZ", 0)),
    ],
)
def test_an_asset_is_read(text: str, amount: int, of: int) -> None:
    assert parse_asset_text(text) == (amount, of)


@pytest.mark.parametrize(
    ("text", "code", "refusal"),
    [
        ("", ASSERTION, "space_pos != std::string::npos: "),
        ("1.500", ASSERTION, "space_pos != std::string::npos: "),
        ("1.500 ", ASSERTION, "space_pos != std::string::npos: "),
        ("1 V.Z", ASSERTION, "space_pos > dot_pos: "),
        ("1.000000000000000 VIZ", ASSERTION, "d < 15: "),
        ("1.000 SEVENTH", ASSERTION, "symbol_size <= 6: "),
        ("1.000 \u0436\u0436\u0436x", ASSERTION, "symbol_size <= 6: "),
        (".500 VIZ", PARSE_ERROR, "Couldn't parse int64_t"),
        ("1.5x0 VIZ", PARSE_ERROR, "Couldn't parse int64_t"),
        ("1,500 VIZ", PARSE_ERROR, "Couldn't parse int64_t"),
        ("0x1 VIZ", PARSE_ERROR, "Couldn't parse int64_t"),
        ("9223372036854775808 VIZ", PARSE_ERROR, "Couldn't parse int64_t"),
        ("1." + "0" * 256 + " VIZ", PARSE_ERROR, "Couldn't parse int64_t"),
    ],
)
def test_no_asset(text: str, code: int, refusal: str) -> None:
    with pytest.raises(JsonError) as refused:
        parse_asset_text(text)

    error = refused.value
    assert (error.code, error.text) == (code, refusal)
    assert error.layers[-1].data == {"from": text}


NAMES = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=1, max_size=6)


@given(st.integers(0, 2**63 - 1), NAMES, st.integers(0, 14))
def test_every_amount_that_is_not_negative_survives_its_text(amount: int, name: str, decimals: int) -> None:
    of = symbol(name, decimals)

    assert parse_asset_text(asset_text(amount, of)) == (amount, of)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**64 - 1))
def test_any_asset_is_printed_or_refused(amount: int, of: int) -> None:
    with suppress(DecodeError):
        assert " " in asset_text(amount, of)


@given(st.text("0123456789.-+ VIZ", max_size=30) | st.text())
def test_any_text_is_an_asset_or_refused(text: str) -> None:
    with suppress(DecodeError):
        amount, of = parse_asset_text(text)
        assert -(2**63) <= amount < 2**63
        assert 0 <= of < 2**56
