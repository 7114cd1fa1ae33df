"""The context of the block that is being applied: what one step finds out and a later one needs."""

from __future__ import annotations

from collections.abc import Callable

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import SkipFlags
from ledgerd.protocol.blocks.block import Block
from ledgerd.state.objects.validators import Validator


class BlockContext:
    """The block that is being applied, what may be skipped of it, and its producer once that is known."""

    __slots__ = ("_producer", "block", "number", "parent_time", "skip")

    def __init__(self, block: Block, skip: SkipFlags, parent_time: int = 0) -> None:
        self.block = block
        self.number = block.number
        self.skip = skip
        self.parent_time = parent_time
        """The time of the block before, at which its transactions take effect."""
        self._producer: Validator | None = None

    @property
    def producer(self) -> Validator:
        """The validator that made the block; the header check names it."""
        if self._producer is None:
            raise RuntimeError("a step asked for the producer before the header was checked")
        return self._producer

    @producer.setter
    def producer(self, validator: Validator) -> None:
        self._producer = validator


Step = Callable[[Ledger, BlockContext], None]
