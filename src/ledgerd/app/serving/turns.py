"""Whose calls are made on the threads, and whose wait: an address that asks without end leaves others their turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from ledgerd.app.feeding.threads import JobThread
from ledgerd.app.serving.calling import FAILED, CallError
from ledgerd.basics.quotas import HeldAmounts
from ledgerd.supervision.tasks import Tasks

MOST_WAITING = 200
"""Calls that are made or wait for a thread; more are refused."""
MOST_OF_ONE = 16
"""Calls of one address that are made or wait for a thread."""
AT_ONCE_OF_ONE = 2
"""Calls of one address that are made at a time, so that threads are left for others."""
CALL_SECONDS = 15.0
"""The time after which a client gets an error. The thread stays with the method until that returns."""
TOO_MANY = "too many calls wait already: ask again later"
ALL_TAKEN = "every thread is taken by calls that take long: ask again later"


class CallTakesLong(CallError):
    """A call that has not ended in time; it goes on, and its thread with it."""

    def __init__(self, thread: JobThread) -> None:
        super().__init__(FAILED, f"a call takes more than {CALL_SECONDS:g} s")
        self.thread, self.seconds = thread, CALL_SECONDS


class CallTurns:
    """The threads, and the calls on their way there, by who has sent them."""

    def __init__(self, threads: Iterable[JobThread], tasks: Tasks) -> None:
        self._tasks = tasks
        self._free: asyncio.Queue[JobThread] = asyncio.Queue()
        for each in threads:
            self._free.put_nowait(each)
        self._calls = HeldAmounts(MOST_WAITING)
        self._turns: dict[str, asyncio.Semaphore] = {}

    async def run(self, share: str, call: Callable[[], bytes]) -> bytes:
        """Make a call when a thread is free for this client. A call whose client leaves while it waits is not made."""
        if not self._calls.has_room_for(1) or self._calls.of(share) >= MOST_OF_ONE:
            raise CallError(FAILED, TOO_MANY)
        turn = self._turns.setdefault(share, asyncio.Semaphore(AT_ONCE_OF_ONE))
        self._calls.change(share, 1)
        thread: JobThread | None = None
        try:
            async with asyncio.timeout(CALL_SECONDS):
                thread = await self._thread_in(turn)
                made = await asyncio.shield(self._tasks.begin(self._on(thread, turn, share, call)))
        except TimeoutError:
            raise CallError(FAILED, ALL_TAKEN) if thread is None else CallTakesLong(thread) from None
        finally:
            if thread is None:
                self._leave(share)
        if isinstance(made, CallError):
            raise made
        return made

    async def _thread_in(self, turn: asyncio.Semaphore) -> JobThread:
        await turn.acquire()
        try:
            return await self._free.get()
        except BaseException:
            turn.release()
            raise

    async def _on(
        self, thread: JobThread, turn: asyncio.Semaphore, share: str, call: Callable[[], bytes]
    ) -> bytes | CallError:
        """The thread is free again when it is, whether anybody waits for the answer or not. A call that is wrong is no
        failure of ours: as an exception of the task it would stand in the log, with its trace.
        """
        try:
            return await thread.run(call)
        except CallError as problem:
            return problem
        finally:
            self._free.put_nowait(thread)
            turn.release()
            self._leave(share)

    def _leave(self, share: str) -> None:
        self._calls.change(share, -1)
        if not self._calls.of(share):
            del self._turns[share]
