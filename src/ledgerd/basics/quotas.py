"""Quotas: what somebody may cost, how fast that is forgotten, and how much is kept for somebody at a time.

Times are handed in, in seconds; one that goes back counts as no time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

ACTIVE_SECONDS = 10
"""A name that has taken nothing for so long has no part."""
MOST_ACTIVE = 4096
"""Names that have a part of a shared quota; the least recently active ones lose theirs."""
MOST_QUOTAS = 65_536
"""Names with a quota of their own."""
PART_SECONDS = 5
"""The part of a name grows to this many seconds of its rate."""


class Quota:
    """A burst, and a rate per second at which what was spent comes back."""

    __slots__ = ("_at", "_burst", "_left", "_rate")

    def __init__(self, burst: float, rate: float, now: float) -> None:
        self._burst = burst
        self._rate = rate
        self._left = burst
        self._at = now

    def left(self, now: float) -> float:
        """The amount that may be spent; below zero if too much was spent."""
        self._left = min(self._burst, self._left + max(0.0, now - self._at) * self._rate)
        self._at = now
        return self._left

    def spend(self, cost: float, now: float) -> bool:
        """Spend an amount, if anything is left. It may become negative, and then has to fill up first."""
        if self.left(now) <= 0:
            return False
        self._left -= cost
        return True

    def spend_one(self, now: float) -> bool:
        if self.left(now) < 1:
            return False
        self._left -= 1
        return True

    def wait(self, now: float) -> float:
        return max(0.0, (1 - self.left(now)) / self._rate)

    def charge(self, cost: float) -> None:
        """Spend an amount, whatever is left."""
        self._left -= cost

    def is_full(self, now: float) -> bool:
        return self.left(now) >= self._burst


class Recent(Generic[T]):
    """Values by name, made at the first use of a name. Beyond the bound, the least recently used name is dropped."""

    def __init__(self, make: Callable[[float], T], most: int) -> None:
        self._make = make
        self._most = most
        self.kept: dict[str, T] = {}

    def of(self, name: str, now: float = 0.0) -> T:
        found = self.kept.pop(name, None)
        while len(self.kept) >= self._most:
            del self.kept[next(iter(self.kept))]
        self.kept[name] = self._make(now) if found is None else found
        return self.kept[name]


class Quotas(Recent[Quota]):
    """A quota for each name, with a second's rate, but at least one, as its burst. Without a rate there is none."""

    def __init__(self, rate: float) -> None:
        super().__init__(lambda now: Quota(max(1.0, rate), rate, now), MOST_QUOTAS)
        self._rate = rate

    def allows(self, name: str, now: float) -> bool:
        return not self._rate or self.of(name, now).spend_one(now)

    def charge(self, name: str, cost: float, now: float) -> None:
        """Count what one has had besides: where that is too much, it has to wait for longer."""
        if self._rate:
            self.of(name, now).charge(cost)

    def forget(self, now: float) -> None:
        for name in [each for each, quota in self.kept.items() if quota.is_full(now)]:
            del self.kept[name]


class SharedQuota:
    """A quota for many names. When nothing is left, each name still has an equal part of its rate."""

    def __init__(self, burst: float, rate: float, free: float, now: float) -> None:
        self._all = Quota(burst, rate, now)
        self._rate = rate
        self._free = free
        """The amount that a new name may spend at once when nothing is left."""
        self._parts: dict[str, tuple[float, float]] = {}
        """For each name, what is left of its part and since when; the most recently active name is last."""

    def __len__(self) -> int:
        return len(self._parts)

    def spend(self, name: str, cost: float, now: float) -> bool:
        """Spend an amount of what all have, or of the part of the name when nothing of that is left."""
        left, most = self._part_of(name, now)
        is_there = self._all.spend(cost, now)
        if not is_there and left >= min(cost, most):
            is_there, left = True, left - cost
        self._parts[name] = left, now
        return is_there

    def charge(self, name: str, cost: float, now: float) -> None:
        """Spend an amount, whatever is left: of the same."""
        left, _ = self._part_of(name, now)
        if self._all.left(now) > 0:
            self._all.charge(cost)
        else:
            left -= cost
        self._parts[name] = left, now

    def _part_of(self, name: str, now: float) -> tuple[float, float]:
        """What is left of the part of a name, and how large it may grow."""
        left, since = self._parts.pop(name, (self._free, now))
        self._forget(now)
        part = self._rate / (len(self._parts) + 1)
        most = max(self._free, part * PART_SECONDS)
        return min(most, left + max(0.0, now - since) * part), most

    def _forget(self, now: float) -> None:
        while self._parts:
            name, (_, since) = next(iter(self._parts.items()))
            if now - since <= ACTIVE_SECONDS and len(self._parts) < MOST_ACTIVE:
                return
            del self._parts[name]


class HeldAmounts:
    """Amounts that are held now, in bytes or in number: of all names together, and of each name."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._amounts: Counter[str] = Counter()
        self.total = 0

    def change(self, name: str, by: int) -> None:
        if not by:
            return
        self.total += by
        self._amounts[name] += by
        if not self._amounts[name]:
            del self._amounts[name]

    def of(self, name: str) -> int:
        return self._amounts[name]

    def has_room_for(self, more: int) -> bool:
        return not 0 < self._most < self.total + more

    @property
    def is_too_much(self) -> bool:
        return not self.has_room_for(0)

    @property
    def largest(self) -> str:
        """The name that holds most. There must be one."""
        return max(self._amounts, key=self._amounts.__getitem__)
