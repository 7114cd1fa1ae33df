"""Threads that belong to somebody, and calls that are made on threads.

Every thread of this program is made here.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

RunningThread = threading.Thread
"""A thread that was begun here."""

P = ParamSpec("P")
T = TypeVar("T")


def begin_thread(name: str, work: Callable[[], None], ended: Callable[[BaseException | None], None]) -> RunningThread:
    """Run a function on a thread that does not outlive the program; its end is told there, with the failure if any."""

    def run() -> None:
        try:
            work()
        except BaseException as problem:  # noqa: BLE001 - whoever owns the thread decides what it means
            ended(problem)
        else:
            ended(None)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[T]:
    """Call a function that would hold up the loop on a thread, and give its result to the loop."""
    return asyncio.get_running_loop().run_in_executor(None, partial(function, *args, **kwargs))


def thread_pool(count: int, name: str) -> ThreadPoolExecutor:
    """So many threads for calls whose results somebody waits for."""
    return ThreadPoolExecutor(count, thread_name_prefix=name)


def on_loop(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    """Run a coroutine on the loop of another thread; its result goes to the future."""
    return asyncio.run_coroutine_threadsafe(coroutine, loop)
