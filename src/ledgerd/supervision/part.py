"""The contract of a part, and the supervisor that watches over all parts of a program."""

from __future__ import annotations

import asyncio
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from typing import Any

from ledgerd.supervision.health import Health, HealthStatus
from ledgerd.supervision.tasks import first_of
from ledgerd.supervision.work import Work

Wait = Callable[[], Coroutine[Any, Any, object]]


class Part(ABC):
    """One part of a program. Its tasks, threads and processes are started through `work`."""

    def __init__(self, work: Work) -> None:
        self.work = work

    @abstractmethod
    async def start(self) -> None:
        """Start; when it returns, the part works."""

    async def stop(self) -> None:
        """Stop. By itself a part ends its tasks; the caller then ends those of `work` that still run."""
        await self.work.stop()

    def health_changed(self, status: HealthStatus) -> None:  # noqa: B027 - few parts publish it
        """Learn of the health of the program: now, and at each change; from any thread."""


class Supervisor:
    """Collects the failures of all parts and keeps the first, which ends the program."""

    def __init__(self) -> None:
        self.health = Health()
        self.failure: BaseException | None = None
        self._failed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self._parts: list[Part] = []

    def add(self, part: Part) -> None:
        self._parts.append(part)
        self.health.on_change.append(part.health_changed)
        part.health_changed(self.health.status)
        part.work.belong(self._fail, self.health)

    def _fail(self, problem: BaseException) -> None:
        with self._lock:
            if self.failure is not None:
                return
            self.failure, loop = problem, self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._failed.set)

    def expect_ends(self) -> None:
        """The program is about to stop all parts. A signal to all of its processes, as systemd sends by default, ends
        some of them before their part is stopped.
        """
        for part in self._parts:
            part.work.expect_ends()

    async def failed(self) -> BaseException:
        with self._lock:
            self._loop = asyncio.get_running_loop()
        while self.failure is None:
            await self._failed.wait()
        return self.failure


def stop_signals() -> asyncio.Event:
    """An event that SIGINT and SIGTERM set from now on."""
    stopping = asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, stopping.set)
    return stopping


async def run_part(part: Part, *ends: Wait, started: Callable[[], object] = lambda: None) -> None:
    """Run a program of one part until one of the ends has come; a failure of the part is raised once it has stopped."""
    supervisor = Supervisor()
    supervisor.add(part)
    await part.start()
    started()
    await first_of(supervisor.failed(), *(end() for end in ends))
    supervisor.expect_ends()
    await part.stop()
    if supervisor.failure is not None:
        raise supervisor.failure
