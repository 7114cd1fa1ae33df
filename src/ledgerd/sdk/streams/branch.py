"""The blocks that a stream has given and that may still be undone. Bounded; nothing here asks a node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.identifiers import BlockId, block_number_of


class GivenBlock(NamedTuple):
    """A block of the branch."""

    id: BlockId
    block: Block | None

    @property
    def number(self) -> int:
        return block_number_of(self.id)


class GivenBranch:
    """The blocks that were given last: from the oldest one after which a fork may begin, to the tip."""

    def __init__(self, most: int, known: Iterable[BlockId] = ()) -> None:
        self._most = most
        self._blocks = [GivenBlock(each, None) for each in sorted(known, key=block_number_of)]
        self.is_all = not self._blocks
        """Whether it has everything that was given: a fork that begins below the first block is no loss then."""
        self.irreversible = 0
        """The highest number that nodes have called irreversible while the block was in the branch."""

    @property
    def tip(self) -> GivenBlock | None:
        return self._blocks[-1] if self._blocks else None

    @property
    def oldest(self) -> GivenBlock:
        return self._blocks[0]

    def has(self, block: BlockId) -> bool:
        return any(each.id == block for each in reversed(self._blocks))

    def contradicts(self, block: BlockId) -> bool:
        """Whether another block of this number is in the branch."""
        number = block_number_of(block)
        return any(each.number == number and each.id != block for each in self._blocks)

    def begin_behind(self, block: BlockId) -> None:
        self._blocks = [GivenBlock(block, None)]

    def leap_to(self, block: BlockId) -> None:
        """Go on behind an irreversible block, of which those between it and the tip were not given."""
        self.begin_behind(block)
        self.is_all = False
        self.irreversible = max(self.irreversible, block_number_of(block))

    def add(self, block: Block) -> None:
        if not self._blocks:
            self.begin_behind(block.previous)
        self._blocks.append(GivenBlock(block.id, block))

    def settle(self, number: int) -> None:
        """Record that no block up to this number will be undone, and forget those below it."""
        self.irreversible = max(self.irreversible, number)
        while len(self._blocks) > 1 and (self._blocks[1].number <= self.irreversible or len(self._blocks) > self._most):
            del self._blocks[0]
            self.is_all = False

    def begin_again(self, block: BlockId) -> list[GivenBlock]:
        """Remove everything that was given, since the chain differs before it already; the newest comes first."""
        cut = self._blocks[:0:-1]
        self.begin_behind(block)
        return cut

    def cut_behind(self, block: BlockId) -> list[GivenBlock]:
        """Remove what follows a block of the branch; the newest comes first."""
        place = next(place for place, each in enumerate(self._blocks) if each.id == block)
        cut = self._blocks[:place:-1]
        del self._blocks[place + 1 :]
        return cut
