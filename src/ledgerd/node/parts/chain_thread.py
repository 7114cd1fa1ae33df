"""The one thread that uses the chain: all others submit jobs to it, by rank.

Producing a block goes before blocks of others, and those before transactions; a job that has begun is not interrupted.
The thread runs an event loop, which is also that of the peers: jobs run between two events of it.
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
    """The order in which jobs run."""

    PRODUCTION = 0
    BLOCK = 1
    OTHER = 2


class ChainThread:
    """A priority queue of jobs, and the loop of the thread that runs them."""

    def __init__(self, work: Work) -> None:
        self._queue: PriorityQueue[tuple[Rank, int, Job]] = PriorityQueue()
        self._numbers = itertools.count()
        self._loop = asyncio.new_event_loop()
        self._is_stopping = False
        self._thread = work.thread("chain", self._work, may_end=True)

    def submit(self, job: Callable[[], T], rank: Rank = Rank.OTHER) -> Future[T]:
        """Queue a job; its result or its exception goes to the future."""
        future: Future[T] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(job())
            except BaseException as error:  # noqa: BLE001 - the caller gets it from the future
                future.set_exception(error)

        self._queue.put((rank, next(self._numbers), work))
        self._loop.call_soon_threadsafe(self._next)
        return future

    async def run(self, job: Callable[[], T], rank: Rank = Rank.OTHER) -> T:
        """Run a job and await its result on the caller's loop."""
        return await asyncio.wrap_future(self.submit(job, rank))

    async def run_coroutine(self, coroutine: Coroutine[object, object, T]) -> T:
        """Run a coroutine on the loop of the thread."""
        return await asyncio.wrap_future(on_loop(self._loop, coroutine))

    def call_soon(self, call: Callable[[], object]) -> None:
        """Call a very short function between two jobs; from any thread. It is dropped if the thread stops first."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call)

    def stop(self) -> None:
        """Run the queued jobs, then end the thread."""
        self._is_stopping = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _next(self) -> None:
        """Run the job of the highest rank: not always the one whose submission scheduled this call."""
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
