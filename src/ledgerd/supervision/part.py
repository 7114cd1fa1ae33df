"""The contract of a part, and the supervisor that watches over all parts of a program."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod

from ledgerd.supervision.health import Health
from ledgerd.supervision.work import Ending, Work


class Part(ABC):
    """One part of a program. Its tasks, threads and processes are started through `work`."""

    def __init__(self, name: str, ending: Ending = Ending.COMES_BACK, *, is_needed: bool = False) -> None:
        self.work = Work(name, ending, is_needed=is_needed)

    @abstractmethod
    async def start(self) -> None:
        """Start; when it returns, the part works."""

    @abstractmethod
    async def stop(self) -> None:
        """Stop; the caller then ends the tasks of `work` that still run."""


class Supervisor:
    """Collects the failures of all parts and keeps the first, which ends the program."""

    def __init__(self) -> None:
        self.health = Health()
        self.failure: BaseException | None = None
        self._failed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def take(self, part: Part) -> None:
        part.work.belong(self._fail, self.health)

    def _fail(self, problem: BaseException) -> None:
        """Record a failure; from any thread."""
        with self._lock:
            if self.failure is not None:
                return
            self.failure, loop = problem, self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._failed.set)

    async def failed(self) -> BaseException:
        with self._lock:
            self._loop = asyncio.get_running_loop()
        while self.failure is None:
            await self._failed.wait()
        return self.failure
