"""Reads the blocks of a log ahead of the chain: other processes compute what the bytes of a block decide. It has no
event loop, since a replay takes the whole thread. When a process is lost, the chain computes all itself.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from typing import NamedTuple, Self

from ledgerd.basics.frames import FrameBuffer
from ledgerd.codec import codec_of
from ledgerd.node.workers.precompute_pool import COMMAND, ENDING_SECONDS, SILENT_SECONDS, ProcessLost
from ledgerd.node.workers.precompute_worker import MOST_RESULTS, introduction, request
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.precomputed import apply_precomputed
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.supervision.processes import Child

log = logging.getLogger(__name__)

BLOCKS_AT_ONCE, BYTES_AT_ONCE = 100, 256 << 10
"""A batch ends with the first of these."""
BATCHES_AHEAD = 8
RECEIVED_BYTES = 1 << 18


class _Batch:
    """Some blocks of the log, and the results for them once they are there."""

    def __init__(self) -> None:
        self.numbered: list[tuple[int, bytes]] = []
        self.results: bytes | None = None


class _Helper:
    """One process, and what is on its way to it and from it."""

    def __init__(self, network: ChainParameters, signers_above: int) -> None:
        self._signers_above = signers_above
        self.process, self.connection = Child.on_socket((*COMMAND, "text"))
        self.asked: deque[_Batch] = deque()
        self._unsent = bytearray(introduction(network))
        self._frames = FrameBuffer(MOST_RESULTS)

    def ask(self, batch: _Batch) -> None:
        self.asked.append(batch)
        self._unsent += request([packed for _, packed in batch.numbered], self._signers_above)

    @property
    def events(self) -> int:
        return EVENT_READ | EVENT_WRITE if self._unsent else EVENT_READ

    def exchange(self, events: int) -> None:
        if events & EVENT_WRITE:
            with suppress(BlockingIOError):
                del self._unsent[: self.connection.send(self._unsent)]
        if events & EVENT_READ:
            data = self.connection.recv(RECEIVED_BYTES)
            if not data:
                raise ProcessLost("a process that computes ahead has ended")
            for results in self._frames.frames_in(data):
                self.asked.popleft().results = results

    def stop(self) -> None:
        self.connection.close()
        self.process.wait_or_kill(ENDING_SECONDS)


class _Read(NamedTuple):
    """What the log gives: a batch, and the error that ended the reading behind it."""

    batch: _Batch
    error: Exception | None = None


class LogReading:
    """The processes that compute ahead during one replay; without any, blocks are only decoded."""

    def __init__(self, network: ChainParameters, processes: int, signers_above: int = 0) -> None:
        self._network = network
        self._count = processes
        self._signers_above = signers_above
        self._helpers: list[_Helper] = []

    def __enter__(self) -> Self:
        try:
            for _ in range(self._count):
                self._helpers.append(_Helper(self._network, self._signers_above))
        except OSError as problem:
            self._lose(problem)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    @property
    def processes(self) -> list[int]:
        return [helper.process.pid for helper in self._helpers]

    def read(self, packed: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, Block]]:
        """Blocks with their numbers; an error of the log, or of decoding, comes behind the blocks before it."""
        waiting: deque[_Read] = deque()
        batches = _batches(packed)
        while True:
            while len(waiting) < BATCHES_AHEAD and (read := next(batches, None)) is not None:
                waiting.append(read)
                self._ask(read.batch)
            if not waiting:
                return
            batch, error = waiting.popleft()
            self._await(batch)
            yield from self._decoded(batch)
            if error is not None:
                raise error

    def _decoded(self, batch: _Batch) -> Iterator[tuple[int, Block]]:
        place, results = 0, batch.results or b""
        for number, packed in batch.numbered:
            block = codec_of(Block).decode(packed)
            if place < len(results):
                place = apply_precomputed(block, self._network.chain_id, results, place)
            yield number, block

    def _ask(self, batch: _Batch) -> None:
        if self._helpers and batch.numbered:
            min(self._helpers, key=lambda helper: len(helper.asked)).ask(batch)

    def _await(self, batch: _Batch) -> None:
        """Exchange what can be without waiting; and more, until the results are there or the processes are lost."""
        try:
            self._exchange(0)
            while self._helpers and batch.numbered and batch.results is None:
                self._exchange(SILENT_SECONDS)
        except (ProcessLost, OSError) as problem:
            self._lose(problem)

    def _exchange(self, seconds: float) -> None:
        """Wait up to so many seconds for a socket to be ready; with none, the processes hang."""
        with DefaultSelector() as selector:
            for helper in self._helpers:
                selector.register(helper.connection, helper.events, helper)
            ready = selector.select(seconds) if self._helpers else []
            for key, events in ready:
                key.data.exchange(events)
        if seconds and not ready:
            raise ProcessLost("a process that computes ahead hangs")

    def _lose(self, problem: Exception) -> None:
        log.warning("the log is no longer read ahead, the chain does all itself: %(reason)s", {"reason": problem})
        for helper in self._helpers:
            helper.process.kill()
        self._stop()

    def _stop(self) -> None:
        helpers, self._helpers = self._helpers, []
        for helper in helpers:
            helper.stop()


def _batches(packed: Iterator[tuple[int, bytes]]) -> Iterator[_Read]:
    """An error of the log is handed on behind the blocks that were read before it."""
    batch, size = _Batch(), 0
    try:
        for number, each in packed:
            batch.numbered.append((number, each))
            size += len(each)
            if len(batch.numbered) >= BLOCKS_AT_ONCE or size >= BYTES_AT_ONCE:
                yield _Read(batch)
                batch, size = _Batch(), 0
    except Exception as error:  # noqa: BLE001 - raised in its turn
        yield _Read(batch, error)
        return
    yield _Read(batch)
