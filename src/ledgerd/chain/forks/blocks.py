"""Looking blocks up: in the fork database, on the trunk, or in the log (spec 03, section 23)."""

from __future__ import annotations

from ledgerd.chain.forks.database import ForkDatabase
from ledgerd.chain.forks.trunk import Trunk
from ledgerd.chain.log.block_log import BlockLog
from ledgerd.chain.log.files import DamageReports, LogDamaged
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId, block_number_of
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, BLOCK_SUMMARY_COUNT


class Blocks:
    """Blocks by number and by id."""

    def __init__(self, trunk: Trunk, forks: ForkDatabase, log: BlockLog) -> None:
        self._trunk = trunk
        self._forks = forks
        self._log = log
        self.damage = DamageReports()

    def id_at(self, number: int) -> BlockId:
        """The id of the trunk's block of a number; zeros when there is none."""
        if number == 0 or number > self._trunk.head_number:
            return NO_BLOCK
        summary = self._trunk.store.get(BLOCK_SUMMARIES, number % BLOCK_SUMMARY_COUNT)
        if block_number_of(summary.block_id) == number:
            return summary.block_id
        block = self._readable(number)
        return NO_BLOCK if block is None else block.id

    def at(self, number: int) -> Block | None:
        """The trunk's block of a number. `LogDamaged`: it is in the log, and has rotted there."""
        if number > self._trunk.head_number:
            return None
        return self._trunk.reversible(number) or self._log.block(number)

    def fetch(self, block_id: BlockId) -> Block | None:
        known = self._forks.fetch(block_id)
        if known is not None:
            return known
        block = self._readable(block_number_of(block_id))
        return block if block is not None and block.id == block_id else None

    def is_on_trunk(self, block_id: BlockId) -> bool:
        return block_id != NO_BLOCK and self.id_at(block_number_of(block_id)) == block_id

    def _readable(self, number: int) -> Block | None:
        """The trunk's block of a number for whom strangers make ask: one that has rotted is told of, and is none."""
        try:
            return self.at(number)
        except LogDamaged as problem:
            self.damage.report(problem)
            return None
