"""The one thread that uses the chain: all others submit jobs to it, by rank. It runs an event loop, which is also
that of the peers: jobs run between two events of it, in turns of so much time, so that a flood keeps no peer waiting.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from enum import IntEnum
from functools import partial
from queue import Empty, PriorityQueue
from typing import TypeVar

from ledgerd.supervision.threads import on_loop
from ledgerd.supervision.work import Ended, Work

T = TypeVar("T")

Job = Callable[[], None]


class Rank(IntEnum):
    """The order in which jobs run."""

    PRODUCTION = 0
    OTHER = 1


TURN_SECONDS = 0.02
"""Seconds of jobs between two looks at the events of the loop."""


class ChainThread:
    """A priority queue of jobs, and the loop of the thread that runs them."""

    def __init__(self, work: Work) -> None:
        self._queue: PriorityQueue[tuple[Rank, int, Job]] = PriorityQueue()
        self._numbers = itertools.count()
        self._loop = asyncio.new_event_loop()
        self._is_stopping = False
        self._is_awake = False
        """Whether a turn is coming."""
        self._thread = work.thread("chain", self._work, may_end=True)

    def submit(self, job: Callable[[], T], rank: Rank = Rank.OTHER) -> Future[T]:
        future: Future[T] = Future()
        self._queue.put((rank, next(self._numbers), partial(_run, job, future)))
        self._loop.call_soon_threadsafe(self._wake)
        return future

    async def run(self, job: Callable[[], T], rank: Rank = Rank.OTHER) -> T:
        return await asyncio.wrap_future(self.submit(job, rank))

    async def run_coroutine(self, coroutine: Coroutine[object, object, T]) -> T:
        return await asyncio.wrap_future(on_loop(self._loop, coroutine))

    def call_soon(self, call: Callable[[], object]) -> None:
        """Call a very short function between two jobs; from any thread. It is dropped if the thread stops first."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop)
        self._thread.join()

    def _stop(self) -> None:
        self._is_stopping = True
        while self._run_next():
            pass
        self._loop.stop()

    def _wake(self) -> None:
        if not self._is_awake:
            self._is_awake = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        """Run jobs for so long, those of the highest rank first; what is left has its turn after others."""
        self._is_awake = False
        end = self._loop.time() + TURN_SECONDS
        while self._run_next():
            if self._loop.time() >= end:
                self._wake()
                return

    def _run_next(self) -> bool:
        try:
            _, _, job = self._queue.get_nowait()
        except Empty:
            return False
        job()
        return True

    def _work(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            if not self._is_stopping:
                raise Ended("the loop of the chain's thread has ended")
        finally:
            self._loop.close()


def _run(job: Callable[[], T], future: Future[T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(job())
    except BaseException as error:  # noqa: BLE001 - the caller gets it from the future
        future.set_exception(error)
        # The error holds this frame: if the frame held the error, what the job used would stay in memory.
        del future
