"""The producer's clock: it follows the wall clock, never jumps over a slot when that one is set, and is in doubt
after a step forward. It reads no clock itself: times are passed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Microseconds = Callable[[], int]

SECOND = 1_000_000
TICK = 250_000
SHORTEST_WAIT = 50_000

LONGEST_WALK = 3 * SECOND
"""A wall clock that differs by this much (the machine slept, or was set by hand) is followed at once."""

WALK_DIVISOR = 5
"""Smaller differences are slewed: the time runs faster or slower by a fifth until it agrees."""

STEP = 60
"""Seconds between two ticks that only a clock that was set, or a machine that slept, can explain."""
NEAR = 60
"""Seconds: a head block of about now confirms the clock."""
STILL = 120
"""Seconds without any block after which the network is taken to stand still, and nothing can confirm the clock."""


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


@dataclass
class StepGuard:
    """Lets no block be signed by a clock that was set forward, until the chain confirms the time. Everybody refuses a
    block for a slot hours ahead, and then no earlier slot may be signed again: one wrong answer about the time would
    silence a validator for hours. Times are seconds since 1970.
    """

    last: int | None = None
    """The last tick."""
    moved: int | None = None
    """While the clock is in doubt: when the head moved last, or the step itself."""
    head: int = 0

    def is_in_doubt(self, second: int, head_time: int) -> bool:
        last, self.last = self.last, second
        if last is not None and second - last > STEP:
            self.moved = second
        if self.moved is None:
            self.head = head_time
            return False
        if head_time != self.head:
            self.head, self.moved = head_time, second
        if abs(second - head_time) <= NEAR or second - self.moved >= STILL:
            self.moved = None
        return self.moved is not None
