"""The rate limit on the requests of each address."""

from __future__ import annotations


class Addresses:
    """Counts of one worker. Times are handed in, in seconds that only grow."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._buckets: dict[str, tuple[float, float]] = {}

    def allows(self, address: str, now: float) -> bool:
        """Whether a request may be answered: a token bucket whose burst is one second's requests."""
        if not self._rate:
            return True
        burst = max(1.0, self._rate)
        tokens, then = self._buckets.get(address, (burst, now))
        tokens = min(burst, tokens + (now - then) * self._rate)
        allowed = tokens >= 1.0
        self._buckets[address] = (tokens - 1.0 if allowed else tokens, now)
        return allowed

    def charge(self, address: str, requests: int, now: float) -> None:
        """Count more requests, those of a batch: where there are too many, the address has to wait for longer."""
        if self._rate:
            tokens, then = self._buckets.get(address, (max(1.0, self._rate), now))
            self._buckets[address] = (tokens - requests, then)

    def wait_for(self, address: str, now: float) -> float:
        """Seconds until the next request may be answered."""
        if not self._rate or address not in self._buckets:
            return 0.0
        tokens, then = self._buckets[address]
        return max(0.0, (1.0 - tokens) / self._rate - (now - then))

    def forget(self, now: float) -> None:
        """Drop the addresses whose bucket is full again."""
        burst = max(1.0, self._rate)
        full = [each for each, (tokens, then) in self._buckets.items() if tokens + (now - then) * self._rate >= burst]
        for address in full:
            del self._buckets[address]
