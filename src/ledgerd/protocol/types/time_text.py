"""Points in time as text, `2018-09-29T10:23:27`: printed and parsed as the reference does (spec 01, 3.4).

Time is a 32-bit number of seconds since 1970. The parser accepts what the reference's date library accepts:
fields that overflow into the next, names of months, and a compact form without delimiters.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from ledgerd.basics.durations import DAY
from ledgerd.codec.errors import FOREIGN
from ledgerd.codec.json.errors import JsonError
from ledgerd.codec.json.text import text_bytes

EPOCH = date(1970, 1, 1).toordinal()
MICROSECONDS = 1_000_000
FRACTION_DIGITS = 6
MAX_DIGITS = 19
FIRST_YEAR, LAST_YEAR = 1400, 9999
NO_MONTH = 13
USUAL_LENGTH = len("2018-09-29T10:23:27")

_TWO_DIGITS = tuple(f"{number:02}" for number in range(60))
_CLOCK = tuple(f"{hour}:{minute}:" for hour in _TWO_DIGITS[:24] for minute in _TWO_DIGITS)
_MINUTES = {text: number for number, text in enumerate(_CLOCK)}
_SECONDS = {text: number for number, text in enumerate(_TWO_DIGITS)}
_DATE_LENGTH = len("2018-09-29T")
_MINUTES_LENGTH = len("2018-09-29T10:23:")

_POWERS: tuple[int, ...] = tuple(10**power for power in range(FRACTION_DIGITS))
_DECIMAL = re.compile(r"([+-]?)([0-9]+)")
_USUAL_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}T")
_DATE_FIELD = re.compile(r"[^-,. /]+")
_TIME_FIELD = re.compile(r"[^-:,.]+")
_LOWER = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_MONTH_NAMES = "january february march april may june july august september october november december"
_MONTHS = {name: number for number, month in enumerate(_MONTH_NAMES.split(), start=1) for name in (month, month[:3])}


class TimeTextError(JsonError):
    """A text that is no time. A library of the reference refused it: `name` and `what` are its own."""

    def __init__(self, what: str, name: str) -> None:
        layout = "${what}: unable to convert ISO-formatted std::string to fc::time_point_sec"
        super().__init__(FOREIGN, layout, {"what": what})
        self.what = what
        self.name = name


@lru_cache(maxsize=4096)
def _day_text(day: int) -> str:
    return f"{date.fromordinal(EPOCH + day).isoformat()}T"


def time_text(seconds: int) -> str:
    """Print a time. The number is seen as a signed one, so the largest of all is the last second of 1969."""
    if seconds >= 1 << 31:
        seconds -= 1 << 32
    day, second = divmod(seconds, DAY)
    return _day_text(day) + _CLOCK[second // 60] + _TWO_DIGITS[second % 60]


def parse_time_text(text: str) -> int:
    return _parse_usual(text) if len(text) == USUAL_LENGTH else _parse(text)


@lru_cache(maxsize=4096)
def _parse_usual(text: str) -> int:
    """Remembered, and looked up in parts: a snapshot may have millions of times, and the same few in most fields."""
    minute = _MINUTES.get(text[_DATE_LENGTH:_MINUTES_LENGTH])
    second = _SECONDS.get(text[_MINUTES_LENGTH:])
    day = _usual_day(text[:_DATE_LENGTH])
    if day is None or minute is None or second is None:
        return _parse(text)
    return (day * DAY + minute * 60 + second) % (1 << 32)


@lru_cache(maxsize=4096)
def _usual_day(text: str) -> int | None:
    return _delimited_date(text[:-1]) if _USUAL_DATE.fullmatch(text) else None


def _parse(text: str) -> int:
    raw = text_bytes(text)
    # Bytes one to one: no letter of another script is a digit, and positions are those of the reference.
    letters = raw.decode("latin-1")
    calendar_part, _, clock_part = letters.partition("T")
    delimited = letters[4:5] == "-"
    day = _delimited_date(calendar_part) if delimited else _compact_date(calendar_part)
    if not clock_part:
        raise TimeTextError("basic_string::at: __n (which is 0) >= this->size() (which is 0)", "St12out_of_range")
    ticks = _delimited_clock(clock_part) if delimited else _compact_clock(clock_part)
    ticks += day * DAY * MICROSECONDS
    seconds = abs(ticks) // MICROSECONDS
    return (seconds if ticks >= 0 else -seconds) % (1 << 32)


def _integer(field: str, bits: int) -> int:
    negative, magnitude = _decimal(field)
    if magnitude >= (1 << (bits - 1)) + negative:
        raise _no_number()
    return -magnitude if negative else magnitude


def _natural(field: str) -> int:
    """An unsigned decimal field of 16 bits, which may have a minus all the same, and then wraps."""
    negative, magnitude = _decimal(field)
    if magnitude >= 1 << 16:
        raise _no_number()
    return -magnitude % (1 << 16) if negative else magnitude


def _decimal(field: str) -> tuple[bool, int]:
    match = _DECIMAL.fullmatch(field)
    digits = match[2].lstrip("0") if match else ""
    if match is None or len(digits) > MAX_DIGITS:
        raise _no_number()
    return match[1] == "-", int(digits or "0")


def _no_number() -> TimeTextError:
    return TimeTextError(
        "bad lexical cast: source type value could not be interpreted as target",
        "N5boost10wrapexceptINS_16bad_lexical_castEEE",
    )


def _delimited_date(text: str) -> int:
    """Year, month and day between any of five delimiters; what follows them is ignored."""
    fields = _DATE_FIELD.findall(text)[:3]
    fields += ["0"] * (3 - len(fields))
    year = _natural(fields[0])
    month = _month(fields[1])
    return _day_number(year, month, _natural(fields[2]))


def _month(field: str) -> int:
    if field[0] in "0123456789":
        return _natural(field)
    return _MONTHS.get(field.translate(_LOWER), NO_MONTH)


def _compact_date(text: str) -> int:
    """Four digits, two and two; what follows is ignored, and so is a field that lacks more than one digit."""
    fields = []
    for start, width in ((0, 4), (4, 2), (6, 2)):
        field = text[start : start + width]
        if not field or len(field) < width - 1:
            break
        fields.append(_natural(field))
    year, month, day = fields + [0] * (3 - len(fields))
    return _day_number(year, month, day)


def _day_number(year: int, month: int, day: int) -> int:
    """Days since 1970. The checks are in the reference's order, which the texts of refusals show."""
    if not 1 <= day <= 31:
        raise _no_date("Day of month value is out of range 1..31", "16bad_day_of_month")
    if not 1 <= month <= 12:
        raise _no_date("Month number is out of range 1..12", "9bad_month")
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise _no_date("Year is out of valid range: 1400..9999", "8bad_year")
    try:
        return date(year, month, day).toordinal() - EPOCH
    except ValueError:
        raise _no_date("Day of month is not valid for year", "16bad_day_of_month") from None


