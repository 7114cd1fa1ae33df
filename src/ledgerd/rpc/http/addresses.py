"""What each address uses: its open connections, and its requests where they are limited in time."""

from __future__ import annotations

from collections import Counter


class Addresses:
    """Counts of one worker. Times are handed in, in seconds that only grow."""

    def __init__(self, connections: int, rate: float) -> None:
        self._limit = connections
        self._rate = rate
        self._open: Counter[str] = Counter()
        self._buckets: dict[str, tuple[float, float]] = {}

    def enter(self, address: str) -> bool:
        """Count a new connection, unless its address has as many as it may."""
        if self._limit and self._open[address] >= self._limit:
            return False
        self._open[address] += 1
        return True

    def leave(self, address: str) -> None:
        """A connection has ended."""
        self._open[address] -= 1
        if self._open[address] <= 0:
            del self._open[address]

    def allows(self, address: str, now: float) -> bool:
        """Whether a request may be answered: as many at once as in a second, and so many each second."""
        if not self._rate:
            return True
        burst = max(1.0, self._rate)
        tokens, then = self._buckets.get(address, (burst, now))
        tokens = min(burst, tokens + (now - then) * self._rate)
        allowed = tokens >= 1.0
        self._buckets[address] = (tokens - 1.0 if allowed else tokens, now)
        return allowed

    def forget(self, now: float) -> None:
        """Drop the addresses whose time makes up for everything that they have asked."""
        burst = max(1.0, self._rate)
        full = [each for each, (tokens, then) in self._buckets.items() if tokens + (now - then) * self._rate >= burst]
        for address in full:
            del self._buckets[address]
