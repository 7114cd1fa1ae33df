"""Rate limits of peers: token buckets and windows (spec 04, section 27)."""

from __future__ import annotations


class TokenBucket:
    """A token bucket: a burst, and a rate per second."""

    __slots__ = ("_at", "_burst", "_left", "_rate")

    def __init__(self, burst: float, rate: float, now: float) -> None:
        self._burst = burst
        self._rate = rate
        self._left = burst
        self._at = now

    def take(self, cost: float, now: float) -> bool:
        """Take an amount, if the bucket is not empty. It may become negative, and then has to fill up first."""
        self._left = min(self._burst, self._left + max(0.0, now - self._at) * self._rate)
        self._at = now
        if self._left <= 0:
            return False
        self._left -= cost
        return True


class Window:
    """A number of requests in a window of time that begins with the first (spec 04, section 16)."""

    __slots__ = ("_began", "_count", "_length", "_limit")

    def __init__(self, limit: int, length: int) -> None:
        self._limit = limit
        self._length = length
        self._began: float | None = None
        self._count = 0

    def wait(self, now: float) -> int:
        """The whole seconds until the next request is accepted; 0 for at once."""
        if self._began is None or now - self._began >= self._length or self._count < self._limit:
            return 0
        return self._length - int(now - self._began)

    def count(self, now: float) -> None:
        """Count a request."""
        if self._began is None or now - self._began >= self._length:
            self._began, self._count = now, 0
        self._count += 1

    def close(self, now: float) -> None:
        """Accept no request for a whole window."""
        self._began, self._count = now, self._limit
