"""The context of the block that is being applied: what one step finds out and a later one needs; and conditions under
which steps are taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import SkipFlags
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.state.objects.validators import Validator
from ledgerd.state.tables.tables import Index


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


def since(hardfork: int, step: Step) -> Step:
    def guarded(ledger: Ledger, context: BlockContext) -> None:
        if ledger.hardfork(hardfork):
            step(ledger, context)

    guarded.__name__ = step.__name__
    return guarded


def when_due(
    step: Step, index: Index[Any], *prefix: int, delay: Callable[[ChainParameters], int] = lambda _: 0
) -> Step:
    """A step that has nothing to do before the first object of an index is due, of those whose keys begin with the
    prefix: it is due the delay after the time behind that.
    """

    def timed(ledger: Ledger, context: BlockContext) -> None:
        due = ledger.due_times.get(index)
        if due is None:
            due = ledger.due_times[index] = ledger.store.due_time(index, prefix)
        if due.at <= context.block.timestamp:
            step(ledger, context)
            due.settle(delay(ledger.network))

    timed.__name__ = step.__name__
    return timed
