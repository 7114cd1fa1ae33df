"""A line of the log for each block of a development chain, for whoever watches it."""

from __future__ import annotations

import logging
from collections import Counter

from ledgerd.chain.events import BlockApplied, BlocksUndone
from ledgerd.chain.interface.observer import Observer
from ledgerd.protocol.block import Block
from ledgerd.protocol.operations.base import name_of
from ledgerd.supervision.progress import many

log = logging.getLogger(__name__)

MOST_NAMED = 5
"""Kinds of operations that a line names."""


class BlockLines(Observer):
    """Logs each block."""

    def applied(self, event: BlockApplied) -> None:
        block = event.block
        fields = {"block": block.number, "validator": block.validator, "content": content_of(block)}
        log.info("block %(block)d by %(validator)s: %(content)s", fields)

    def undone(self, event: BlocksUndone) -> None:
        log.info("back at block %(block)d", {"block": event.head_number})


def content_of(block: Block) -> str:
    if not block.transactions:
        return "empty"
    counts = Counter(name_of(type(each)) for transaction in block.transactions for each in transaction.operations)
    named = [name if count == 1 else f"{count} {name}" for name, count in counts.most_common(MOST_NAMED)]
    if len(counts) > MOST_NAMED:
        named.append("…")
    return f"{many(len(block.transactions), 'transaction')} ({', '.join(named)})"
