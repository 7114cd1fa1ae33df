"""Task groups, the only place that makes tasks: their owner gets the exception of each, and can cancel all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")

OnFailure = Callable[[BaseException], None]


class Tasks:
    """The tasks of one owner."""

    def __init__(self, failed: OnFailure) -> None:
        self._failed = failed
        self._running: set[asyncio.Task[Any]] = set()
        self._ended = asyncio.Event()

    def __len__(self) -> int:
        return len(self._running)

    def begin(self, coroutine: Coroutine[Any, Any, T], name: str | None = None) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self._running.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        self._ended.set()
        if not task.cancelled() and (problem := task.exception()) is not None:
            self._failed(problem)

    async def ended(self) -> None:
        while self._running:
            self._ended.clear()
            await self._ended.wait()

    def cancel(self) -> None:
        for task in self._running:
            task.cancel()

    async def stop(self) -> None:
        """Cancel all tasks and wait for their end; a task may stop its own group."""
        others = [task for task in self._running if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


async def stream_server(
    accept: Callable[[asyncio.StreamReader, asyncio.StreamWriter], None], host: str, port: int
) -> asyncio.Server:
    """Listen, and call a function with each connection: not a coroutine, whose task would have no owner."""
    return await asyncio.start_server(accept, host, port)


async def all_of(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(each) for each in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def first_of(*coroutines: Coroutine[Any, Any, Any]) -> None:
    """Run coroutines until one of them has ended, then cancel the others; a failure is raised."""
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(each) for each in coroutines]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
