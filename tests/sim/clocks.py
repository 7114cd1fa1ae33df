"""What a node takes for the time: the world's, but for an error that it began with and one that grows."""

from __future__ import annotations

from collections.abc import Callable

from ledgerd.producer.time.clock import SECOND


class NodeClock:
    """The clock of one machine."""

    def __init__(self, true_time: Callable[[], float]) -> None:
        self._true_time = true_time
        self._began = true_time()
        self.error = 0.0
        """Seconds ahead of the world."""
        self.drift = 0.0
        """Seconds more, each second."""

    def __call__(self) -> float:
        now = self._true_time()
        return now + self.error + self.drift * (now - self._began)

    def set_wrong(self, error: float, drift: float) -> None:
        """From now on it is wrong by so much, and goes on to be more wrong."""
        self._began, self.error, self.drift = self._true_time(), error, drift

    def wall(self) -> int:
        """In microseconds, as the producer has it."""
        return round(self() * SECOND)

    def monotonic(self) -> int:
        """A clock that nobody sets; it drifts with the other."""
        now = self._true_time()
        return round((now + self.drift * (now - self._began)) * SECOND)
