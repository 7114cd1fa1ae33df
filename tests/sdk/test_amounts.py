"""Amounts: exact, each in its own symbol, and never mixed."""

from __future__ import annotations

from decimal import Decimal
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.protocol.types.assets import MAX_AMOUNT, MIN_AMOUNT, Asset, shares, tokens
from ledgerd.sdk.amounts import AmountError, Shares, Viz, amount_of

K = TypeVar("K", Viz, Shares)
UNITS = st.integers(MIN_AMOUNT // 4, MAX_AMOUNT // 4)
KINDS = st.sampled_from([Viz, Shares])


@pytest.mark.parametrize("text", ["1.500 VIZ", "1.500", "1.5", " 1.5  VIZ "])
def test_a_text_is_an_amount_with_its_symbol_or_without(text: str) -> None:
    assert Viz(text) == Viz.from_units(1_500)
    assert str(Viz(text)) == "1.500 VIZ"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1.5000 VIZ", "1.5000 VIZ has 4 decimals, VIZ has 3"),
        ("1.000000 SHARES", "1.000000 SHARES is not in VIZ"),
        ("1.000 viz", "1.000 viz is no amount: write it as 1.500 VIZ"),
        ("1,000 VIZ", "1,000 VIZ is no amount: write it as 1.500 VIZ"),
        ("\u0661.000 VIZ", "is no amount"),
        ("1e3", "1e3 is no amount"),
        ("", "is no amount"),
        (".5", ".5 is no amount"),
        ("9223372036854775.808 VIZ", "the amount of VIZ does not fit 64 bits"),
        ("1" * 5_000, "is no amount"),
    ],
)
def test_a_text_that_is_no_exact_amount_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(AmountError, match=said):
        Viz(text)


@pytest.mark.parametrize("value", [1.5, 1, True, None, b"1.000 VIZ"])
def test_neither_floats_nor_bare_numbers_are_amounts(value: object) -> None:
    with pytest.raises(TypeError, match="is no exact amount of VIZ"):
        Viz(value)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("value", [1.0, True, "1"])
def test_units_are_whole_numbers(value: object) -> None:
    with pytest.raises(TypeError, match="units of SHARES are a whole number"):
        Shares.from_units(value)  # type: ignore[arg-type]  # that is the point


def test_a_decimal_is_taken_exactly_or_not_at_all() -> None:
    assert Viz(Decimal("0.001")) == Viz.from_units(1)
    assert Shares(Decimal("1E+3")) == Shares("1000.000000")
    for refused in ("0.0005", "NaN", "Infinity", "1E+999999", "1E-999999", "9" * 100):
        with pytest.raises(AmountError):
            Viz(Decimal(refused))


def test_tokens_and_shares_cannot_be_mixed() -> None:
    one, other = Viz("1"), Shares("1")
    for mixed in (
        lambda: one + other,  # type: ignore[operator]  # the type checker refuses it too, or this comment would be unused
        lambda: one - other,  # type: ignore[operator]
        lambda: one < other,  # type: ignore[operator]
        lambda: one >= other,  # type: ignore[operator]
        lambda: one + 1,  # type: ignore[operator]
        lambda: one * 1.5,  # type: ignore[operator]
        lambda: one * one,  # type: ignore[operator]
        lambda: one // 2.0,  # type: ignore[operator]
    ):
        with pytest.raises(TypeError):
            mixed()
    assert one != other
    assert len({one, other, Viz("1.000 VIZ")}) == 2


def test_an_amount_is_the_protocols_on_the_wire() -> None:
    assert Viz("1.5").asset == tokens(1_500)
    assert amount_of(tokens(7)) == Viz("0.007")
    assert amount_of(shares(7)) == Shares("0.000007")
    with pytest.raises(AmountError, match="VIZ with 2 decimals is not VIZ"):
        amount_of(Asset.from_json("1.00 VIZ"))
    with pytest.raises(AmountError, match="SHARES with 6 decimals is not VIZ"):
        Viz.from_asset(shares(1))


def test_parts_are_rounded_down_and_the_rest_is_known() -> None:
    assert Viz("10") // 3 == Viz("3.333")
    assert Viz("10") % 3 == Viz("0.001")
    assert 3 * Viz("3.333") + Viz("0.001") == Viz("10")
    assert sum([Viz("1"), Viz("2.5")], Viz("0")) == Viz("3.5")
    assert not Viz("0")
    assert abs(Viz("-1.5")) == -Viz("-1.5") == Viz("1.5")
    assert repr(Viz("-0.5")) == "Viz('-0.500 VIZ')"


def test_a_sum_that_does_not_fit_is_refused() -> None:
    with pytest.raises(AmountError, match="does not fit 64 bits"):
        Viz.from_units(MAX_AMOUNT) + Viz("0.001")
    with pytest.raises(AmountError, match="does not fit 64 bits"):
        -Viz.from_units(MIN_AMOUNT)


@given(KINDS, UNITS)
def test_text_and_decimal_lead_back_to_the_amount(kind: type[Viz | Shares], units: int) -> None:
    amount = kind.from_units(units)

    assert kind(str(amount)) == kind(amount.decimal) == kind.from_asset(amount.asset) == amount
    assert amount.units == units
    assert hash(kind(str(amount))) == hash(amount)


@given(UNITS, UNITS)
def test_amounts_are_calculated_and_ordered_as_their_units_are(one: int, two: int) -> None:
    def check(kind: type[K]) -> None:
        a, b = kind.from_units(one), kind.from_units(two)
        assert (a + b).units == one + two
        assert (a - b).units == one - two
        assert (a < b, a <= b, a > b, a >= b, a == b) == (one < two, one <= two, one > two, one >= two, one == two)

    check(Viz)
    check(Shares)


@given(st.integers(0, MAX_AMOUNT))
def test_an_amount_that_is_not_negative_is_written_as_the_network_writes_it(units: int) -> None:
    assert str(Viz.from_units(units)) == str(tokens(units))
    assert str(Shares.from_units(units)) == str(shares(units))
