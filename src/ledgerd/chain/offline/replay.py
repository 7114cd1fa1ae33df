"""Applying blocks that are on this machine: of a log above the head of a state, or of this node's chain to a second
one, for what observers missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Protocol

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.skip import VERIFIED_BEFORE, Skip, SkipFlags
from ledgerd.codec import codec_of
from ledgerd.codec.errors import DecodeError
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import OperatorError, RuleViolation

BLOCKS_A_COMMIT = 2000
"""What changes many times between two commits is written once; a kill loses no more than this."""

BYTES_A_COMMIT, SECONDS_A_COMMIT = 4 * 1024 * 1024, 2.0
"""Blocks that are large or slow are committed earlier: a batch stays small in memory, and a kill loses little time."""

BLOCKS_AT_ONCE, BYTES_AT_ONCE = 50, 256 * 1024
"""Blocks that are handed to the chain together."""

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
    """Returns how many; an `OperatorError` names a broken rule, and everything before it is applied and committed.

    The blocks of a log were irreversible when they were written there, and none of them is undone again.
    """
    last = source.head_number if to is None else min(to, source.head_number)
    first = chain.head_number + 1
    blocks, clock = read(source.scan(first, last)), chain.parts.trunk.clock
    since, size, began = 0, 0, clock()
    while goes_on():
        some, problem = _next_of(blocks, min(BLOCKS_AT_ONCE, BLOCKS_A_COMMIT - since))
        _apply(chain, some, skip)
        if problem is not None:
            chain.commit()
            raise OperatorError(f"block {chain.head_number + 1} of the log cannot be applied: {problem}") from problem
        if not some:
            break
        since += len(some)
        size += sum([len(block.packed) for block in some])
        is_late = clock() - began >= SECONDS_A_COMMIT
        if since >= BLOCKS_A_COMMIT or size >= BYTES_A_COMMIT or is_late:
            chain.commit()
            since, size, began = 0, 0, clock()
            progress(chain.head_number)
    chain.commit()
    progress(chain.head_number)
    return chain.head_number + 1 - first


def _next_of(blocks: Iterator[tuple[int, Block]], most: int) -> tuple[list[Block], DecodeError | None]:
    """The next blocks, so many at most; and what is wrong with the one behind them."""
    found, size = [], 0
    try:
        for _, block in islice(blocks, most):
            found.append(block)
            size += len(block.packed)
            if size >= BYTES_AT_ONCE:
                break
    except DecodeError as problem:
        return found, problem
    return found, None


def _apply(chain: Chain, blocks: Sequence[Block], skip: SkipFlags) -> None:
    """`OperatorError`: a block breaks a rule or does not continue the chain; everything before it is committed."""
    while blocks:
        before = chain.head_number
        outcomes = chain.push_blocks(blocks, skip, for_good=True)
        number, violation = before + len(outcomes), outcomes[-1].violation
        if violation is not None:
            chain.commit()
            of = f"; it may be the log of another network than {chain.network.name}" if number <= FIRST_BLOCKS else ""
            raise OperatorError(f"block {number} of the log cannot be applied: {violation}{of}") from violation
        if chain.head_number != number:
            chain.commit()
            raise OperatorError(f"block {number} of the log does not continue block {chain.head_number} of this chain")
        blocks = blocks[len(outcomes) :]


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
