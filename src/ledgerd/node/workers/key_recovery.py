"""Recovery of public keys from signatures, in child processes on free processors (design decision 6).

Processes and not threads: a recovery takes 50 microseconds, and a thread waits longer than that for the interpreter
lock. They start when there is something to recover, end when idle for a while, and restart after a pause when lost. A
key that was not recovered here is recovered on the chain's thread by the rule that needs it.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import cycle
from typing import TYPE_CHECKING

from ledgerd.node.workers.key_recovery_worker import COUNT, MOST_AT_ONCE
from ledgerd.protocol.keys import KEY_SIZE, NULL_KEY, PublicKey
from ledgerd.protocol.signers import remember_signers, signed_in
from ledgerd.supervision.processes import NOTHING as NO_OUTPUT
from ledgerd.supervision.processes import Child, module_command
from ledgerd.supervision.tasks import Tasks, all_of
from ledgerd.supervision.work import Work

if TYPE_CHECKING:
    from ledgerd.node.config.options.application import LogFormat
    from ledgerd.protocol.block import Block

COMMAND = module_command("ledgerd.node.workers.key_recovery_worker")

MOST_PROCESSES = 2
SILENT_SECONDS = 20.0
"""A process that has answered nothing for so long hangs."""
IDLE_SECONDS = 30.0
ENDING_SECONDS = 2.0
NOTHING = b""
"""The answer of a process that has ended."""


def spare_processors() -> int:
    """How many processes can recover keys without taking the chain's own processor."""
    if sys.platform == "win32":  # a process there does not take a socket for its standard input
        return 0
    count = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(MOST_PROCESSES, count - 1)


class ProcessLost(Exception):
    """A process that recovers keys has ended, or hangs."""


class RecoveryProcess(asyncio.Protocol):
    """One process. Requests are sent at once, and answers come in the same order."""

    def __init__(self, process: Child) -> None:
        self.process = process
        self.answers = 0
        self.waiting = 0
        """Signatures without an answer yet."""
        self._asked: deque[tuple[int, asyncio.Future[bytes]]] = deque()
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def start(cls, log_format: LogFormat) -> RecoveryProcess:
        """Start the process. It answers the first request as soon as its modules are loaded."""
        ours, theirs = socket.socketpair()
        with theirs, ExitStack() as failing:
            failing.callback(ours.close)
            process = Child.start((*COMMAND, log_format), stdin=theirs.fileno(), stdout=NO_OUTPUT)
            failing.pop_all()
        ours.setblocking(False)
        _, worker = await asyncio.get_running_loop().create_connection(lambda: cls(process), sock=ours)
        return worker

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Give each request its keys, once all of them are here."""
        self._buffer += data
        while self._asked and len(self._buffer) >= (size := self._asked[0][0] * KEY_SIZE):
            count, future = self._asked.popleft()
            self.waiting -= count
            self.answers += 1
            if not future.done():
                future.set_result(bytes(self._buffer[:size]))
            del self._buffer[:size]

    def connection_lost(self, exc: Exception | None) -> None:
        """The process has ended: all requests get an empty answer."""
        _ = exc
        for _, future in self._asked:
            if not future.done():
                future.set_result(NOTHING)
        self._asked.clear()
        self.waiting = 0

    async def recover(self, signed: Sequence[bytes]) -> bytes:
        """The keys behind these signatures, one after the other.

        Raises:
            ProcessLost: It will not answer any more.
        """
        if self._transport is None or self._transport.is_closing():
            raise ProcessLost("a process that recovers keys has ended")
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._asked.append((len(signed), future))
        self.waiting += len(signed)
        self._transport.write(COUNT.pack(len(signed)) + b"".join(signed))
        while True:
            answers = self.answers
            if (await asyncio.wait([future], timeout=SILENT_SECONDS))[0]:
                if future.result() == NOTHING:
                    raise ProcessLost("a process that recovers keys has ended")
                return future.result()
            if answers == self.answers:
                self.process.kill()
                raise ProcessLost("a process that recovers keys hangs")

    async def stop(self) -> None:
        """Close its socket, which ends it; kill it if it does not end."""
        if self._transport is not None:
            self._transport.abort()
        await self.process.stop(ENDING_SECONDS)


class KeyRecoveryPool:
    """The key recovery processes of one node. Use it on one loop only."""

    def __init__(
        self,
        chain_id: bytes,
        processes: int,
        work: Work,
        idle_seconds: float = IDLE_SECONDS,
        *,
        log_format: LogFormat = "text",
    ) -> None:
        self._chain_id = chain_id
        self._count = processes
        self._idle_seconds = idle_seconds
        self._log_format: LogFormat = log_format
        self.workers: list[RecoveryProcess] = []
        """The running processes."""
        self._starting = asyncio.Lock()
        self._idle = Tasks(work.fail)
        self._restarts = work.restart_schedule("key recovery")

    @property
    def processes(self) -> list[int]:
        """Ids of the running processes."""
        return [worker.process.pid for worker in self.workers]

    async def recover(self, blocks: Sequence[Block]) -> None:
        """Recover the keys that signed these blocks and their transactions, and store them for the rules."""
        if not self._restarts.may_start:
            return
        signed = signed_in(blocks, self._chain_id)
        if not signed:
            return
        workers = self.workers
        try:
            await self._start()
            share = max(1, min(MOST_AT_ONCE, -(-len(signed) // len(self.workers))))
            parts = [signed[start : start + share] for start in range(0, len(signed), share)]
            idlest = cycle(sorted(self.workers, key=lambda worker: worker.waiting))
            answers = await all_of(worker.recover(part) for worker, part in zip(idlest, parts, strict=False))
        except (ProcessLost, OSError) as problem:
            if self.workers is workers:  # several callers see the loss; it counts once
                await self._lose(problem)
            return
        self._restarts.working()
        keys = b"".join(answers)
        each = (keys[at : at + KEY_SIZE] for at in range(0, len(keys), KEY_SIZE))
        remember_signers(blocks, self._chain_id, (None if key == NULL_KEY else PublicKey(key) for key in each))
        self._end_later()

    async def _lose(self, problem: ProcessLost | OSError) -> None:
        """End all processes; until the restart pause is over, the chain recovers keys itself."""
        workers, self.workers = self.workers, []
        try:
            self._restarts.ended(problem)
        finally:
            await all_of(worker.stop() for worker in workers)

    async def _start(self) -> None:
        async with self._starting:
            if not self._restarts.may_start:
                raise ProcessLost("a process that recovers keys was lost meanwhile")
            while len(self.workers) < self._count:
                self.workers.append(await RecoveryProcess.start(self._log_format))

    def _end_later(self) -> None:
        self._idle.cancel()
        self._idle.begin(self._end_when_idle())

    async def _end_when_idle(self) -> None:
        await asyncio.sleep(self._idle_seconds)
        if not any(worker.waiting for worker in self.workers):
            await self._stop_workers()

    async def stop(self) -> None:
        """End all processes; the next request starts them again."""
        await self._idle.stop()
        await self._stop_workers()

    async def _stop_workers(self) -> None:
        workers, self.workers = self.workers, []
        await all_of(worker.stop() for worker in workers)
