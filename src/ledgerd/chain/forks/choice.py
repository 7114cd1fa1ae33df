"""Fork choice: linking, comparing branches, and switching between them (spec 03, section 9)."""

from __future__ import annotations

import logging
from collections.abc import Collection

from ledgerd.chain.forks.blocks import Blocks
from ledgerd.chain.forks.database import BlockTooOld, Branch, ForkDatabase, ForkItem, UnlinkableBlock
from ledgerd.chain.forks.linking import Linking
from ledgerd.chain.forks.outcome import (
    FARTHEST_AHEAD,
    AlreadyKnown,
    Applied,
    BranchRefused,
    OnBranch,
    Outcome,
    Refused,
    Switched,
    TooOld,
    Unlinked,
)
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


class ForkChoice:
    """Takes blocks in, and keeps the trunk on the best branch."""

    def __init__(self, trunk: Trunk, forks: ForkDatabase, blocks: Blocks, linking: Linking, pending: Pending) -> None:
        self.trunk = trunk
        self.forks = forks
        self._blocks = blocks
        self._pending = pending
        self._linking = linking

    # -- the one way in

    def push(self, block: Block, skip: SkipFlags = Skip.NOTHING, *, instead_of: Collection[BlockId] = ()) -> Outcome:
        """Take a block in, and return what became of it; no rule is raised."""
        try:
            return self._push(block, skip, instead_of)
        except BlockTooOld as rule:
            return TooOld(rule)
        except UnlinkableBlock as rule:
            return self._unlinked(block, rule)
        except RuleViolation as rule:
            return Refused(rule)

    def _push(self, block: Block, skip: SkipFlags, instead_of: Collection[BlockId]) -> Outcome:
        trunk, forks = self.trunk, self.forks
        for rival in instead_of:
            forks.remove(rival)
        if block.number <= trunk.head_number:
            if self._blocks.id_at(block.number) == block.id:
                self._linking.keep(block)
                return AlreadyKnown()
            self._linking.link_below(block)
        is_ahead = block.number > trunk.head_number and block.previous not in (NO_BLOCK, trunk.head_id)
        if is_ahead and block.number - trunk.head_number > FARTHEST_AHEAD:
            return self._unlinked(block)
        best = self._linking.admit(block)
        if best is None:
            return self._unlinked(block)
        if block.previous == trunk.head_id:
            return self._extend(block, skip)
        if best.block.previous == trunk.head_id:
            # The best candidate would extend the head, but was refused there: no reason to leave the trunk for this
            # block. (The reference tries to apply this block on the head here, and forgets it when that fails.)
            return OnBranch()
        return self._switch(best, skip) if self._is_better(best) else OnBranch()

    def _unlinked(self, block: Block, rule: RuleViolation | None = None) -> Unlinked:
        behind = self.trunk.head_number - block.number
        has_parent = behind >= 0 and block.previous != NO_BLOCK and self._blocks.fetch(block.previous) is not None
        return Unlinked(behind, self.forks.is_known(block.id), has_parent, rule)

    # -- a block that extends the head

    def _extend(self, block: Block, skip: SkipFlags) -> Outcome:
        try:
            self.trunk.apply(block, skip)
        except WrongScheduledValidator:
            # It stays among the candidates: a branch that is switched to may hold it (spec 03, section 9.6).
            return OnBranch()
        except RuleViolation:
            self.forks.remove(block.id)
            raise
        for sibling in self.forks.items_at(block.number):
            if sibling.id != block.id and sibling.block.previous not in self.forks:
                self.forks.remove(sibling.id)
        self._cascade(skip)
        return Applied()

    def _cascade(self, skip: SkipFlags) -> None:
        """Apply the candidates that waited for this block, as long as each continues the one before."""
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
            log.warning("waiting blocks above %d are refused: %s", before, problem)
            head = self._blocks.fetch(trunk.head_id)
            while trunk.head_number > before and trunk.can_pop():
                self._pop()
            self._linking.restart(head)

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

    def _switch(self, new_head: ForkItem, skip: SkipFlags) -> Outcome:
        """Switch to the new branch; return to the old one when a block of the new one breaks a rule.

        Nothing is undone before both branches are linked down to their common parent: a branch can be judged only when
        it is complete.
        """
        if self.trunk.head_id not in self.forks:
            self.forks.remove(new_head.id)
            raise UnlinkableBlock("the head is not in the fork database")
        try:
            new, old = self.forks.branches(new_head.id, self.trunk.head_id)
        except UnlinkableBlock:
            self._linking.restart()
            raise
        if self._is_linear(new, old):
            return self._apply_branch(new_head, new[:-1], [], skip)
        log.info("switching from block %d to a branch of %d blocks", self.trunk.head_number, len(new))
        if not self._pop_down_to(old[-1].block.previous):
            self.forks.remove(new_head.id)
            raise UnlinkableBlock("the branches part below the irreversible block")
        return self._apply_branch(new_head, new, old, skip)

    def _apply_branch(self, new_head: ForkItem, new: Branch, old: Branch, skip: SkipFlags) -> Outcome:
        base, was_out_of_turn = self.trunk.head_id, False
        for place in range(len(new) - 1, -1, -1):
            try:
                was_out_of_turn |= self._apply_switched(new[place].block, skip)
            except RuleViolation as problem:
                log.warning("block %d of the branch breaks a rule: %s", new[place].number, problem)
                self._give_up(new[: place + 1], old, base, skip)
                return BranchRefused(problem, new[place].number)
        if was_out_of_turn and not old:
            self._turn_schedule_to(AccountName(new_head.block.validator))
        self.forks.head = new_head
        return Switched() if old else Applied()

    def _apply_switched(self, block: Block, skip: SkipFlags) -> bool:
        """Inside a branch, a producer out of turn is accepted at the second try (spec 03, section 9.6, quirk)."""
        try:
            self.trunk.apply(block, skip)
        except WrongScheduledValidator:
            self.trunk.apply(block, skip | Skip.VALIDATOR_SCHEDULE)
            return True
        return False

    def _turn_schedule_to(self, producer: AccountName) -> None:
        """After a run of blocks out of turn, the next slot is the one after their last producer's (same quirk)."""
        ledger = self.trunk.ledger
        scheduled, globals_ = ledger.schedule.scheduled, ledger.globals
        if producer in scheduled:
            behind = (scheduled.index(producer) - globals_.current_aslot) % len(scheduled)
            with ledger.editing(globals_):
                globals_.current_aslot += behind

    def _give_up(self, refused: Branch, old: Branch, base: BlockId, skip: SkipFlags) -> None:
        """Return to the old branch; remove the block that broke the rule, and all above it, from the candidates."""
        for item in refused:
            self.forks.remove(item.id)
        self._pop_down_to(base)
        for item in reversed(old):
            self.trunk.apply(item.block, skip)
        if old:
            self.forks.head = old[0]
        else:
            self._linking.restart()

    def _pop_down_to(self, block_id: BlockId) -> bool:
        while self.trunk.head_id != block_id:
            if not self.trunk.can_pop():
                return False
            self._pop()
        return True

    def pop(self) -> None:
        """Undo the head block; its parent is the head."""
        self._pop()
        self.forks.pop()

    def _pop(self) -> None:
        self._pending.give_back(self.trunk.pop().transactions)
