"""How far long work is, as a line: on a terminal it replaces the one before, elsewhere some are written. No clock."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

STEP_SECONDS = 0.25
"""The pause between two updates on a terminal."""
FIRST_LINE_SECONDS = 5.0
LONGEST_LINE_SECONDS = 60.0
"""The longest pause between two lines of a log: it grows to this as the work goes on."""
MEGABYTES = "MB"
"""A unit that stands after both numbers, and has no plural."""
LINES = 60
"""Lines with short pauses between them; after that, work of hours has one each `LONGEST_LINE_SECONDS`."""
WINDOW_SECONDS = 10.0
"""The rate is that of the latest seconds."""


class ProgressStep(NamedTuple):
    """The progress at a moment."""

    work: str
    text: str
    fields: dict[str, int | float | str]
    is_line: bool
    """Whether it is written where lines stay."""
    is_last: bool


def shown(step: ProgressStep) -> dict[str, object]:
    return {"progress": step}


class ProgressLine:
    """Remembers when the work was where."""

    def __init__(self, work: str, first: int, began: float, unit: str = "block") -> None:
        self._work, self._unit = work, unit
        self._began = self._line_at = began
        self._step_at = began
        self._seen = deque([(began, first)])

    def at(self, done: int, total: int, now: float, note: str = "") -> ProgressStep | None:
        is_last = done >= total
        if now - self._step_at < STEP_SECONDS and not is_last:
            return None
        self._step_at = now
        pause = min(LONGEST_LINE_SECONDS, max(FIRST_LINE_SECONDS, (now - self._began) / LINES))
        is_line = is_last or now - self._line_at >= pause
        if is_line:
            self._line_at = now
        rate = self._rate(done, now)
        fields: dict[str, int | float | str] = {self._unit: done, "of": total, "a_second": round(rate, 1)}
        is_measure = self._unit == MEGABYTES
        units = self._unit if is_measure else f"{self._unit}s"
        counted = f"{done:,} of {total:,} {units}" if is_measure else f"{self._unit} {done:,} of {total:,}"
        text = f"{self._work}: {counted}"
        if rate <= 0 and not is_last:
            return ProgressStep(self._work, f"{text}, waiting for {units}{note}", fields, is_line, is_last)
        percent = 100 * done // total if total else 100
        shown_rate = f"{rate:,.0f}" if rate >= 10 or rate == round(rate) else f"{rate:.1f}"
        text += f" ({percent} %), {shown_rate} {units}/s"
        if rate > 0:
            seconds = max(0, total - done) / rate
            fields["seconds_left"] = round(seconds)
            text += f", {duration(seconds)} left"
        return ProgressStep(self._work, f"{text}{note and f',{note}'}", fields, is_line, is_last)

    def _rate(self, done: int, now: float) -> float:
        seen = self._seen
        seen.append((now, done))
        while len(seen) > 2 and now - seen[1][0] >= WINDOW_SECONDS:
            seen.popleft()
        since, before = seen[0]
        return (done - before) / (now - since) if now > since else 0.0


def many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def duration(seconds: float) -> str:
    whole = round(seconds)
    for size, unit, next_size, next_unit in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // next_size} {next_unit}"
    return f"{whole} s"
