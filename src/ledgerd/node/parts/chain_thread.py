"""The one thread that the chain belongs to: everybody else hands it what is to be done there, by rank.

A block of ours goes before blocks of others, and those before transactions; what has begun is never interrupted. The
thread runs a loop, on which the peers live: between two of their events, whoever waits has a turn.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from enum import IntEnum
from queue import PriorityQueue
from typing import TypeVar

from ledgerd.supervision.threads import on_loop
from ledgerd.supervision.work import Ended, Work

T = TypeVar("T")

Job = Callable[[], None]


class Rank(IntEnum):
    """Who goes first."""

    PRODUCTION = 0
    BLOCK = 1
    OTHER = 2


class ChainThread:
    """A queue of jobs, and the loop of the thread that does them."""

    def __init__(self, work: Work) -> None:
        self._queue: PriorityQueue[tuple[Rank, int, Job]] = PriorityQueue()
        self._numbers = itertools.count()
        self._loop = asyncio.new_event_loop()
        self._is_stopping = False
        self._thread = work.thread("chain", self._work, may_end=True)

    def submit(self, job: Callable[[], T], rank: Rank = Rank.OTHER) -> Future[T]:
        """Have a job done; its result or its exception goes to the future."""
        future: Future[T] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(job())
            except BaseException as error:  # noqa: BLE001 - whoever waits for the result gets it
                future.set_exception(error)

        self._queue.put((rank, next(self._numbers), work))
        self._loop.call_soon_threadsafe(self._next)
        return future

    async def run(self, job: Callable[[], T], rank: Rank = Rank.OTHER) -> T:
        """Have a job done, and wait for its result without holding up the caller's loop."""
        return await asyncio.wrap_future(self.submit(job, rank))

    async def run_coroutine(self, coroutine: Coroutine[object, object, T]) -> T:
        """Have a coroutine run on the loop of the thread."""
        return await asyncio.wrap_future(on_loop(self._loop, coroutine))

    def call_soon(self, call: Callable[[], object]) -> None:
        """Have something very short called between two jobs; from any thread. A stop may come before it."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call)

    def stop(self) -> None:
        """Do what is in the queue, and end."""
        self._is_stopping = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _next(self) -> None:
        """Each job that was handed in makes room for one, which need not be itself."""
        _, _, job = self._queue.get_nowait()
        job()

    def _work(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            if not self._is_stopping:
                raise Ended("the loop of the chain's thread has ended")
        finally:
            self._loop.close()
