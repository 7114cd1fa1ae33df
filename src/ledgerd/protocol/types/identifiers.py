"""Identifiers: the hashes that name blocks, transactions and chains, and those that hide a bet; ids of objects."""

from __future__ import annotations

from typing import NewType

from ledgerd.codec import declare
from ledgerd.codec.types.strings import FixedBytes

BlockId = NewType("BlockId", bytes)
"""Twenty bytes, the first four of which are the block's number, big-endian."""

TransactionId = NewType("TransactionId", bytes)
"""Twenty bytes."""

MerkleRoot = NewType("MerkleRoot", bytes)
"""Twenty bytes."""

ChainId = NewType("ChainId", bytes)
"""Thirty-two bytes."""

Commitment = NewType("Commitment", bytes)
"""Thirty-two bytes: the hash of a bet that is not shown yet."""

NO_COMMITMENT = Commitment(bytes(32))

declare(BlockId, FixedBytes(20, "block id"))
declare(TransactionId, FixedBytes(20, "transaction id"))
declare(MerkleRoot, FixedBytes(20, "merkle root"))
declare(ChainId, FixedBytes(32, "chain id"))
declare(Commitment, FixedBytes(32, "commitment"))

NO_BLOCK = BlockId(bytes(20))
"""The id before the first block's."""


def block_number_of(block: BlockId) -> int:
    return int.from_bytes(block[:4], "big")


def block_number_of_hex(block: str) -> int:
    """The same for a block id in hex; `ValueError` if it does not begin with one."""
    return int(block[:8], 16)
