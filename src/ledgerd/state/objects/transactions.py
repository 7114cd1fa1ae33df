"""Transactions that have not expired, the ids of the last blocks (spec 02, section 3.13), and the blocks that may
still be taken back: kept in the state, so that a restart loses none of them; those are ours, not consensus.
"""

from __future__ import annotations

from ledgerd.codec.types.numbers import UInt32
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId, TransactionId
from ledgerd.protocol.types.times import Time
from ledgerd.state.tables.keys import UINT32
from ledgerd.state.tables.tables import Entity, Table, unique

TRANSACTION_ID_SIZE = 20
BLOCK_SUMMARY_COUNT = 0x10000
"""A block's summary has the lower half of the block's number as its id."""


class KnownTransaction(Entity):
    """A transaction that may not come a second time."""

    NAME = "transaction"

    packed_trx: bytes = b""
    trx_id: TransactionId = TransactionId(bytes(TRANSACTION_ID_SIZE))
    expiration: Time = 0


class BlockSummary(Entity):
    """The id of a block that transactions may refer to."""

    block_id: BlockId = NO_BLOCK


KNOWN_TRANSACTIONS = Table(KnownTransaction, number=4)

BLOCK_SUMMARIES = Table(BlockSummary, number=5)


class ReversibleBlock(Entity):
    """A block of the trunk that has not gone to the block log yet."""

    number: UInt32 = 0
    packed: bytes = b""


REVERSIBLE_BLOCKS = Table(ReversibleBlock, number=100)
REVERSIBLE_BY_NUMBER = unique(REVERSIBLE_BLOCKS, "by_number", lambda block: (block.number,), (UINT32,), is_certain=True)
