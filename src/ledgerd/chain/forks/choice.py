"""Which block is the head: linking, the weight of branches, and switching between them (spec 03, section 9)."""

from __future__ import annotations

import logging

from ledgerd.chain.forks.blocks import Blocks
from ledgerd.chain.forks.database import BlockTooOld, ForkDatabase, ForkItem, UnlinkableBlock
from ledgerd.chain.forks.trunk import Trunk
from ledgerd.chain.ledger.skip import Skip, SkipFlags
from ledgerd.chain.pending.pending import Pending
from ledgerd.chain.steps.header import WrongScheduledValidator
from ledgerd.protocol.block import Block
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.identifiers import NO_BLOCK, BlockId
from ledgerd.protocol.names import AccountName

log = logging.getLogger(__name__)

FARTHEST_AHEAD = 100
"""A block further above the head than this is not even kept: whole ranges are synced, not collected."""

Branch = list[ForkItem]
"""Tip first, as the fork database gives it."""


class ForkChoice:
    """Takes blocks in, and keeps the trunk on the branch that wins."""

    def __init__(self, trunk: Trunk, forks: ForkDatabase, blocks: Blocks, pending: Pending) -> None:
        self.trunk = trunk
        self.forks = forks
        self._blocks = blocks
        self._pending = pending

    def push(self, block: Block, skip: SkipFlags) -> bool:
        """Take a block in; whether the head has moved. A block that can never be applied raises."""
        trunk, forks = self.trunk, self.forks
        if block.number <= trunk.head_number:
            if self._blocks.id_at(block.number) == block.id:
                if block.id not in forks:
                    forks.insert_base(block)
                return False
            self._recover_parent(block)
        is_ahead = block.number > trunk.head_number and block.previous not in (NO_BLOCK, trunk.head_id)
        if is_ahead and block.number - trunk.head_number > FARTHEST_AHEAD:
            return False
        if block.previous == trunk.head_id and trunk.head_id not in forks:
            self._start_at_head()
        try:
            new_head = forks.push(block)
        except UnlinkableBlock:
            if is_ahead:
                return False
            raise
        if block.previous == trunk.head_id:
            return self._extend(block, skip)
        if new_head.block.previous == trunk.head_id:
            # The best candidate would extend the head, but was refused there: no reason to leave the trunk for this
            # block. (The reference tries to apply this block on the head here, and forgets it when that fails.)
            return False
        return self._is_better(new_head) and self._switch(new_head, skip)

    # -- a block that extends the head

    def _extend(self, block: Block, skip: SkipFlags) -> bool:
        try:
            self.trunk.apply(block, skip)
        except WrongScheduledValidator:
            # It stays among the candidates: a branch that is switched to may hold it (spec 03, section 9.6).
            return False
        except RuleViolation:
            self.forks.remove(block.id)
            raise
        for sibling in self.forks.items_at(block.number):
            if sibling.id != block.id and sibling.block.previous not in self.forks:
                self.forks.remove(sibling.id)
        self._cascade(skip)
        return True

    def _cascade(self, skip: SkipFlags) -> None:
        """Blocks that had waited for this one follow at once, where they continue it in a line."""
        tip, trunk = self.forks.head, self.trunk
        if tip is None or tip.number <= trunk.head_number or trunk.head_id not in self.forks:
            return
        before = trunk.head_number
        try:
            new, old = self.forks.branches(tip.id, trunk.head_id)
            if not self._is_linear(new, old):
                return
            for item in reversed(new[:-1]):
                trunk.apply(item.block, skip)
            self.forks.head = tip
        except RuleViolation as problem:
            log.warning("blocks above %d do not continue it: %s", before, problem)
            head = self._blocks.fetch(trunk.head_id)
            while trunk.head_number > before and trunk.can_pop():
                self._pop()
            self.forks.reset()
            if head is not None:
                self.forks.start(head)

    # -- branches

    def _is_better(self, new_head: ForkItem) -> bool:
        trunk = self.trunk
        if not trunk.ledger.hardfork(12):
            return new_head.number > trunk.head_number
        if new_head.number < trunk.head_number or trunk.head_id not in self.forks:
            return False
        order = self.compare(new_head.id, trunk.head_id)
        return order > 0 or (order == 0 and new_head.number > trunk.head_number)

    def compare(self, first: BlockId, second: BlockId) -> int:
        """Which branch has more votes behind its producers: 1, -1, or 0 where it cannot be said (hardfork 12)."""
        try:
            one, two = self.forks.branches(first, second)
        except UnlinkableBlock:
            return 0
        weight_one, is_emergency_one = self._weight(one)
        weight_two, is_emergency_two = self._weight(two)
        if self.trunk.ledger.globals.emergency_consensus_active and is_emergency_one != is_emergency_two:
            return 1 if is_emergency_one else -1
        if one[0].number > two[0].number:
            weight_one += weight_one // 10
        elif two[0].number > one[0].number:
            weight_two += weight_two // 10
        return (weight_one > weight_two) - (weight_one < weight_two)

    def _weight(self, branch: Branch) -> tuple[int, bool]:
        """The votes of each producer once, as they are now; and whether the emergency account produced."""
        producers = {item.block.validator for item in branch}
        weight = 0
        for name in producers - {COMMITTEE_ACCOUNT}:
            validator = self.trunk.ledger.find_validator(AccountName(name))
            weight += 0 if validator is None else validator.votes
        return weight, COMMITTEE_ACCOUNT in producers

    def _is_linear(self, new: Branch, old: Branch) -> bool:
        """Whether the new branch simply continues the head."""
        head_id = self.trunk.head_id
        return len(old) == 1 and old[0].id == head_id and new[-1].id == head_id

    def _switch(self, new_head: ForkItem, skip: SkipFlags) -> bool:
        """Leave the old branch for the new one; back to the old one when the new one breaks a rule."""
        if self.trunk.head_id not in self.forks:
            self.forks.remove(new_head.id)
            raise UnlinkableBlock("the head is not in the fork database")
        try:
            new, old = self.forks.branches(new_head.id, self.trunk.head_id)
        except UnlinkableBlock:
            self._restart_at_head()
            raise
        if self._is_linear(new, old):
            return self._apply_branch(new_head, new[:-1], [], skip)
        log.info("switching from block %d to a branch of %d blocks", self.trunk.head_number, len(new))
        if not self._pop_down_to(old[-1].block.previous):
            self.forks.remove(new_head.id)
            raise UnlinkableBlock("the branches part below the irreversible block")
        return self._apply_branch(new_head, new, old, skip)

    def _apply_branch(self, new_head: ForkItem, new: Branch, old: Branch, skip: SkipFlags) -> bool:
        base, was_out_of_turn = self.trunk.head_id, False
        for place in range(len(new) - 1, -1, -1):
            try:
                was_out_of_turn |= self._apply_switched(new[place].block, skip)
            except RuleViolation as problem:
                log.warning("block %d of the branch breaks a rule: %s", new[place].number, problem)
                self._give_up(new[: place + 1], old, base, skip)
                return False
        if was_out_of_turn and not old:
            self._turn_schedule_to(AccountName(new_head.block.validator))
        self.forks.head = new_head
        return True

    def _apply_switched(self, block: Block, skip: SkipFlags) -> bool:
        """Inside a branch, a producer out of turn is accepted at the second try (spec 03, section 9.6, quirk)."""
        try:
            self.trunk.apply(block, skip)
        except WrongScheduledValidator:
            self.trunk.apply(block, skip | Skip.VALIDATOR_SCHEDULE)
            return True
        return False

    def _turn_schedule_to(self, producer: AccountName) -> None:
        """After a line of blocks out of turn, the next slot is the one behind their last producer (same quirk)."""
        ledger = self.trunk.ledger
        scheduled, globals_ = ledger.schedule.scheduled, ledger.globals
        if producer in scheduled:
            behind = (scheduled.index(producer) - globals_.current_aslot) % len(scheduled)
            with ledger.editing(globals_):
                globals_.current_aslot += behind

    def _give_up(self, refused: Branch, old: Branch, base: BlockId, skip: SkipFlags) -> None:
        """Back to the old branch; of the new one, what broke the rule and all above it is forgotten."""
        for item in refused:
            self.forks.remove(item.id)
        self._pop_down_to(base)
        for item in reversed(old):
            self.trunk.apply(item.block, skip)
        if old:
            self.forks.head = old[0]
        else:
            self._restart_at_head()

    def _pop_down_to(self, block_id: BlockId) -> bool:
        while self.trunk.head_id != block_id:
            if not self.trunk.can_pop():
                return False
            self._pop()
        return True

    def _pop(self) -> None:
        self._pending.give_back(self.trunk.pop().transactions)

    # -- keeping the fork database in touch with the trunk

    def _recover_parent(self, block: Block) -> None:
        """A block of another branch, whose parent has left the fork database: fetch it from the trunk."""
        if block.previous == NO_BLOCK or self.forks.is_known(block.previous):
            return
        parent = self._blocks.fetch(block.previous)
        if parent is None:
            raise UnlinkableBlock("block from a dead fork: its parent is not known")
        try:
            self.forks.push(parent)
        except (UnlinkableBlock, BlockTooOld):
            return

    def _start_at_head(self) -> None:
        head = self._blocks.at(self.trunk.head_number)
        if head is None:
            self.forks.anchor(self.trunk.head_id)
        else:
            self.forks.start(head)

    def _restart_at_head(self) -> None:
        self.forks.reset()
        self._start_at_head()
