"""When what has ended is started again, when that is given up, and how much of it the log says. Reads no clock.

Time is handed in, in seconds of any clock that only goes forward.
"""

from __future__ import annotations

from collections import deque

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
STEADY_SECONDS = 60.0
"""What has worked for so long begins with the first pause again when it ends."""

MOST_FAILURES = 10
FAILURE_SECONDS = 600.0
"""So many failed starts within so many seconds are too many."""

MOST_LINES = 10
LINE_SECONDS = 60.0
"""So many lines within so many seconds; what comes above is counted."""


class Restarts:
    """The starts and ends of one task or process.

    A start has failed when the end comes before the thing has worked: for a server, before it has served.
    """

    def __init__(self) -> None:
        self._pause = 0.0
        self._working_since: float | None = None
        self._failures: deque[float] = deque(maxlen=MOST_FAILURES)

    @property
    def is_working(self) -> bool:
        """Whether it has worked since it was started last."""
        return self._working_since is not None

    def working(self, now: float) -> None:
        """It does what it was started for; told more than once, the first time counts."""
        if self._working_since is None:
            self._working_since = now

    def ended(self, now: float) -> float | None:
        """It has ended, or could not be started. The seconds to wait before the next start; nothing for no more."""
        since, self._working_since = self._working_since, None
        if since is None:
            self._failures.append(now)
        elif now - since >= STEADY_SECONDS:
            self._pause = 0.0
        if len(self._failures) == MOST_FAILURES and now - self._failures[0] <= FAILURE_SECONDS:
            return None
        self._pause = min(LONGEST_PAUSE, self._pause * 2) or FIRST_PAUSE
        return self._pause


class LineLimit:
    """How many lines of one kind a log takes."""

    def __init__(self) -> None:
        self._written: deque[float] = deque(maxlen=MOST_LINES)
        self._left_out = 0

    def take(self, now: float) -> bool:
        """Whether a line may be written now; one that may not is counted."""
        if len(self._written) == MOST_LINES and now - self._written[0] < LINE_SECONDS:
            self._left_out += 1
            return False
        self._written.append(now)
        return True

    def wait(self, now: float) -> float:
        """Seconds until there is room for a line."""
        return max(0.0, self._written[0] + LINE_SECONDS - now) if len(self._written) == MOST_LINES else 0.0

    def take_count(self, now: float) -> int:
        """How many lines were left out, once there is room for the line that says so; 0 for no such line."""
        if not self._left_out or self.wait(now) > 0:
            return 0
        self._written.append(now)
        count, self._left_out = self._left_out, 0
        return count
