"""A thread that does one job after the other, each awaited on the loop."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from traceback import extract_stack
from typing import Any, TypeVar

from ledgerd.supervision.work import Work

T = TypeVar("T")

Job = Callable[[], None]


class JobThread:
    """The thread. It never keeps the program from ending, whatever a job does."""

    def __init__(self, work: Work, name: str) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = work.thread(name, self._run)

    async def run(self, function: Callable[[], T]) -> T:
        """Run a function on the thread; returns or raises what it does."""
        future: asyncio.Future[T] = self._loop.create_future()

        def job() -> None:
            try:
                result = function()
            except BaseException as problem:  # noqa: BLE001 - it is raised where the job is awaited
                self._report(partial(_settle, future, problem, None))
            else:
                self._report(partial(_settle, future, None, result))

        self._jobs.put(job)
        return await future

    def end(self) -> None:
        """End the thread after the jobs that it was given."""
        self._jobs.put(None)

    def place(self, file: str) -> str:
        """The line of a file at which the thread is, such as `, line 12`; empty if it is not in that file."""
        frame = sys._current_frames().get(self._thread.ident or 0)  # noqa: SLF001 - documented, for just this
        lines = [each.lineno for each in extract_stack(frame) if each.filename == file] if frame else []
        return f", line {lines[-1]}" if lines else ""

    def _report(self, news: Job) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(news)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


def _settle(future: asyncio.Future[Any], problem: BaseException | None, result: object) -> None:
    if future.done():
        return  # nobody waits any more
    if problem is None:
        future.set_result(result)
    else:
        future.set_exception(problem)
