"""When the first object of an index is due: kept as a number, so that each block need not ask the index."""

from __future__ import annotations

from collections.abc import Callable, Sequence

NEVER = 1 << 64
"""Later than any time."""


class DueTime:
    """Nothing is due before `at`. That is 0, a time that is always reached, from when any object may have got another
    key, until somebody who has looked what is due calls `settle`.
    """

    __slots__ = ("_known_time", "at")

    def __init__(self, known_time: Callable[[], int]) -> None:
        self.at = 0
        self._known_time = known_time

    def settle(self, delay: int = 0) -> None:
        """Take the time of the first object, where that is known; it is due so many seconds later."""
        time = self._known_time()
        self.at = time + delay if time else 0


def marker(pending: list[int], due_times: Sequence[DueTime]) -> Callable[[int], None]:
    """A way to note that the entry of an object may be out of date, and that so is what is known of these times."""

    def mark(object_id: int) -> None:
        pending.append(object_id)
        for due in due_times:
            due.at = 0

    return mark
