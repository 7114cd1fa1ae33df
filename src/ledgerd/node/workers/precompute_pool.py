"""What the bytes of blocks decide (keys that signed, ids, merkle roots) is computed ahead in child processes, on free
processors (design decision 6).

Processes and not threads: to recover a key takes 50 microseconds, and a thread waits longer than that for the
interpreter lock. They start when there is something to do, end when idle for a while, and restart after a pause when
lost. What was not computed here is computed on the chain's thread by the rule that needs it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import cast

from ledgerd.basics.framing.connection import FrameConnection
from ledgerd.basics.framing.frames import FrameFault, framed
from ledgerd.node.config.options.application import LogFormat
from ledgerd.node.workers.precompute_worker import MOST_RESULTS, introduction, request
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.precomputed import apply_precomputed
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.supervision.processes import Child, module_command, processors_beside
from ledgerd.supervision.tasks import Tasks, all_of
from ledgerd.supervision.work import Work

COMMAND = module_command("ledgerd.node.workers.precompute_worker")

MOST_PROCESSES = 2
"""Processes that compute ahead."""
SILENT_SECONDS = 20.0
"""A process that has answered nothing for so long hangs."""
IDLE_SECONDS = 30.0
ENDING_SECONDS = 2.0


def spare_processors() -> int:
    """The number of processes that can compute ahead without taking the chain's own processor."""
    return processors_beside(MOST_PROCESSES)


class ProcessLost(Exception):
    """A process that computes ahead has ended, or hangs."""


class PrecomputeProcess(FrameConnection):
    """One process. Requests are sent at once, and answers come in the same order."""

    def __init__(self, process: Child, network: ChainParameters) -> None:
        super().__init__(MOST_RESULTS)
        self.process = process
        self.answers = 0
        self.waiting = 0
        """Bytes of blocks without an answer yet."""
        self._network = network
        self._asked: deque[tuple[int, asyncio.Future[bytes | None]]] = deque()

    @classmethod
    async def start(cls, network: ChainParameters, log_format: LogFormat) -> PrecomputeProcess:
        """Start the process. It answers the first request as soon as its modules are loaded."""
        process, connection = Child.on_socket((*COMMAND, log_format))
        _, worker = await asyncio.get_running_loop().create_connection(lambda: cls(process, network), sock=connection)
        return worker

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        cast("asyncio.Transport", transport).write(framed(introduction(self._network)))

    def receive(self, frame: bytes) -> None:
        """Give the oldest request its results."""
        if not self._asked:
            raise FrameFault("results that nobody waits for")
        size, future = self._asked.popleft()
        self.waiting -= size
        self.answers += 1
        if not future.done():
            future.set_result(frame)

    def connection_lost(self, exc: Exception | None) -> None:
        """The process has ended: no request gets an answer any more."""
        _ = exc
        for _, future in self._asked:
            if not future.done():
                future.set_result(None)
        self._asked.clear()
        self.waiting = 0

    async def precompute(self, packed: Sequence[bytes], signers_above: int) -> bytes:
        """The results for packed blocks. `ProcessLost`: it will not answer any more."""
        if self._transport is None or not self.is_open:
            raise ProcessLost("a process that computes ahead has ended")
        future: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
        size = sum(map(len, packed))
        self._asked.append((size, future))
        self.waiting += size
        self._transport.write(framed(request(packed, signers_above)))
        while True:
            answers = self.answers
            if (await asyncio.wait([future], timeout=SILENT_SECONDS))[0]:
                results = future.result()
                if results is None:
                    raise ProcessLost("a process that computes ahead has ended")
                return results
            if answers == self.answers:
                self.process.kill()
                raise ProcessLost("a process that computes ahead hangs")

    async def stop(self) -> None:
        """Close its socket, which ends it; kill it if it does not end."""
        self.close()
        await self.process.stop(ENDING_SECONDS)


class PrecomputePool:
    """The processes of one node that compute ahead. Use it on one loop only."""

    def __init__(
        self,
        network: ChainParameters,
        processes: int,
        work: Work,
        idle_seconds: float = IDLE_SECONDS,
        *,
        log_format: LogFormat = "text",
    ) -> None:
        self._network = network
        self._count = processes
        self._idle_seconds = idle_seconds
        self._log_format: LogFormat = log_format
        self.workers: list[PrecomputeProcess] = []
        self._starting = asyncio.Lock()
        self._idle = Tasks(work.fail)
        self._restarts = work.restart_schedule("key recovery")

    @property
    def processes(self) -> list[int]:
        return [worker.process.pid for worker in self.workers]

    async def precompute(self, blocks: Sequence[Block], signers_above: int = 0) -> None:
        """Compute what the bytes of these blocks decide, and store it for the rules; who signed the transactions only
        above a block.
        """
        if not blocks or not self._restarts.may_start:
            return
        workers = self.workers
        try:
            await self._start()
            size = -(-len(blocks) // len(self.workers))
            parts = [blocks[start : start + size] for start in range(0, len(blocks), size)]
            idlest = sorted(self.workers, key=lambda worker: worker.waiting)
            answers = await all_of(
                worker.precompute([block.packed for block in part], signers_above)
                for worker, part in zip(idlest, parts, strict=False)
            )
        except (ProcessLost, OSError) as problem:
            if self.workers is workers:  # several callers see the loss; it counts once
                await self._lose(problem)
            return
        self._restarts.working()
        for part, results in zip(parts, answers, strict=True):
            place = 0
            for block in part:
                place = apply_precomputed(block, self._network.chain_id, results, place)
        self._end_later()

    async def _lose(self, problem: ProcessLost | OSError) -> None:
        """End all processes; until the restart pause is over, the chain computes all itself."""
        workers, self.workers = self.workers, []
        try:
            self._restarts.ended(problem)
        finally:
            await all_of(worker.stop() for worker in workers)

    async def _start(self) -> None:
        async with self._starting:
            if not self._restarts.may_start:
                raise ProcessLost("a process that computes ahead was lost meanwhile")
            while len(self.workers) < self._count:
                self.workers.append(await PrecomputeProcess.start(self._network, self._log_format))

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
