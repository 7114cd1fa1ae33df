"""Threads with an owner, the only ones of this program, and calls on other threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

RunningThread = threading.Thread

P = ParamSpec("P")
T = TypeVar("T")


def begin_thread(name: str, work: Callable[[], None], ended: Callable[[BaseException | None], None]) -> RunningThread:
    """Run a function on a daemon thread; at its end, `ended` is called there, with its exception if it failed."""

    def run() -> None:
        try:
            work()
        except BaseException as problem:  # noqa: BLE001 - the owner of the thread handles it
            ended(problem)
        else:
            ended(None)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[T]:
    return asyncio.get_running_loop().run_in_executor(None, partial(function, *args, **kwargs))


def thread_pool(count: int, name: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix=name)


def on_loop(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    return asyncio.run_coroutine_threadsafe(coroutine, loop)
