"""The producer's clock: it follows the wall clock, and never jumps over a slot when that one is set.

It reads no clock itself: both clocks and the offset of the time servers are handed in, in microseconds.
"""

from __future__ import annotations

from collections.abc import Callable

Microseconds = Callable[[], int]

SECOND = 1_000_000
TICK = 250_000
SHORTEST_WAIT = 50_000

LONGEST_WALK = 3 * SECOND
"""A wall clock that differs by this much (the machine slept, or was set by hand) is followed at once."""

WALK_DIVISOR = 5
"""Smaller differences are slewed: the time runs faster or slower by a fifth until it agrees."""


class SteadyClock:
    """Follows `wall + offset`; small steps of it are slewed, so that every slot is met once."""

    def __init__(self, monotonic: Microseconds, wall: Microseconds, offset: Microseconds = lambda: 0) -> None:
        self._monotonic = monotonic
        self._wall = wall
        self._offset = offset
        self._seen = monotonic()
        self._now = wall() + offset()

    def __call__(self) -> int:
        """Microseconds since 1970."""
        seen, aim = self._monotonic(), self._wall() + self._offset()
        passed = max(0, seen - self._seen)
        self._seen = seen
        self._now += passed
        away = aim - self._now
        if abs(away) > LONGEST_WALK:
            self._now = aim
        else:
            reach = passed // WALK_DIVISOR
            self._now += max(-reach, min(reach, away))
        return self._now


def wait_before_tick(now: int) -> int:
    """Microseconds until the next tick: four a second, aligned to the second (spec 06, section 10.3)."""
    wait = TICK - now % TICK
    return wait + TICK if wait < SHORTEST_WAIT else wait
