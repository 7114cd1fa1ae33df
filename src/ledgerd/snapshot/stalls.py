"""Whether the chain has stalled here while others may have gone on: then a newer snapshot is looked for.

Spec 06, section 15.1. It only decides; the time and the events are handed in. The reference also restarts the wait
when, in an emergency, a block of the network arrived lately; such a block is an applied one here.
"""

from __future__ import annotations

from enum import Enum, auto

CHECK_SECONDS = 30
ANNOUNCED_SECONDS = 60
"""The time for peers to answer our new hello."""


class StallVerdict(Enum):
    """What to do."""

    WAIT = auto()
    ANNOUNCE = auto()
    """Tell the peers again where we stand."""
    FETCH = auto()
    """Look for a newer snapshot."""


class StallWatch:
    """Remembers the time of the last progress."""

    def __init__(self, timeout: float, now: float) -> None:
        self._timeout = timeout
        self._moved = now
        self._announced: float | None = None

    def restart(self, now: float) -> None:
        """Restart the wait: a block was applied, or no snapshot was found."""
        self._moved = now
        self._announced = None

    def check(self, now: float, *, is_master: bool = False) -> StallVerdict:
        """To be asked every half minute. Who makes the blocks of an emergency has nobody to wait for."""
        if now - self._moved <= self._timeout:
            return StallVerdict.WAIT
        if is_master:
            self.restart(now)
            return StallVerdict.WAIT
        if self._announced is None:
            self._announced = now
            return StallVerdict.ANNOUNCE
        return StallVerdict.WAIT if now - self._announced < ANNOUNCED_SECONDS else StallVerdict.FETCH
