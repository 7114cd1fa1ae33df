"""A clock that was set forward: no block is signed by it until the chain confirms the time. Pure; times are handed in.

A block that is signed for a slot hours ahead is refused by everybody, and then no earlier slot may be signed again: one
wrong answer about the time would silence a validator for hours.
"""

from __future__ import annotations

from dataclasses import dataclass

STEP = 60
"""Seconds between two ticks that only a clock that was set, or a machine that slept, can explain."""
NEAR = 60
"""Seconds: a head block of about now confirms the clock."""
STILL = 120
"""Seconds without any block after which the network is taken to stand still, and nothing can confirm the clock."""


@dataclass
class StepGuard:
    """What is kept of the clock from one tick to the next, in seconds since 1970."""

    last: int | None = None
    """The last tick."""
    moved: int | None = None
    """While the clock is in doubt: when the head moved last, or the step itself."""
    head: int = 0

    def is_in_doubt(self, second: int, head_time: int) -> bool:
        """Note a tick; whether the clock has stepped forward and nothing has confirmed it since."""
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
