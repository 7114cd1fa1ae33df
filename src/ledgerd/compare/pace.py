"""At most so many requests a second to a node."""

from __future__ import annotations

import time
from collections.abc import Callable


class Pace:
    """Spreads requests evenly over time."""

    def __init__(
        self,
        each_second: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._interval = 1.0 / each_second
        self._clock = clock
        self._sleep = sleep
        self._next = 0.0

    def wait(self) -> None:
        now = self._clock()
        if now < self._next:
            self._sleep(self._next - now)
        self._next = max(now, self._next) + self._interval
