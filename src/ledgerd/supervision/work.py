"""The tasks, threads and processes of one part: what ends without being asked is restarted, or ends the program."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Coroutine
from enum import Enum
from typing import Any, TypeVar

from ledgerd.basics.failures import reason_of
from ledgerd.supervision.health import Health
from ledgerd.supervision.line_rates import LineRate, limited
from ledgerd.supervision.tasks import Tasks
from ledgerd.supervision.threads import RunningThread, begin_thread

log = logging.getLogger(__name__)

T = TypeVar("T")

Clock = Callable[[], float]
Sleep = Callable[[float], Coroutine[Any, Any, None]]
Working = Callable[[], None]
Run = Callable[[Working], Coroutine[Any, Any, None]]
"""Runs from one start to its end, and calls its argument as soon as it works."""

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""The longest pause before a restart."""
STEADY_SECONDS = 60.0
"""After working for this long, the next restart has the first pause again."""

MOST_FAILURES = 10
FAILURE_SECONDS = 600.0
"""No more restarts after `MOST_FAILURES` failed starts within so many seconds."""

MOST_LINES = 10
LINE_SECONDS = 60.0
"""About `MOST_LINES` log lines of a part within so many seconds; further ones are only counted."""


class Ending(Enum):
    """The consequence when a task or process ends without being asked."""

    COMES_BACK = "back"
    ENDS_PROGRAM = "end"


class PartFailed(Exception):
    """A part has ended without which the program cannot run."""


class Ended(Exception):
    """A task or process has ended without being asked; the text says how."""


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


class Work:
    """The tasks, threads and processes of one part."""

    def __init__(
        self,
        part: str,
        ending: Ending = Ending.COMES_BACK,
        *,
        is_needed: bool = False,
        restarted: Collection[str] = (),
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.part = part
        self.ending = ending
        self.is_needed = is_needed
        """Whether `/ready` fails while something of this part is down."""
        self._restarted = restarted
        """Tasks that come back although the end of others ends the program."""
        self._clock = clock
        self._sleep = sleep
        self._tasks = Tasks(self.fail)
        self._health: Health | None = None
        self._lines = LineRate(f"restarts of {part}", MOST_LINES, MOST_LINES / LINE_SECONDS)
        self._lock = threading.Lock()
        self._report: Callable[[BaseException], None] | None = None
        self._unreported: BaseException | None = None
        self._expects_ends = False

    def belong(self, report: Callable[[BaseException], None], health: Health) -> None:
        """Report failures to the supervisor; an earlier one is reported now."""
        with self._lock:
            self._report, self._health = report, health
            problem, self._unreported = self._unreported, None
        if problem is not None:
            report(problem)

    def fail(self, problem: BaseException) -> None:
        """End the program for this reason; from any thread."""
        with self._lock:
            report = self._report
            if report is None:
                self._unreported = self._unreported or problem
        if report is not None:
            report(problem)

    def __len__(self) -> int:
        return len(self._tasks)

    def begin(self, coroutine: Coroutine[Any, Any, T], name: str | None = None) -> asyncio.Task[T]:
        """Run a task that may end; an exception in it ends the program."""
        return self._tasks.begin(coroutine, name)

    def keep(self, name: str, life: Run) -> asyncio.Task[None]:
        """Run a task that has to run until it is stopped; it is restarted if the part comes back."""
        if self.ending is Ending.ENDS_PROGRAM and name not in self._restarted:
            return self._tasks.begin(self._once(name, life), name)
        return self._tasks.begin(self._again_and_again(name, life), name)

    def thread(self, name: str, work: Callable[[], None]) -> RunningThread:
        """Run a thread that may end; a failure ends the program."""

        def ended(problem: BaseException | None) -> None:
            if problem is not None:
                self.fail(problem)

        return begin_thread(name, work, ended)

    async def stop(self) -> None:
        await self._tasks.stop()

    async def _once(self, name: str, life: Run) -> None:
        await life(lambda: None)
        raise PartFailed(f"{self.part}: {name} has ended")

    async def _again_and_again(self, name: str, life: Run) -> None:
        restarts = self.restart_schedule(name)
        while True:
            problem: Exception = Ended("it has ended")
            try:
                await life(restarts.working)
            except Exception as raised:  # noqa: BLE001 - any failure is logged and the task restarted
                problem = raised
            await self._sleep(restarts.ended(problem))

    def restart_schedule(self, name: str) -> RestartSchedule:
        return RestartSchedule(self, name)

    def now(self) -> float:
        return self._clock()

    def set_down(self, name: str, reason: str) -> None:
        if self.is_needed and self._health is not None:
            self._health.set_down(self.part, name, reason)

    def set_up(self, name: str) -> None:
        if self.is_needed and self._health is not None:
            self._health.set_up(self.part, name)

    def warn(self, name: str, text: str) -> None:
        """Report what the operator has to see to, while the program still works; an empty text takes it back."""
        if self._health is not None:
            self._health.warn(self.part, name, text)

    def expect_ends(self) -> None:
        """From now on, an end of something of this part is expected: it is neither logged nor followed by a restart."""
        self._expects_ends = True

    def log(self, text: str) -> None:
        if self._expects_ends:
            return
        log.warning("%s", text, extra=limited(self._lines))


class RestartSchedule:
    """The pauses between restarts of one task or process: the caller reports when it works and when it has ended."""

    def __init__(self, work: Work, name: str) -> None:
        self._work = work
        self._name = name
        self._restarts = Restarts()
        self._may_start_at = 0.0

    @property
    def may_start(self) -> bool:
        return self._work.now() >= self._may_start_at

    def working(self) -> None:
        if not self._restarts.is_working:
            self._restarts.working(self._work.now())
            self._work.set_up(self._name)

    def ended(self, problem: Exception) -> float:
        """The seconds until the next start; `PartFailed` if it has failed too often to be started again."""
        now, has_worked = self._work.now(), self._restarts.is_working
        pause = self._restarts.ended(now)
        reason = reason_of(problem)
        self._work.set_down(self._name, reason)
        log.debug("%s: the end of %s in full", self._work.part, self._name, exc_info=problem)
        if pause is None:
            minutes = int(FAILURE_SECONDS // 60)
            raise PartFailed(
                f"{self._work.part}: {self._name} failed to start {MOST_FAILURES} times in {minutes} minutes: {reason}"
            ) from problem
        self._may_start_at = now + pause
        whole_name = f"{self._work.part}: {self._name}"
        if has_worked:
            self._work.log(f"{whole_name} ended ({reason}), next start in {pause:g} s")
        else:
            self._work.log(f"{whole_name} failed to start ({reason}), next start in {pause:g} s")
        return pause
