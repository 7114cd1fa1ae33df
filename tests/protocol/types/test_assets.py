"""Assets and prices: fits_int64 sums, comparisons of one symbol, and conversion in the reference's integers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.codec import DecodeError, codec_of
from ledgerd.protocol.errors import Overflow, RuleViolation, Underflow
from ledgerd.protocol.types.assets import (
    MAX_AMOUNT,
    MIN_AMOUNT,
    Asset,
    Price,
    Shares,
    Tokens,
    fits_int64,
    shares,
    tokens,
)

AMOUNTS = st.integers(MIN_AMOUNT, MAX_AMOUNT)


def test_an_asset_has_its_published_bytes() -> None:
    assert codec_of(Asset).encode(tokens(1500)).hex() == "dc050000000000000356495a00000000"
    assert codec_of(Asset).encode(shares(10_000_000)).hex() == "80969800000000000653484152455300"


@given(AMOUNTS, st.integers(0, 2**64 - 1))
def test_any_amount_and_symbol_come_back(amount: int, symbol: int) -> None:
    assert codec_of(Asset).decode(codec_of(Asset).encode(Asset(amount, symbol))) == Asset(amount, symbol)


def test_a_symbol_of_odd_bytes_is_printed_as_json_nevertheless() -> None:
    symbol = int.from_bytes(b'\x03"\n\\' + bytes(4), "little")

    assert codec_of(Asset).to_json(Asset(1500, symbol)) == r'"1.500 \"\n\\"'


def test_a_sum_that_does_not_fit_is_an_error() -> None:
    assert tokens(MAX_AMOUNT - 1) + tokens(1) == tokens(MAX_AMOUNT)
    with pytest.raises(Overflow):
        tokens(MAX_AMOUNT) + tokens(1)
    with pytest.raises(Underflow):
        tokens(MIN_AMOUNT) - tokens(1)
    with pytest.raises(Overflow):
        -tokens(MIN_AMOUNT)
    assert fits_int64(MAX_AMOUNT) == MAX_AMOUNT


def test_assets_of_two_symbols_do_not_mix() -> None:
    for mix in (
        lambda: tokens(1) + shares(1),
        lambda: tokens(1) - shares(1),
        lambda: tokens(1) < shares(1),
        lambda: tokens(1) >= shares(1),
    ):
        with pytest.raises(RuleViolation, match=r"a\.symbol == b\.symbol"):
            mix()


def test_assets_of_one_symbol_are_compared_by_amount() -> None:
    assert tokens(1) < tokens(2) <= tokens(2)
    assert tokens(3) > tokens(2) >= tokens(2)


def test_a_price_converts_both_ways_and_drops_what_does_not_divide() -> None:
    price = Price(shares(3_000_000), tokens(1_000))
    assert price.convert(tokens(1)) == shares(3_000)
    assert price.convert(shares(2_999)) == tokens(0)
    assert price.convert(shares(3_001)) == tokens(1)


def test_a_price_looks_at_the_letters_of_a_symbol_alone() -> None:
    other_decimals = Asset(5, tokens(0).symbol & ~0xFF | 7)
    assert Price(shares(2), tokens(1)).convert(other_decimals) == shares(10)


def test_a_negative_amount_or_a_third_symbol_has_no_worth() -> None:
    price = Price(shares(3_000_000), tokens(1_000))
    with pytest.raises(RuleViolation, match=r"result\.hi == 0"):
        price.convert(tokens(-1))
    with pytest.raises(RuleViolation, match="invalid asset"):
        price.convert(Asset(1, 0x0041))
    with pytest.raises(RuleViolation, match="> 0"):
        Price(shares(0), tokens(1)).convert(shares(1))


def test_an_amount_of_a_known_symbol_is_a_number_in_bytes_and_an_asset_in_json() -> None:
    assert codec_of(Tokens).encode(1500).hex() == "dc05000000000000"
    assert codec_of(Tokens).to_json(1500) == '"1.500 VIZ"'
    assert codec_of(Shares).to_json(1_500_000) == '"1.500000 SHARES"'
    assert codec_of(Shares).from_json("0.000001 SHARES") == 1
    with pytest.raises(DecodeError, match="another symbol"):
        codec_of(Tokens).from_json("1.000000 SHARES")
