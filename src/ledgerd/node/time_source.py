"""The clocks that a node hands to its parts; in a development chain they can be moved forward."""

from __future__ import annotations

import asyncio
import time

from ledgerd.protocol.networks.parameters import NetworkClock

MICRO = 1_000_000


class TimeSource:
    """Wall clock and monotonic clock in microseconds, both at the rate of the network's clock."""

    def __init__(self, clock: NetworkClock | None = None) -> None:
        self._clock = clock or NetworkClock()
        self.shift = 0
        """Microseconds that a developer has moved the clock forward by."""

    def wall(self) -> int:
        """Microseconds since 1970."""
        return self._clock.at(time.time_ns() // 1_000) + self.shift

    def wall_seconds(self) -> float:
        """Seconds since 1970."""
        return self.wall() / MICRO

    def monotonic(self) -> int:
        """Microseconds since an arbitrary moment before the start."""
        steady = time.monotonic_ns() // 1_000
        return steady if self._clock.rate == 1.0 else int(steady * self._clock.rate)

    @staticmethod
    def machine_second() -> int:
        """Seconds since 1970 by the clock of the machine, whatever the network's clock says: for files and disks."""
        return time.time_ns() // 1_000_000_000

    def seconds(self) -> float:
        """The monotonic clock of the machine, in seconds: for durations on this machine."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self._clock.rate)
