"""Points in time as text."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.codec.errors import DecodeError
from ledgerd.codec.json.scalars import as_string
from ledgerd.protocol.types.time_text import TimeTextError, parse_time_text, time_text

RECORDED: dict[str, Any] = json.loads((Path(__file__).parents[2] / "vectors" / "texts.json").read_text())
MINUTE, HOUR, DAY = 60, 3600, 86400
BASE = 1538216607
"""2018-09-29T10:23:27, the time of the first block of the main network."""


def outcome(text: str) -> int | str:
    try:
        return parse_time_text(text)
    except TimeTextError as refused:
        return refused.what


DIGITS = st.text("0123456789", min_size=2, max_size=2)


@given(
    year=st.tuples(DIGITS, DIGITS), parts=st.tuples(*[st.one_of(DIGITS, st.sampled_from(["01", "-1", "1T", " 1"]))] * 5)
)
def test_a_time_of_the_printed_length_is_read_like_one_of_another_length(
    year: tuple[str, str], parts: tuple[str, ...]
) -> None:
    month, day, *clock = parts
    text = f"{''.join(year)}-{month}-{day}T{':'.join(clock)}"

    assert outcome(text) == outcome(text + ".0")


@pytest.mark.parametrize("text", RECORDED["printed"]["times"])
def test_a_printed_time_is_read_back(text: str) -> None:
    assert time_text(parse_time_text(text)) == text


@pytest.mark.parametrize("fact", RECORDED["times"], ids=lambda fact: str(fact["value"]))
def test_a_refusal_is_the_recorded_one(fact: dict[str, Any]) -> None:
    with pytest.raises(TimeTextError) as refused:
        parse_time_text(as_string(fact["value"]))

    error = refused.value
    assert f"{error.what} ({error.code})\n{error.log}" == fact["message"]
    assert error.name == fact["name"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "1970-01-01T00:00:00"),
        (BASE, "2018-09-29T10:23:27"),
        (1571037080, "2019-10-14T07:11:20"),
        (2**31 - 1, "2038-01-19T03:14:07"),
        (2**31, "1901-12-13T20:45:52"),
        (2**32 - 1, "1969-12-31T23:59:59"),
    ],
)
def test_a_time_is_printed_as_a_signed_number(seconds: int, text: str) -> None:
    assert time_text(seconds) == text
    assert parse_time_text(text) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2018-09-29T10:23:27.999", BASE),
        ("2018-09-29T10:23:27,5", BASE),
        ("2018-09-29T10:23:27.1234567Z", BASE),
        ("2018-9-29T10:23:27", BASE),
        ("2018-Sep-29T10:23:27", BASE),
        ("2018-sEPtember-29T10:23:27", BASE),
        ("2018-09.29-XT10:23:27", BASE),
        ("2018-09/29T10-23-27", BASE),
        ("2018-09-29T10:23", BASE - 27),
        ("2018-09-29T10", BASE - 27 - 23 * MINUTE),
        ("2018-09-29T34:23:27", BASE + DAY),
        ("2018-09-29T00:623:27", BASE),
        ("2018-09-29T+10:23:+27", BASE),
        ("2018-09-29T-01:00:00", BASE - BASE % DAY - HOUR),
        ("2018-09-29T-", BASE - BASE % DAY),
        ("20180929T102327", BASE),
        ("20180929T102327.5", BASE),
        ("20180929T102327Z", BASE),
        ("20180929T1023", BASE - 27),
        ("20180929T10232", BASE - 25),
        ("20180929ignoredT102327", BASE),
        ("2005121T00", 1133395200),
        ("20180929T-01", BASE - BASE % DAY - HOUR),
        ("20180929T--1", BASE - BASE % DAY + HOUR),
        ("2106-02-07T06:28:15", 2**32 - 1),
        ("2106-02-07T06:28:16", 0),
        ("1969-12-31T23:59:58.5", 2**32 - 1),
        ("1400-01-01T00:00:00", (datetime(1400, 1, 1, tzinfo=UTC).toordinal() - 719163) * DAY % 2**32),
    ],
)
def test_what_else_the_reference_reads(text: str, seconds: int) -> None:
    assert parse_time_text(text) == seconds


NO_NUMBER = "bad lexical cast: source type value could not be interpreted as target"
NO_DAY = "Day of month value is out of range 1..31"
NO_CLOCK = "basic_string::at: __n (which is 0) >= this->size() (which is 0)"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("2018-09-29T10:23:27Z", NO_NUMBER),
        ("2018-09-29T10:23:27.500Z", NO_NUMBER),
        ("2018-09-29T10:23:27+02:00", NO_NUMBER),
        ("2018-09-29T10:23:27 ", NO_NUMBER),
        (" 2018-09-29T10:23:27", NO_NUMBER),
        ("2018-09-29T10:23:70000", NO_NUMBER),
        ("2018-09-29T2147483648", NO_NUMBER),
        ("2018-09-29T\u0661", NO_NUMBER),
        ("2018-09-29t10:23:27", NO_NUMBER),
        ("2018-09-29 10:23:27", NO_CLOCK),
        ("2018-09-29", NO_CLOCK),
        ("2018-09-29T", NO_CLOCK),
        ("20180929", NO_CLOCK),
        ("", NO_DAY),
        ("2018-09T10:23:27", NO_DAY),
        ("2018-09-32T00:00:00", NO_DAY),
        ("2018-13-01T00:00:00", "Month number is out of range 1..12"),
        ("2018-Sept-01T00:00:00", "Month number is out of range 1..12"),
        ("1399-01-01T00:00:00", "Year is out of valid range: 1400..9999"),
        ("2018-02-29T00:00:00", "Day of month is not valid for year"),
        ("20180229T000000", "Day of month is not valid for year"),
        ("65536-01-01T00:00:00", NO_NUMBER),
        ("-118-01-01T00:00:00", "Year is out of valid range: 1400..9999"),
    ],
)
def test_no_time(text: str, what: str) -> None:
    with pytest.raises(TimeTextError) as refused:
        parse_time_text(text)
    assert refused.value.what == what
    assert refused.value.code == 13


@given(st.integers(0, 2**32 - 1))
def test_every_time_survives_its_text(seconds: int) -> None:
    assert parse_time_text(time_text(seconds)) == seconds


@given(st.integers(0, 2**31 - 1))
def test_a_time_until_2038_is_printed_as_calendars_do(seconds: int) -> None:
    assert time_text(seconds) == datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@given(st.text("0123456789-:.,T +ZJan", max_size=24) | st.text() | st.from_regex(r"\d{4}-\d\d-\d\dT.*"))
def test_any_text_is_a_time_or_refused(text: str) -> None:
    with suppress(DecodeError):
        assert 0 <= parse_time_text(text) < 2**32
