"""Copies blocks from one history to another of the same chain, with all that was recorded of them."""

from __future__ import annotations

from ledgerd.chain.events import AppliedOperation, BlockApplied
from ledgerd.codec import codec_of
from ledgerd.history.embedded import CopiedBlock, EmbeddedStore
from ledgerd.history.errors import HistoryDamaged, PastRefused
from ledgerd.history.kept_facts import KeptFacts
from ledgerd.history.settings import HistorySettings
from ledgerd.protocol.block import Block


def copyable_from(facts: KeptFacts, wanted: HistorySettings) -> int:
    """The first block from which on a history has all of every block that is wanted; `PastRefused` if none can be."""
    first = facts.whole_from
    if wanted.balances:
        begins = facts.balances.begins
        if begins is None:
            raise PastRefused("the history has no balances yet: start the node with history-balances first")
        first = max(first, begins + 1)
    if wanted.journal != "none":
        begins = facts.journal.begins
        if begins is None:
            raise PastRefused("the history has no images of accounts yet: start the node with state-journal first")
        first = max(first, begins + 1)
    return first


def copy_blocks(facts: KeptFacts, store: EmbeddedStore, last: int) -> None:
    """Record the blocks behind the last one of a store; `PastRefused` where they do not follow it."""
    first = store.head_number + 1
    copies = [_copied(facts, number) for number in range(first, last + 1)]
    before = store.block(first - 1)
    if copies and before is not None:
        previous = codec_of(Block).decode_exactly(before).id
        if copies[0].event.block.previous != previous:
            raise PastRefused(f"block {first} does not follow block {previous.hex()}")
    store.copy(copies, min(last, facts.irreversible))


def _copied(facts: KeptFacts, number: int) -> CopiedBlock:
    packed = facts.packed(number)
    if packed is None:
        raise HistoryDamaged(f"block {number} is neither in it nor in the block log")
    kept = facts.block(number)
    operations = tuple(
        AppliedOperation(
            each.transaction_id,
            number,
            each.transaction_in_block,
            each.operation_in_transaction,
            each.virtual_operation,
            each.timestamp,
            each.operation,
        )
        for each in kept.operations
    )
    event = BlockApplied(codec_of(Block).decode_exactly(packed), operations, 0, 0, facts.irreversible, kept.missed)
    return CopiedBlock(event, kept.changes, facts.journal.images_of(number))
