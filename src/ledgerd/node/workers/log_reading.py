"""Reads the blocks of a log ahead of the chain: other processes compute what the bytes of a block decide. It has no
event loop, since a replay takes the whole thread. When a process is lost, the chain computes all itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import chain, islice, repeat

from ledgerd.basics.closing import Closing
from ledgerd.codec import codec_of
from ledgerd.node.workers.precompute_pool import COMMAND, SILENT_SECONDS
from ledgerd.node.workers.precompute_worker import MOST_RESULTS, introduction, request
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.precomputed import apply_precomputed
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.supervision.asking import AskedProcesses, AwaitedAnswer

BLOCKS_AT_ONCE, BYTES_AT_ONCE = 100, 256 << 10
"""A batch ends with the first of these."""
FIRST_BATCHES = 150, 25, 50
"""Blocks of the first batches: the chain does one itself while the processes start, and is to wait for little then."""
BATCHES_AHEAD = 8
LOSS = "the log is no longer read ahead, the chain does all itself"


class _Batch:
    """Some blocks of the log, and what a process was asked of them."""

    def __init__(self) -> None:
        self.numbered: list[tuple[int, bytes]] = []
        self.question: AwaitedAnswer | None = None
        self.error: Exception | None = None
        """The error that ended the reading after these blocks."""


class LogReading(Closing):
    """The processes that compute ahead during one replay; without any, blocks are only decoded."""

    def __init__(self, network: ChainParameters, processes: int, signers_above: int = 0) -> None:
        self._network = network
        self._signers_above = signers_above
        command = (*COMMAND, "text")
        self._asked = AskedProcesses(LOSS, command, introduction(network), count=processes, most=MOST_RESULTS)

    def close(self) -> None:
        self._asked.close()

    @property
    def processes(self) -> list[int]:
        return self._asked.pids

    def read(self, packed: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, Block]]:
        """Blocks with their numbers; an error of the log, or of decoding, comes after the blocks before it."""
        batches = _batches(packed)
        waiting = deque(islice(batches, 1))  # which the chain does itself, while the processes start
        while True:
            while len(waiting) < BATCHES_AHEAD and (read := next(batches, None)) is not None:
                waiting.append(read)
                if read.numbered:
                    question = request([each for _, each in read.numbered], self._signers_above)
                    read.question = self._asked.ask(question, BATCHES_AHEAD)
            if not waiting:
                return
            batch = waiting.popleft()
            if batch.question is not None:
                self._asked.wait_for(batch.question, SILENT_SECONDS)
            if not waiting:
                self._asked.end()
            yield from self._decoded(batch)
            if batch.error is not None:
                raise batch.error

    def _decoded(self, batch: _Batch) -> Iterator[tuple[int, Block]]:
        place, results = 0, (None if batch.question is None else batch.question.answer) or b""
        for number, packed in batch.numbered:
            block = codec_of(Block).decode(packed)
            if place < len(results):
                place = apply_precomputed(block, self._network.chain_id, results, place)
            yield number, block


def _batches(packed: Iterator[tuple[int, bytes]]) -> Iterator[_Batch]:
    """An error of the log is handed on after the blocks that were read before it."""
    counts = chain(FIRST_BATCHES, repeat(BLOCKS_AT_ONCE))
    batch, size, count = _Batch(), 0, next(counts)
    try:
        for number, each in packed:
            batch.numbered.append((number, each))
            size += len(each)
            if len(batch.numbered) >= count or size >= BYTES_AT_ONCE:
                yield batch
                batch, size, count = _Batch(), 0, next(counts)
    except Exception as error:  # noqa: BLE001 - raised in its turn
        batch.error = error
    yield batch
