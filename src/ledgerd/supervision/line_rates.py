"""Limits the lines of a log, each kind by itself: those above its rate are counted, and the count is told later.

A line is of the kind of the place in the code that logs it, or of one that its call names, with a rate of its own:
`log.info(..., extra=limited(RATE))`. Reads no clock; whoever writes the log asks.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

from ledgerd.basics.quotas import Quota

COUNT_SECONDS = 60.0
"""A kind's count of lines that were left out is told after so many seconds."""


class LineRate(NamedTuple):
    """The rate at which lines of a kind are written."""

    kind: str = ""
    """The kind of the lines, in words; empty for those of one place in the code."""
    burst: float = 200
    a_second: float = 1.0


USUAL = LineRate()


def limited(rate: LineRate) -> dict[str, object]:
    return {"rate": rate}


class _Kind:
    """The quota of one kind, and what it was not enough for."""

    __slots__ = ("left_out", "quota", "since")

    def __init__(self, rate: LineRate, now: float) -> None:
        self.quota = Quota(rate.burst, rate.a_second, now)
        self.left_out = 0
        self.since = now


class LineRates:
    """The kinds that were written. There are as many as places in the code, and names of kinds."""

    def __init__(self) -> None:
        self._kinds: dict[Hashable, _Kind] = {}
        self._unreported: dict[Hashable, _Kind] = {}

    def admits(self, kind: Hashable, rate: LineRate, now: float) -> bool:
        """Whether a line may be written now; if not, it is counted."""
        found = self._kinds.get(kind)
        if found is None:
            found = self._kinds[kind] = _Kind(rate, now)
        if found.quota.spend_one(now):
            return True
        if not found.left_out:
            found.since = now
            self._unreported[kind] = found
        found.left_out += 1
        return False

    def due(self, now: float) -> Iterator[tuple[Hashable, int]]:
        """The counts that are to be told now; each is given once."""
        late = [kind for kind, found in self._unreported.items() if abs(now - found.since) >= COUNT_SECONDS]
        for kind in late:
            found = self._unreported.pop(kind)
            count, found.left_out = found.left_out, 0
            yield kind, count
