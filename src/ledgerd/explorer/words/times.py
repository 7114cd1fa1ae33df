"""Times of the ledger for people: how long ago, and when exactly. The present is passed in."""

from __future__ import annotations

import calendar
import time
from functools import lru_cache

from markupsafe import Markup, escape

from ledgerd.basics.durations import DAY, HOUR, MINUTE
from ledgerd.explorer.words.language import Language

LATEST = 0xFFFF_FFFF
"""The latest time of the protocol, which means never."""
YEAR = 365 * DAY
STEPS = ((YEAR, "years"), (DAY, "days"), (HOUR, "hours"), (MINUTE, "minutes"), (1, "seconds"))
NEVER = "1969-12-31T23:59:59"
FORM = "%Y-%m-%dT%H:%M:%S"


@lru_cache(maxsize=8192)
def seconds_of(text: str) -> int:
    if text == NEVER:
        return LATEST
    try:
        return max(0, calendar.timegm(time.strptime(text, FORM)))
    except (ValueError, OverflowError):
        return 0


@lru_cache(maxsize=8192)
def text_of(seconds: int) -> str:
    return time.strftime(FORM, time.gmtime(seconds))


def lasting(language: Language, seconds: int) -> str:
    """A span of time by its largest unit, such as `3 days`."""
    for size, name in STEPS:
        if seconds >= size:
            return language.counted(f"span.{name}", seconds // size)
    return language.counted("span.seconds", 0)


def ago(language: Language, seconds: int, now: float) -> str:
    past = int(now) - seconds
    if -1 <= past <= 0:
        return language.text("ago.now")
    if past > 0:
        return language.text("ago.past", span=lasting(language, past))
    return language.text("ago.ahead", span=lasting(language, -past))


@lru_cache(maxsize=8192)
def absolute(language: Language, seconds: int) -> str:
    at = time.gmtime(seconds)
    month = str(language.texts["months"][at.tm_mon - 1])
    return f"{at.tm_mday} {month} {at.tm_year}, {at.tm_hour:02}:{at.tm_min:02}:{at.tm_sec:02} UTC"


def when(language: Language, text: str, now: float, *, is_full: bool = False) -> Markup:
    seconds = seconds_of(text)
    if seconds <= 1:
        return Markup('<span class="none">—</span>')
    if seconds >= LATEST:
        return escape(language.text("ago.never"))
    exact, stamp = escape(absolute(language, seconds)), text_of(seconds)
    relative = escape(ago(language, seconds, now))
    if is_full:
        beside = f'<span class="soft">(<span data-ago="{seconds}">{relative}</span>)</span>'
        return Markup(f'<time datetime="{stamp}Z">{exact} {beside}</time>')  # noqa: S704 - escaped, or numbers
    return Markup(  # noqa: S704 - the same
        f'<time datetime="{stamp}Z" title="{exact}" data-ago="{seconds}">{relative}</time>'
    )
