"""What runs beside its caller: requests ahead of who reads their answers, and the loop of a blocking client.

A program that uses the client has no supervision of ours: each thing here ends with the call or the object that began
it, and whatever goes wrong in it is raised there.
"""

from __future__ import annotations

import asyncio
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
