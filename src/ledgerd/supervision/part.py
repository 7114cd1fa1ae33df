"""The contract of a part, and the supervisor that watches over all parts of a program."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod

from ledgerd.supervision.health import Health
from ledgerd.supervision.work import Ending, Work


class Part(ABC):
    """Something that a program consists of. Whatever runs for it is made through its `work`."""

    def __init__(self, name: str, ending: Ending = Ending.COMES_BACK, *, is_needed: bool = False) -> None:
        self.work = Work(name, ending, is_needed=is_needed)

    @abstractmethod
    async def start(self) -> None:
        """Begin; when it returns, the part does what it is there for."""

    @abstractmethod
    async def stop(self) -> None:
        """End; the tasks of `work` that still run are ended afterwards by whoever stops the part."""


class Supervisor:
    """Hears of every failure of the parts, and keeps the first: it is what the program ends with."""

    def __init__(self) -> None:
        self.health = Health()
        self.failure: BaseException | None = None
        self._failed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def take(self, part: Part) -> None:
        """Watch over a part."""
        part.work.belong(self._fail, self.health)

    def _fail(self, problem: BaseException) -> None:
        """From any thread."""
        with self._lock:
            if self.failure is not None:
                return
            self.failure, loop = problem, self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._failed.set)

    async def failed(self) -> BaseException:
        """Wait for the first failure."""
        with self._lock:
            self._loop = asyncio.get_running_loop()
        while self.failure is None:
            await self._failed.wait()
        return self.failure
