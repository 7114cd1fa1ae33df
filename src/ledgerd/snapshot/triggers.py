"""When a snapshot is due (spec 06, section 13); one that is due shortly before our own slot waits until after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

NextOwnSlot = Callable[[], int | None]
"""The time of our next slot, in seconds since 1970, if it is near."""

BEHIND_SECONDS = 60
"""If the head is older than this, the node is catching up, and no snapshot is written. The reference waits a minute
after its start instead.
"""


class _Deferred(NamedTuple):
    number: int
    safe_after: int


class Triggers:
    """The requested and delayed snapshots."""

    def __init__(self, at_block: int = 0, every: int = 0) -> None:
        self._at_block = at_block
        self._every = every
        self._deferred: _Deferred | None = None
        self.wants_fresh = False
        """Whether one is due as soon as the node has caught up."""

    def applied(self, number: int, time: int, now: int, own_slot: NextOwnSlot) -> int | None:
        """Returns the number for a snapshot's name, if one is to be written now."""
        due = self._due(number, is_behind=now - time > BEHIND_SECONDS)
        if due:
            slot = own_slot()
            if slot is None:
                self._deferred = None
                return number
            self._deferred = _Deferred(number, slot)
        elif self._deferred is not None and time > self._deferred.safe_after:
            deferred, self._deferred = self._deferred, None
            return deferred.number
        return None

    def _due(self, number: int, *, is_behind: bool) -> bool:
        if self._at_block and number == self._at_block:
            return True
        if is_behind or self._deferred is not None:
            return False
        if self.wants_fresh:
            self.wants_fresh = False
            return True
        return self._every > 0 and number % self._every == 0
