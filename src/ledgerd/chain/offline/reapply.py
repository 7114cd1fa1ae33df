"""Applies blocks to a second chain that a chain of this node has applied before: for what followers missed.

There is no branch to choose, nothing waits, and no signature is looked at again: blocks go straight to the trunk.
"""

from __future__ import annotations

from collections.abc import Callable

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.skip import VERIFIED_BEFORE, SkipFlags
from ledgerd.chain.offline.replay import BlockSource
from ledgerd.codec import codec_of
from ledgerd.codec.errors import DecodeError
from ledgerd.protocol.block import Block
from ledgerd.protocol.errors import OperatorError, RuleViolation

BLOCKS_A_COMMIT = 500
"""A kill loses no more than this."""

BYTES_A_COMMIT = 4 * 1024 * 1024


def reapply(
    chain: Chain,
    source: BlockSource,
    progress: Callable[[int], None] = lambda _height: None,
    skip: SkipFlags = VERIFIED_BEFORE,
) -> int:
    """Apply the blocks of a source that the chain does not have yet; returns how many.

    Raises:
        OperatorError: A block breaks a rule. Everything before it is applied and committed.
    """
    trunk, codec = chain.parts.trunk, codec_of(Block)
    count, size = 0, 0
    try:
        for number, packed in source.scan(chain.head_number + 1, source.head_number):
            try:
                trunk.apply(codec.decode(packed), skip)
            except (DecodeError, RuleViolation) as problem:
                raise OperatorError(f"block {number} cannot be applied once more: {problem}") from problem
            count += 1
            size += len(packed)
            if count % BLOCKS_A_COMMIT == 0 or size >= BYTES_A_COMMIT:
                chain.commit()
                size = 0
                progress(number)
    finally:
        chain.forget_branches()
        chain.commit()
    progress(chain.head_number)
    return count
