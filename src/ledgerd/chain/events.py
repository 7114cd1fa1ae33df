"""Events of the chain: facts of committed blocks, in order (spec 02, section 18).

History, RPC and peers follow these; nothing else leaves the chain.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ledgerd.protocol.block import Block
from ledgerd.protocol.identifiers import BlockId, TransactionId
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations import Operation

NO_TRANSACTION = TransactionId(bytes(20))
AFTER_TRANSACTIONS = 65535
"""The place in the block of what happens after its transactions: a 16-bit minus one (spec 02, section 18.1)."""


class AppliedOperation(NamedTuple):
    """An operation that took effect, with its numbering: virtual ones count from one."""

    transaction_id: TransactionId
    block: int
    transaction_in_block: int
    operation_in_transaction: int
    virtual_operation: int
    timestamp: int
    operation: Operation


class BlockApplied(NamedTuple):
    """A block became the head."""

    block: Block
    operations: tuple[AppliedOperation, ...]
    average_block_size: int
    slot: int
    """The number of its slot, counted from the genesis (`current_aslot`)."""
    irreversible: int
    """The last irreversible block as soon as this one was applied."""
    missed: tuple[AccountName, ...] = ()
    """Whose slots between the block before and this one have no block, in the order of the slots."""


class BlocksUndone(NamedTuple):
    """A fork switch undid blocks; the head is again the one named here."""

    head_number: int
    head_id: BlockId


class IrreversibleAdvanced(NamedTuple):
    """No block up to this one can be undone any more."""

    number: int


Event = BlockApplied | BlocksUndone | IrreversibleAdvanced


class Lap(Enum):
    """Where the work on a block stands, for whoever takes the time of it: the chain has no clock."""

    APPLYING = "applying"
    APPLIED = "applied"
    """The block that came in has become the head."""
    COMMITTING = "committing"
    COMMITTED = "committed"
