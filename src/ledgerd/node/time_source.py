"""The clocks of the machine, as the node hands them to its parts; those of a chain to develop on can be moved."""

from __future__ import annotations

import time

MICRO = 1_000_000


class TimeSource:
    """Wall clock and steady clock, in microseconds."""

    def __init__(self) -> None:
        self.shift = 0
        """What a developer has put the clock forward by."""

    def wall(self) -> int:
        """Since 1970."""
        return time.time_ns() // 1_000 + self.shift

    def monotonic(self) -> int:
        """Since some moment before the start."""
        return time.monotonic_ns() // 1_000

    def seconds(self) -> float:
        """The steady clock, in seconds."""
        return time.monotonic()
