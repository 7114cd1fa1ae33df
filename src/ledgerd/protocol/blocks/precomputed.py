"""What the bytes of a block decide without any state, so that another process can compute it ahead of the rules: id,
merkle root, the ids of transactions, whether their operations are well formed, and the keys that signed.

The results travel as plain bytes, in a fixed layout. A key that cannot be recovered, and a transaction that is not well
formed, are left to the rules, which raise the error.
"""

from __future__ import annotations

import struct

from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import KEY_SIZE, NULL_KEY, PublicKey
from ledgerd.protocol.crypto.signatures import Signature, recover
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.types.identifiers import BlockId, MerkleRoot, TransactionId

OF_BLOCK = struct.Struct("<20s20s33s")
"""Id, merkle root, the key of the validator; zeros stand for none."""
OF_TRANSACTION = struct.Struct("<20s?")
"""Id, and whether it is well formed; then a key for each signature."""


def precompute(block: Block, network: ChainParameters, *, with_signers: bool = True) -> bytes:
    parts = [OF_BLOCK.pack(block.id, block.merkle_root, _key(block.validator_signature, block.header.digest))]
    for transaction in block.transactions:
        parts.append(OF_TRANSACTION.pack(transaction.id, _is_well_formed(transaction, network)))
        if not with_signers:
            parts.append(bytes(KEY_SIZE * len(transaction.signatures)))
            continue
        digest = transaction.signature_digest(network.chain_id)
        parts += [_key(signature, digest) for signature in transaction.signatures]
    return b"".join(parts)


def apply_precomputed(block: Block, chain_id: bytes, results: bytes, place: int) -> int:
    """Store the results for a block, which begin at a place, where its properties find them; the place after them."""
    block_id, root, key = OF_BLOCK.unpack_from(results, place)
    place += OF_BLOCK.size
    block.remember(BlockId(block_id), MerkleRoot(root), None if key == NULL_KEY else PublicKey(key))
    for transaction in block.transactions:
        transaction_id, is_well_formed = OF_TRANSACTION.unpack_from(results, place)
        place += OF_TRANSACTION.size
        count = len(transaction.signatures)
        end = place + count * KEY_SIZE
        if count == 1:
            signers = frozenset((PublicKey(results[place:end]),))
        else:
            signers = frozenset([PublicKey(results[at : at + KEY_SIZE]) for at in range(place, end, KEY_SIZE)])
        place = end
        transaction.remember(TransactionId(transaction_id), chain_id, is_well_formed=is_well_formed)
        if len(signers) == count and NULL_KEY not in signers:
            transaction.remember_signers(chain_id, signers)
    return place


def _key(signature: Signature, digest: bytes) -> PublicKey:
    try:
        return recover(signature, digest)
    except RuleViolation:
        return NULL_KEY


def _is_well_formed(transaction: Transaction, network: ChainParameters) -> bool:
    try:
        transaction.check(network)
    except RuleViolation:
        return False
    return True
