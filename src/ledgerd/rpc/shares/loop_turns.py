"""Whose work is done next on the event loop of a worker.

While there is little to do, requests are answered as they arrive. When a round of the loop has taken its time, the rest
waits, and whoever has had the least time goes first, what is to be done for it included: who asks for much delays
itself, and the loop soon looks at new connections again.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import NamedTuple, TypeVar

T = TypeVar("T")

ROUND_SECONDS = 0.01
"""Seconds of work after which the loop serves its connections again."""

TURN_SECONDS = 0.005
"""Seconds of work for one client after which others have their turns."""

MOST_REMEMBERED = 4_096
"""Clients whose time is remembered while others wait."""


class WaitingWork(NamedTuple):
    """Work that waits for its turn."""

    work: Callable[[], None]
    expected: float
    """Seconds that it will take at least, as far as that is known before."""


class LoopTurns:
    """The turns of those who ask, each named by what it is charged for (`Asker.share`)."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._ends: float | None = None
        """The time at which the present round ends; None before its first work."""
        self._is_in_turn = False
        self._turn_ends: float | None = None
        """The time at which the present turn ends; None before its first work."""
        self._waiting: dict[str, deque[WaitingWork]] = {}
        self._order: list[tuple[float, int, str]] = []
        """A heap with one entry for each that waits: its time with that of its next work, a number that grows, and its
        name."""
        self._entered = 0
        self._spent: dict[str, float] = {}
        self._level = 0.0
        """The time of the one whose turn was last. Newcomers begin with it, so that a pause gives no advantage."""

    def has_time(self) -> bool:
        """Whether more may be done now: in a turn, until it ends; otherwise while nobody waits and the round lasts."""
        if self._is_in_turn:
            return self._has_time_in_turn()
        if self._waiting:
            return False
        if self._ends is None:
            self._ends = self._clock() + ROUND_SECONDS
            asyncio.get_running_loop().call_soon(self._round)
            return True
        return self._clock() < self._ends

    def _has_time_in_turn(self) -> bool:
        """A first piece of work is done in each turn, however late it comes."""
        if self._turn_ends is None:
            self._turn_ends = self._clock() + TURN_SECONDS
            return True
        return self._clock() < self._turn_ends

    def wait(self, share: str, work: Callable[[], None], expected: float = 0.0) -> None:
        """Do some work in a turn. What is expected to take long comes after the short work of others."""
        if not self._waiting and self._ends is None:
            asyncio.get_running_loop().call_soon(self._round)
        is_new = share not in self._waiting
        self._waiting.setdefault(share, deque()).append(WaitingWork(work, expected))
        if is_new:
            self._enter(share)

    async def do(self, share: str, work: Callable[[], T]) -> T:
        if self.has_time():
            return work()
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.wait(share, lambda: _do(work, done))
        return await done

    def _enter(self, share: str) -> None:
        spent = self._spent[share] = max(self._level, self._spent.get(share, 0.0))
        self._entered += 1
        heappush(self._order, (spent + self._waiting[share][0].expected, self._entered, share))

    def _round(self) -> None:
        self._ends = None
        if not self._waiting:
            return
        loop, now = asyncio.get_running_loop(), self._clock()
        self._ends = now + ROUND_SECONDS
        coming = loop.call_soon(self._round)
        while self._waiting and now < self._ends:
            now = self._run_turn(now)
        if not self._waiting:
            coming.cancel()
            self._ends = None
            self._spent.clear()
            self._level = 0.0

    def _run_turn(self, now: float) -> float:
        _, _, share = heappop(self._order)
        self._level = max(self._level, self._spent.get(share, 0.0))
        works = self._waiting[share]
        work = works.popleft().work
        self._is_in_turn = True
        try:
            work()
        finally:
            self._is_in_turn, self._turn_ends = False, None
            ended = self._clock()
            self._charge(share, ended - now)
            if works:
                self._enter(share)
            else:
                del self._waiting[share]
        return ended

    def _charge(self, share: str, seconds: float) -> None:
        self._spent[share] = self._spent.get(share, self._level) + seconds
        if len(self._spent) > MOST_REMEMBERED:
            dearest = sorted(self._spent, key=self._spent.__getitem__)[MOST_REMEMBERED // 2 :]
            self._spent = {each: self._spent[each] for each in dearest}


def _do(work: Callable[[], T], done: asyncio.Future[T]) -> None:
    if done.done():
        return
    try:
        done.set_result(work())
    except Exception as error:  # noqa: BLE001 - who waits for it gets it
        done.set_exception(error)
        # The error holds this frame: if the frame held the error, what it was about would stay in memory.
        del done
