"""The clocks of a node, as it hands them to its parts; those of a chain to develop on can be moved."""

from __future__ import annotations

import asyncio
import time

from ledgerd.protocol.network_clock import NetworkClock

MICRO = 1_000_000


class TimeSource:
    """Wall clock and steady clock, in microseconds, both at the pace of the network."""

    def __init__(self, clock: NetworkClock | None = None) -> None:
        self._clock = clock or NetworkClock()
        self.shift = 0
        """What a developer has put the clock forward by."""

    def wall(self) -> int:
        """Since 1970."""
        return self._clock.at(time.time_ns() // 1_000) + self.shift

    def monotonic(self) -> int:
        """Since some moment before the start."""
        steady = time.monotonic_ns() // 1_000
        return steady if self._clock.rate == 1.0 else int(steady * self._clock.rate)

    def seconds(self) -> float:
        """The steady clock of the machine, in seconds: for what takes time here, and not in the network."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait for so long in the network's time."""
        await asyncio.sleep(seconds / self._clock.rate)
