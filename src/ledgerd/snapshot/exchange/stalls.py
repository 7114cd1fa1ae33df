"""Detects that the chain has stalled on this node (spec 06, section 15.1); then a newer snapshot is downloaded. The
reference also restarts the wait when, in an emergency, a block arrived lately; here when one was applied.
"""

from __future__ import annotations

from enum import Enum, auto

CHECK_SECONDS = 30
ANNOUNCED_SECONDS = 60
"""The time for peers to answer our new hello."""


class StallVerdict(Enum):
    """The next action for a sync that may have stalled."""

    WAIT = auto()
    ANNOUNCE = auto()
    FETCH = auto()


class StallWatch:
    """Remembers the time of the last progress."""

    def __init__(self, timeout: float, now: float) -> None:
        self._timeout = timeout
        self._moved = now
        self._announced: float | None = None

    def restart(self, now: float) -> None:
        self._moved = now
        self._announced = None

    def check(self, now: float, *, is_master: bool = False) -> StallVerdict:
        """Call this every half minute. A node that produces the blocks of an emergency does not wait for others."""
        if now - self._moved <= self._timeout:
            return StallVerdict.WAIT
        if is_master:
            self.restart(now)
            return StallVerdict.WAIT
        if self._announced is None:
            self._announced = now
            return StallVerdict.ANNOUNCE
        return StallVerdict.WAIT if now - self._announced < ANNOUNCED_SECONDS else StallVerdict.FETCH
