"""Times: relative for the eye, exact for the record."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.explorer.words.language import language
from ledgerd.explorer.words.times import LATEST, absolute, ago, seconds_of, text_of, when

NOON = 1_795_348_800


@given(st.integers(0, LATEST))
def test_a_time_and_its_text_are_one(seconds: int) -> None:
    assert seconds_of(text_of(seconds)) == seconds


@pytest.mark.parametrize("text", ["", "yesterday", "1900-01-01T00:00:00", "2026-13-01T00:00:00", "2026-11-22"])
def test_what_is_no_time_is_none(text: str) -> None:
    assert seconds_of(text) == 0
    assert "none" in when(language("en"), text, NOON)


@pytest.mark.parametrize("text", ["1969-12-31T23:59:59", "2106-02-07T06:28:15"])
def test_the_latest_time_is_never(text: str) -> None:
    assert when(language("en"), text, NOON) == "never"
    assert when(language("ru"), text, NOON) == "никогда"


@pytest.mark.parametrize(
    ("past", "english", "russian"),
    [
        (-1, "now", "сейчас"),
        (0, "now", "сейчас"),
        (3, "3 s ago", "3 с назад"),  # noqa: RUF001 - Russian
        (59, "59 s ago", "59 с назад"),  # noqa: RUF001 - Russian
        (60, "1 min ago", "1 мин назад"),
        (7_200, "2 hours ago", "2 часа назад"),
        (86_400 * 5, "5 days ago", "5 дней назад"),
        (31_536_000, "1 year ago", "1 год назад"),
    ],
)
def test_an_age_has_its_largest_unit(past: int, english: str, russian: str) -> None:
    assert ago(language("en"), NOON - past, NOON) == english.replace("now", "now")
    assert ago(language("ru"), NOON - past, NOON) == russian


def test_what_lies_ahead_says_so() -> None:
    assert ago(language("en"), NOON + 120, NOON) == "in 2 min"


def test_an_element_has_both() -> None:
    shown = when(language("ru"), text_of(NOON), NOON + 5)
    assert f'datetime="{text_of(NOON)}Z"' in shown
    assert absolute(language("ru"), NOON) in shown
    assert "5 с назад" in shown  # noqa: RUF001 - Russian
    assert shown.count(f'data-ago="{NOON}"') == 1
    assert absolute(language("en"), NOON) in when(language("en"), text_of(NOON), NOON, is_full=True)
