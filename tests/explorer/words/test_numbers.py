"""Numbers and amounts as people read them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.explorer.words.numbers import (
    THIN,
    amount,
    grouped,
    micro_text,
    milli,
    milli_text,
    percent,
    ratio,
    units_of,
    whole,
)


@given(st.integers(-(10**18), 10**18))
def test_no_digit_is_lost(number: int) -> None:
    assert int(grouped(number).replace(THIN, "").replace("\N{MINUS SIGN}", "-")) == number
    assert units_of(milli_text(number)) == number
    assert units_of(micro_text(number)) == number
    shown = re.sub(r"<[^>]+>", "", milli(number)).replace(THIN, "").replace("\N{MINUS SIGN}", "-")
    assert shown == milli_text(number).replace(" ", "")


@pytest.mark.parametrize(
    ("number", "shown"), [(0, "0"), (999, "999"), (1000, "1 000"), ("49998552", "49 998 552"), (-1234, "\u22121 234")]
)
def test_digits_stand_in_threes(number: int | str, shown: str) -> None:
    assert grouped(number).replace(THIN, " ") == shown


def test_an_amount_has_its_small_digits_apart_and_what_is_none_is_escaped() -> None:
    assert "12\u202f345<small>.678</small>" in amount("12345.678 VIZ")
    assert amount("<b>") == "&lt;b&gt;"
    assert 'title="12345.678 VIZ"' in whole("12345.678 VIZ")
    assert ".678<" not in whole("12345.678 VIZ")


@pytest.mark.parametrize(
    ("hundredths", "shown"), [(0, "0 %"), (10_000, "100 %"), (1_250, "12.5 %"), (1, "0.01 %"), (-10_000, "\u2212100 %")]
)
def test_hundredths_of_a_percent_have_no_idle_zeros(hundredths: int, shown: str) -> None:
    assert percent(hundredths).replace(THIN, " ") == shown


def test_a_part_of_nothing_is_no_number() -> None:
    assert ratio(1, 0) == "—"
    assert ratio(1, 3).replace(THIN, " ") == "33.3 %"
