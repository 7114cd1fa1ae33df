"""Limits the lines of a log, each kind by itself: those above its rate are counted, and the count is told later.

A line is of the kind of the place in the code that logs it, or of one that its call names, with a rate of its own:
`log.info(..., extra=limited(RATE))`. Reads no clock; whoever writes the log asks.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

COUNT_SECONDS = 60.0
"""A kind's count of lines that were left out is told after so many seconds."""


class LineRate(NamedTuple):
    """How many lines of a kind are written."""

    kind: str = ""
    """What the lines are, in words; empty for those of one place in the code."""
    burst: float = 200
    a_second: float = 1.0


USUAL = LineRate()


def limited(rate: LineRate) -> dict[str, object]:
    return {"rate": rate}


class _Bucket:
    """What is left of the burst of one kind, and what it was not enough for."""

    __slots__ = ("at", "left", "left_out", "since")

    def __init__(self, left: float, now: float) -> None:
        self.left, self.at = left, now
        self.left_out = 0
        self.since = now


class LineRates:
    """The kinds that were written. There are as many as places in the code, and names of kinds."""

    def __init__(self) -> None:
        self._buckets: dict[Hashable, _Bucket] = {}
        self._owing: dict[Hashable, _Bucket] = {}

    def admits(self, kind: Hashable, rate: LineRate, now: float) -> bool:
        bucket = self._buckets.get(kind)
        if bucket is None:
            bucket = self._buckets[kind] = _Bucket(rate.burst, now)
        bucket.left = min(rate.burst, bucket.left + max(0.0, now - bucket.at) * rate.a_second)
        bucket.at = now
        if bucket.left >= 1:
            bucket.left -= 1
            return True
        if not bucket.left_out:
            bucket.since = now
            self._owing[kind] = bucket
        bucket.left_out += 1
        return False

    def due(self, now: float) -> Iterator[tuple[Hashable, int]]:
        late = [kind for kind, bucket in self._owing.items() if abs(now - bucket.since) >= COUNT_SECONDS]
        for kind in late:
            bucket = self._owing.pop(kind)
            count, bucket.left_out = bucket.left_out, 0
            yield kind, count
