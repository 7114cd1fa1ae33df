"""Linking: how a block becomes a candidate, and how the candidates stay linked to the trunk (spec 03, sections 8 and
9). Besides fork choice, the only writer of the fork database.
"""

from __future__ import annotations

from collections.abc import Iterable

from ledgerd.chain.forks.blocks import Blocks
from ledgerd.chain.forks.database import BlockTooOld, ForkDatabase, ForkItem, UnlinkableBlock
from ledgerd.chain.forks.refused import RefusedBlocks
from ledgerd.chain.forks.trunk import Trunk
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.identifiers import NO_BLOCK


class Linking:
    """Keeps the candidates of the fork database linked to the trunk."""

    def __init__(self, trunk: Trunk, forks: ForkDatabase, blocks: Blocks, refused: RefusedBlocks) -> None:
        self._trunk = trunk
        self.refused = refused
        self.forks = forks
        self.blocks = blocks

    def begin(self) -> None:
        """After a start: branches may leave the trunk from the irreversible block on."""
        trunk, forks = self._trunk, self.forks
        forks.is_emergency = trunk.ledger.globals.emergency_consensus_active
        for number in range(max(1, trunk.irreversible), trunk.head_number + 1):
            block = self.blocks.at(number)
            if block is not None:
                if forks.head is None:
                    forks.start(block)
                else:
                    forks.push(block)
        if trunk.head_number and forks.head is None:
            forks.anchor(trunk.head_id)

    def follow_trunk(self) -> None:
        """Narrow the window of the fork database to the irreversible block, after the head may have moved."""
        head = self._trunk.ledger.globals
        self.forks.is_emergency = head.emergency_consensus_active
        if head.head_block_id != NO_BLOCK:
            self.forks.narrow(head.head_block_number - head.last_irreversible_block_num + 1)

    def follow(self, applied: Iterable[Block]) -> None:
        """Make those of the blocks that were applied candidates that a branch may leave: others would go at once."""
        lowest = self._trunk.irreversible - 1
        for block in applied:
            if block.number >= lowest:
                self.forks.follow(block)

    def admit(self, block: Block) -> ForkItem | None:
        """Make a block a candidate: the only place where one from outside becomes so.

        Gives the tip of the longest branch, which need not be it; or nothing where it waits for the blocks between the
        head and itself.
        """
        trunk = self._trunk
        if block.previous == trunk.head_id and trunk.head_id not in self.forks:
            self._start_at_head()
        try:
            return self.forks.push(block)
        except UnlinkableBlock:
            if block.number > trunk.head_number and block.previous not in (NO_BLOCK, trunk.head_id):
                return None
            raise

    def keep(self, block: Block) -> None:
        """Keep a block of the trunk that arrived again: branches may leave the trunk there."""
        if block.id not in self.forks:
            self.forks.insert_base(block)

    def link_below(self, block: Block) -> None:
        """Before a block that is no higher than the head is admitted: what it links to has to be a candidate."""
        self._link_trunk_below(block)
        if block.previous == NO_BLOCK or self.forks.is_known(block.previous):
            return
        parent = self.blocks.fetch(block.previous)
        if parent is None:
            raise UnlinkableBlock("block from a dead fork: its parent is not known")
        try:
            self.forks.push(parent)
        except (UnlinkableBlock, BlockTooOld):
            return

    def _link_trunk_below(self, block: Block) -> None:
        """Where a branch leaves the trunk, the candidates must hold the trunk from there on, or it could never win.

        They lose it when they are begun again at the head (spec 03, sections 9.3 and 9.9).
        """
        trunk, forks = self._trunk, self.forks
        if block.number <= trunk.irreversible or not self.blocks.is_on_trunk(block.previous):
            return
        item = forks.find(trunk.head_id)
        while item is not None and item.number >= block.number:
            item = forks.parent_of(item)
        if item is None:
            for number in range(trunk.head_number, block.number - 2, -1):
                base = self.blocks.at(number)
                if base is not None:
                    forks.insert_base(base)

    def restart(self, head: Block | None = None) -> None:
        """Drop all candidates, and start again at the head, or at the given block."""
        self.forks.reset()
        if head is None:
            self._start_at_head()
        else:
            self.forks.start(head)

    def _start_at_head(self) -> None:
        """Where the head block is not to be had, its id is enough for others to follow (spec 10, section 9.1)."""
        head = self.blocks.at(self._trunk.head_number)
        if head is None:
            self.forks.anchor(self._trunk.head_id)
        else:
            self.forks.start(head)
