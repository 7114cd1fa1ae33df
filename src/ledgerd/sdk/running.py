"""What runs beside its caller: requests ahead of who reads their answers, and the loop of a blocking client.

A program that uses the client has no supervision of ours: each thing here ends with the call or the object that began
it, and whatever goes wrong in it is raised there.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def in_order(jobs: Iterable[Callable[[], Coroutine[Any, Any, T]]], at_once: int) -> AsyncGenerator[T, None]:
    """The results of jobs in their order, while so many of them run. The first that fails ends them all."""
    running: deque[asyncio.Task[T]] = deque()
    left = iter(jobs)
    try:
        while True:
            while len(running) < at_once and (job := next(left, None)) is not None:
                running.append(asyncio.create_task(job()))
            if not running:
                return
            yield await running[0]
            running.popleft()
    finally:
        for task in running:
            task.cancel()
        for task in running:
            with suppress(asyncio.CancelledError, Exception):
                await task


class BackgroundLoop:
    """An event loop in a thread of its own, for threads that wait."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="ledgerd client", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.run_until_complete(self._end())
        self._loop.close()

    async def _end(self) -> None:
        """End what streams that nobody closed have left, and let connections that are closed go."""
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._loop.shutdown_asyncgens()
        await asyncio.sleep(0)

    @property
    def is_closed(self) -> bool:
        return not self._thread.is_alive()

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result in the thread that waits; it is cancelled if that thread is
        interrupted.
        """
        running = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return running.result()
        except BaseException:
            running.cancel()
            raise

    def close(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
