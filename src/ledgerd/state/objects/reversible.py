"""Blocks that may still be taken back: kept in the state, so that a restart loses none of them. Ours, not consensus."""

from __future__ import annotations

from ledgerd.codec.numbers import UInt32
from ledgerd.state.keys import UINT32
from ledgerd.state.tables import Entity, Table, unique


class ReversibleBlock(Entity):
    """A block of the trunk that has not gone to the block log yet."""

    number: UInt32 = 0
    packed: bytes = b""


REVERSIBLE_BLOCKS = Table(ReversibleBlock, number=100)
REVERSIBLE_BY_NUMBER = unique(REVERSIBLE_BLOCKS, "by_number", lambda block: (block.number,), (UINT32,))
