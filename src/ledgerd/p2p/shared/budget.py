"""Rate limits of peers and clients: token buckets and windows (spec 04, section 27)."""

from __future__ import annotations

ACTIVE_SECONDS = 10
"""A name that has taken nothing for so long has no part."""
MOST_ACTIVE = 4096
PART_SECONDS = 5
"""The part of a name grows to this many seconds of its rate."""


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


class SharedBudget:
    """A token bucket for many names. When it is empty, each name still has an equal part of its rate."""

    def __init__(self, burst: float, rate: float, free: float, now: float) -> None:
        self._all = TokenBucket(burst, rate, now)
        self._rate = rate
        self._free = free
        """What a new name may take at once when the bucket is empty."""
        self._parts: dict[str, tuple[float, float]] = {}
        """What is left of the part of each name, and since when; the most recently active is last."""

    def __len__(self) -> int:
        return len(self._parts)

    def take(self, name: str, cost: float, now: float) -> bool:
        """Take an amount from the bucket, or from the part of the name when the bucket is empty."""
        left, since = self._parts.pop(name, (self._free, now))
        self._forget(now)
        part = self._rate / (len(self._parts) + 1)
        most = max(self._free, part * PART_SECONDS)
        left = min(most, left + max(0.0, now - since) * part)
        is_there = self._all.take(cost, now)
        if not is_there and left >= min(cost, most):
            is_there, left = True, left - cost
        self._parts[name] = left, now
        return is_there

    def _forget(self, now: float) -> None:
        while self._parts:
            name, (_, since) = next(iter(self._parts.items()))
            if now - since <= ACTIVE_SECONDS and len(self._parts) < MOST_ACTIVE:
                return
            del self._parts[name]


class Window:
    """A number of requests in a window of time that begins with the first (spec 04, section 16)."""

    __slots__ = ("_began", "_count", "_length", "_limit")

    def __init__(self, limit: int, length: int) -> None:
        self._limit = limit
        self._length = length
        self._began: float | None = None
        self._count = 0

    def wait(self, now: float) -> int:
        if self._began is None or now - self._began >= self._length or self._count < self._limit:
            return 0
        return self._length - int(now - self._began)

    def count(self, now: float) -> None:
        if self._began is None or now - self._began >= self._length:
            self._began, self._count = now, 0
        self._count += 1

    def close(self, now: float) -> None:
        self._began, self._count = now, self._limit
