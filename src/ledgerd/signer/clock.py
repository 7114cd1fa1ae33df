"""The signer's clock, and whether it can be believed: by time servers, and by a clock that nobody sets."""

from __future__ import annotations

from collections.abc import Callable

from ledgerd.signer.rule import ROUND_SECONDS, SECOND, ClockReading

Microseconds = Callable[[], int]

MOST_APART = 60 * SECOND
"""How far time servers may be from the clock of the machine. It is less than a round: when they lie together, no slot
looks as if it came after the wait that was signed before the record was lost.
"""

MOST_STEP = SECOND
"""A clock that goes this much ahead of or behind the one that nobody sets was set."""


class CheckedClock:
    """The wall clock, with the offset that the time servers give.

    Where it is set while the signer runs, nothing is signed for a round: whatever was right, the clock then stands
    still, and the operator had time to see to it.
    """

    def __init__(
        self, monotonic: Microseconds, wall: Microseconds, offset: Callable[[], int | None] = lambda: 0
    ) -> None:
        self._monotonic = monotonic
        self._wall = wall
        self._offset = offset
        """Microseconds to add; nothing while servers are asked and none has answered."""
        self._base = wall() - monotonic()
        self._known_offset: int | None = None
        self._settings = 0
        self._doubted_until = 0
        """By the clock that nobody sets."""

    def __call__(self) -> ClockReading:
        offset, monotonic, wall = self._offset(), self._monotonic(), self._wall()
        if self._was_set(wall - monotonic, offset):
            self._base = wall - monotonic
            self._settings += 1
            self._doubted_until = monotonic + ROUND_SECONDS * SECOND
        if offset is None:
            doubt = "no time server has answered yet, so that the signer's clock is not known"
            return ClockReading(wall, doubt, self._settings)
        if abs(offset) > MOST_APART:
            apart = abs(offset) // SECOND
            doubt = f"the time servers and the clock of this machine are {apart} s apart: one of them is wrong"
            return ClockReading(wall + offset, doubt, self._settings)
        doubt = ""
        if monotonic < self._doubted_until:
            left = (self._doubted_until - monotonic) // SECOND + 1
            doubt = f"the signer's clock was set: nothing is signed for {left} s"
        return ClockReading(wall + offset, doubt, self._settings)

    def _was_set(self, base: int, offset: int | None) -> bool:
        """By a person, or by time servers that give another time at once; what they follow slowly is drift."""
        moved = 0 if offset is None or self._known_offset is None else offset - self._known_offset
        if offset is not None:
            self._known_offset = offset
        return abs(base - self._base) > MOST_STEP or abs(moved) > MOST_STEP
