"""Blocks that arrive while block processing is paused: kept for later, within bounds (spec 04, section 19)."""

from __future__ import annotations

from ledgerd.protocol.block import Block

MOST_BLOCKS = 1000
MOST_BYTES = 16 << 20


class PauseQueue:
    """The blocks of a pause."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._blocks)

    def keep(self, blocks: tuple[Block, ...], head: int) -> None:
        """Take what may be of use: near the head, and while there is room."""
        for block in blocks:
            size = len(block.packed)
            is_near = abs(block.number - head) <= MOST_BLOCKS
            if is_near and len(self._blocks) < MOST_BLOCKS and self._bytes + size <= MOST_BYTES:
                self._blocks.append(block)
                self._bytes += size

    def take(self) -> tuple[Block, ...]:
        """All, in the order of their numbers."""
        blocks, self._blocks, self._bytes = self._blocks, [], 0
        return tuple(sorted(blocks, key=lambda block: block.number))
