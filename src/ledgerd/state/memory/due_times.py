"""When the first object of an index is due: kept as a number, so that each block need not ask the index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ledgerd.state.tables.tables import E, Key

NEVER = 1 << 64
"""Later than any time."""


class DueTime:
    """Nothing is due before `at`. That is 0, a time that is always reached, until somebody who has looked what is due
    calls `settle`; from then on an object that gets an earlier time brings it forward.
    """

    __slots__ = ("_delay", "_known_time", "_prefix", "at")

    def __init__(self, prefix: Key, known_time: Callable[[], int]) -> None:
        """Of the keys that begin with the prefix, behind which comes the time."""
        self.at = 0
        self._delay = 0
        self._prefix = prefix
        self._known_time = known_time

    def settle(self, delay: int = 0) -> None:
        """Take the time of the first object, where that is known; it is due so many seconds later."""
        time = self._known_time()
        self.at = time + delay if time else 0
        self._delay = delay

    def bring_forward(self, key: Key) -> None:
        """An object has got this key."""
        if self.at:
            place = len(self._prefix)
            time = key[place] + self._delay
            if time < self.at and key[:place] == self._prefix:
                self.at = time


def marker(
    pending: list[int], objects: Mapping[int, E | None], key_of: Callable[[E], Key], due_times: Sequence[DueTime]
) -> Callable[[int], None]:
    """A way to note that the entry of an object may be out of date, and what that says of these times."""

    def mark(object_id: int) -> None:
        pending.append(object_id)
        entity = objects[object_id]
        if entity is not None:
            key = key_of(entity)
            for due in due_times:
                due.bring_forward(key)

    return mark
