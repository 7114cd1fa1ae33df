"""The one thread that the chain belongs to: everybody else hands it what is to be done there, by rank.

A block of ours goes before blocks of others, and those before transactions; what has begun is never interrupted.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from enum import IntEnum
from queue import PriorityQueue
from typing import TypeVar

T = TypeVar("T")

Job = Callable[[], None]


class Rank(IntEnum):
    """Who goes first."""

    PRODUCTION = 0
    BLOCK = 1
    OTHER = 2
    END = 9


class ChainThread:
    """A queue of jobs, and the thread that does them."""

    def __init__(self) -> None:
        self._queue: PriorityQueue[tuple[Rank, int, Job | None]] = PriorityQueue()
        self._numbers = itertools.count()
        self._thread = threading.Thread(target=self._work, name="chain", daemon=True)
        self._thread.start()

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
        return future

    async def run(self, job: Callable[[], T], rank: Rank = Rank.OTHER) -> T:
        """Have a job done, and wait for its result without holding up the loop."""
        return await asyncio.wrap_future(self.submit(job, rank))

    def stop(self) -> None:
        """Do what is in the queue, and end."""
        self._queue.put((Rank.END, next(self._numbers), None))
        self._thread.join()

    def _work(self) -> None:
        while True:
            _, _, job = self._queue.get()
            if job is None:
                return
            job()
