"""Blocks that broke a rule although their validators had signed them: whoever sends one again is refused at once.

Only their ids are kept, for a while, and with them the ids of blocks that were put on top of them.
"""

from __future__ import annotations

from collections.abc import Callable

from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.identifiers import BlockId

REMEMBERED = 4096
REMEMBERED_SECONDS = 3600.0


class RefusedBlocks:
    """Ids of bad blocks, each with the rule that was broken."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._known: dict[BlockId, tuple[float, RuleViolation]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def add(self, block_id: BlockId, rule: RuleViolation) -> None:
        """Remember a block; the oldest ones go first."""
        self._known.pop(block_id, None)
        while len(self._known) >= REMEMBERED:
            self._known.pop(next(iter(self._known)))
        self._known[block_id] = self._clock() + REMEMBERED_SECONDS, rule.with_traceback(None)

    def clear(self) -> None:
        """Forget all of them: each is judged again when it comes again."""
        self._known.clear()

    def knows(self, block: Block) -> bool:
        """Whether `check` might refuse a block."""
        return bool(self._known) and (block.id in self._known or block.previous in self._known)

    def check(self, block: Block) -> None:
        """Raise the rule that a block is known to break, or a block below it."""
        if not self._known:
            return
        for block_id in (block.id, block.previous):
            until, rule = self._known.get(block_id, (0.0, None))
            if rule is None:
                continue
            if self._clock() >= until:
                del self._known[block_id]
                continue
            self._known[block_id] = self._known.pop(block_id)
            if block_id != block.id:
                self.add(block.id, rule)
            raise rule.with_traceback(None)