def _no_date(what: str, kind: str) -> TimeTextError:
    return TimeTextError(what, f"N5boost10wrapexceptINS_9gregorian{kind}EEE")


def _delimited_clock(text: str) -> int:
    """Microseconds of `H:M:S.F`. A minus in front negates the whole; any other is a delimiter."""
    fields = _TIME_FIELD.findall(text)[:4]
    hours = _integer(fields[0], 32) if fields else 0
    minutes, seconds = ([_natural(field) for field in fields[1:3]] + [0, 0])[:2]
    fraction = _fraction(fields[3]) if len(fields) > 3 else 0
    ticks = _ticks(hours, minutes, seconds, fraction)
    return -ticks if text[0] == "-" else ticks


def _compact_clock(text: str) -> int:
    negative = text[0] == "-"
    digits = text[negative:]
    hours = _integer(digits[:2], 32) if digits else 0
    minutes = _integer(digits[2:4], 16) if len(digits) > 2 else 0
    seconds = _integer(digits[4:6], 16) if len(digits) > 4 else 0
    fraction = _fraction(digits[7 : 7 + FRACTION_DIGITS]) if len(digits) > 7 else 0
    ticks = _ticks(hours, minutes, seconds, fraction)
    return -ticks if negative else ticks


def _fraction(field: str) -> int:
    field = field[:FRACTION_DIGITS]
    return _integer(field, 64) * _POWERS[FRACTION_DIGITS - len(field)]


def _ticks(hours: int, minutes: int, seconds: int, fraction: int) -> int:
    """Microseconds of four fields; one negative field makes all of them negative."""
    ticks = (abs(hours) * 3600 + abs(minutes) * 60 + abs(seconds)) * MICROSECONDS + abs(fraction)
    return -ticks if min(hours, minutes, seconds, fraction) < 0 else ticks
