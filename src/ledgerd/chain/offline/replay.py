"""Applying blocks that are on this machine: of a log above the head of a state, or of this node's chain to a second
one, for what observers missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.skip import VERIFIED_BEFORE, Skip, SkipFlags
from ledgerd.codec import codec_of
from ledgerd.codec.errors import DecodeError
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import OperatorError, RuleViolation

BLOCKS_A_COMMIT = 1000
"""What changes many times between two commits is written once; a kill loses no more than this."""

BYTES_A_COMMIT = 4 * 1024 * 1024
"""Full blocks are committed earlier, so that a batch stays small in memory too."""

FIRST_BLOCKS = 100
"""Among these the log of another network breaks a rule, for its accounts are others."""


Numbered = Iterator[tuple[int, bytes]]
Reader = Callable[[Numbered], Iterator[tuple[int, Block]]]
"""Decodes the packed blocks of a log; it may read ahead."""


def decoded(packed: Numbered) -> Iterator[tuple[int, Block]]:
    for number, each in packed:
        yield number, codec_of(Block).decode(each)


class BlockSource(Protocol):
    """A block log that is only read."""

    @property
    def head_number(self) -> int: ...
    def scan(self, first: int, last: int, /) -> Iterator[tuple[int, bytes]]: ...


def replay(
    chain: Chain,
    source: BlockSource,
    *,
    to: int | None = None,
    skip: SkipFlags = Skip.NOTHING,
    progress: Callable[[int], None] = lambda _height: None,
    goes_on: Callable[[], bool] = lambda: True,
    read: Reader = decoded,
) -> int:
    """Returns how many; an `OperatorError` names a broken rule, and everything before it is applied and committed."""
    last = source.head_number if to is None else min(to, source.head_number)
    first = chain.head_number + 1
    count, size = 0, 0
    blocks = read(source.scan(first, last))
    while goes_on():
        try:
            number, block = next(blocks, (0, None))
        except DecodeError as problem:
            chain.commit()
            raise OperatorError(f"block {first + count} of the log cannot be applied: {problem}") from problem
        if block is None:
            break
        violation = chain.push_block(block, skip, commit=False).violation
        if violation is not None:
            chain.commit()
            of = f"; it may be the log of another network than {chain.network.name}" if number <= FIRST_BLOCKS else ""
            raise OperatorError(f"block {number} of the log cannot be applied: {violation}{of}") from violation
        if chain.head_number != number:
            chain.commit()
            raise OperatorError(f"block {number} of the log does not continue block {chain.head_number} of this chain")
        count += 1
        size += len(block.packed)
        if count % BLOCKS_A_COMMIT == 0 or size >= BYTES_A_COMMIT:
            chain.commit()
            size = 0
            progress(number)
    chain.commit()
    progress(chain.head_number)
    return count


def reapply(
    chain: Chain,
    source: BlockSource,
    progress: Callable[[int], None] = lambda _height: None,
    skip: SkipFlags = VERIFIED_BEFORE,
) -> int:
    """Returns how many; an `OperatorError` names a broken rule, and everything before it is applied and committed."""
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
