"""Restart policy: pauses between restarts, when to give up, and how many log lines are written. Reads no clock."""

from __future__ import annotations

from collections import deque

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
STEADY_SECONDS = 60.0
"""After working for so long, the next restart has the first pause again."""

MOST_FAILURES = 10
FAILURE_SECONDS = 600.0
"""No more restarts after `MOST_FAILURES` failed starts within so many seconds."""

MOST_LINES = 10
LINE_SECONDS = 60.0
"""About `MOST_LINES` log lines of a part within so many seconds; further ones are only counted."""


class Restarts:
    """The starts and ends of one task or process; a start has failed if the end comes before it worked."""

    def __init__(self) -> None:
        self._pause = 0.0
        self._working_since: float | None = None
        self._failures: deque[float] = deque(maxlen=MOST_FAILURES)

    @property
    def is_working(self) -> bool:
        return self._working_since is not None

    def working(self, now: float) -> None:
        """Record that it works; only the first call after a start counts."""
        if self._working_since is None:
            self._working_since = now

    def ended(self, now: float) -> float | None:
        """Record an end or a failed start; returns the seconds until the next start, or None for no further one."""
        since, self._working_since = self._working_since, None
        if since is None:
            self._failures.append(now)
        elif now - since >= STEADY_SECONDS:
            self._pause = 0.0
        if len(self._failures) == MOST_FAILURES and now - self._failures[0] <= FAILURE_SECONDS:
            return None
        self._pause = min(LONGEST_PAUSE, self._pause * 2) or FIRST_PAUSE
        return self._pause
