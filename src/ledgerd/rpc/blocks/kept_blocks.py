"""Blocks for API methods: reversible ones from the state, others from a block log."""

from __future__ import annotations

from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.objects.transactions import REVERSIBLE_BY_NUMBER
from ledgerd.state.views.view import View


class KeptBlocks:
    """The blocks of the trunk. Call it with the present state: a block is in a log before it leaves the state."""

    def __init__(self, *logs: BlockLogReader) -> None:
        self._logs = logs
        self._begun: set[BlockLogReader] = set()
        """Logs that are known to begin with block 1; these only grow."""

    def packed(self, state: View, number: int) -> bytes | None:
        kept = state.lookup(REVERSIBLE_BY_NUMBER, number)
        if kept is not None:
            return kept.packed
        if not 0 < number <= state.get(DYNAMIC_GLOBAL_PROPERTIES, 0).head_block_number:
            return None
        return next((found for log in self._logs if (found := log.read(number)) is not None), None)

    def block(self, state: View, number: int) -> Block | None:
        packed = self.packed(state, number)
        return None if packed is None else codec_of(Block).decode_exactly(packed)

    def earliest(self, head: int) -> int:
        """The first block from which there is no gap up to the head; a node without a log has the head only."""
        firsts = (1 if log in self._begun else self._first_of(log) for log in self._logs)
        return next((first for first in firsts if 0 < first < head), head)

    def _first_of(self, log: BlockLogReader) -> int:
        first = log.earliest_number
        if first == 1 and not log.kind.header:
            self._begun.add(log)
        return first
