"""Fork choice: linking, comparing branches, and switching between them (spec 03, section 9)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from functools import partial

from ledgerd.chain.forks import outcome
from ledgerd.chain.forks.database import BlockTooOld, Branch, ForkItem, UnlinkableBlock
from ledgerd.chain.forks.linking import Linking
from ledgerd.chain.forks.proof import Proof
from ledgerd.chain.forks.trial import (
    PIECE_SECONDS,
    Trial,
    TrialFailed,
    TrialsExhausted,
    TrunkMoved,
    apply_switched,
)
from ledgerd.chain.forks.trunk import Trunk
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.skip import Skip, SkipFlags
from ledgerd.chain.pending.pending import Pending
from ledgerd.chain.steps.header import WrongScheduledValidator, require_signed_in_turn
from ledgerd.chain.steps.transactions import check_contents
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from ledgerd.protocol.types.names import AccountName

log = logging.getLogger(__name__)

MOST_FAILED = 64


class ForkChoice:
    """Takes blocks in, and keeps the trunk on the best branch."""

    def __init__(self, trunk: Trunk, linking: Linking, pending: Pending, proof: Proof, trial: Trial) -> None:
        self.trunk = trunk
        self.forks = linking.forks
        self.refused = linking.refused
        self._blocks = linking.blocks
        self._pending = pending
        self._linking = linking
        self._proof = proof
        self._trial = trial
        self._failed: dict[AccountName, None] = {}
        """Validators whose blocks have made a branch fail: another branch with blocks of theirs is tried first."""

    @property
    def tried(self) -> int:
        """How many branches were applied beside the trunk."""
        return self._trial.tried

    # -- the one way in

    def push(
        self, block: Block, skip: SkipFlags = Skip.NOTHING, *, instead_of: Collection[BlockId] = ()
    ) -> outcome.Outcome:
        """Take a block in, and return what became of it; no rule is raised."""
        try:
            return self._push(block, skip, instead_of)
        except BlockTooOld as rule:
            return outcome.TooOld(rule)
        except UnlinkableBlock as rule:
            return self._unlinked(block, rule)
        except RuleViolation as rule:
            return outcome.Refused(rule)

    def _push(self, block: Block, skip: SkipFlags, instead_of: Collection[BlockId]) -> outcome.Outcome:
        trunk, forks = self.trunk, self.forks
        for rival in instead_of:
            forks.remove(rival)
        extends_head = block.previous == trunk.head_id
        if not extends_head:
            self._proof.check_whole(block)
        self.refused.check(block)
        if extends_head:
            self._linking.admit(block)
            return self._extend(block, skip)
        if block.number <= trunk.head_number:
            if self._blocks.id_at(block.number) == block.id:
                self._linking.keep(block)
                return outcome.AlreadyKnown()
            self._linking.link_below(block)
        is_ahead = block.number > trunk.head_number and block.previous != NO_BLOCK
        if is_ahead and block.number - trunk.head_number > outcome.FARTHEST_AHEAD:
            return self._unlinked(block)
        best = self._linking.admit(block)
        if best is None:
            return self._unlinked(block)
        if best.previous == trunk.head_id:
            # The best candidate would extend the head, but was refused there: no reason to leave the trunk for this
            # block. (The reference tries to apply this block on the head here, and forgets it when that fails.)
            return outcome.OnBranch()
        return self._switch(best, skip) if self._is_better(best) else outcome.OnBranch()

    def push_blocks(
        self, blocks: Sequence[Block], skip: SkipFlags, seconds: float, *, for_good: bool
    ) -> list[outcome.Outcome]:
        """Take in blocks, as `push` would one by one, as long as each continues the head and the time is not over: what
        became of each.

        It does so only while nothing waits and there is no branch: then most of them need not become candidates, and of
        each only the head is asked. It ends with a block that is refused. Those that are taken in for good go into one
        session; if they can't, they are applied one by one.
        """
        if not self._is_alone:
            return []
        applied: list[Block] = []
        rule = None
        try:
            if for_good and not any(map(self.refused.knows, blocks)) and self.trunk.apply_for_good(blocks, skip):
                applied = [*blocks]
            else:
                rule = self._apply_each(blocks, skip, self.trunk.clock() + seconds, applied)
        finally:
            self._linking.follow(applied)
        outcomes: list[outcome.Outcome] = [outcome.Applied()] * len(applied)
        if rule is not None:
            refused = blocks[len(applied)]
            self._linking.admit(refused)
            outcomes.append(self._refuse_on_head(refused, rule))
        return outcomes

    @property
    def _is_alone(self) -> bool:
        """Whether nothing but a block that continues the head could change anything."""
        is_quiet = self._pending.is_empty and not self._trial.branch
        return is_quiet and self.forks.is_only_trunk(self.trunk.head_id)

    def _apply_each(
        self, blocks: Sequence[Block], skip: SkipFlags, until: float, applied: list[Block]
    ) -> RuleViolation | None:
        """The rule that the one behind the applied ones breaks, if that is why it ends there."""
        for block in blocks:
            if block.previous != self.trunk.head_id or self.refused.knows(block):
                break
            try:
                self.trunk.apply(block, skip)
            except RuleViolation as rule:
                return rule
            applied.append(block)
            if self.trunk.clock() >= until:
                break
        return None

    def _unlinked(self, block: Block, rule: RuleViolation | None = None) -> outcome.Unlinked:
        behind = self.trunk.head_number - block.number
        has_parent = behind >= 0 and block.previous != NO_BLOCK and self._blocks.fetch(block.previous) is not None
        return outcome.Unlinked(behind, has_parent, rule)

    # -- a block that extends the head

    def _extend(self, block: Block, skip: SkipFlags) -> outcome.Outcome:
        try:
            if self._pending.transactions:
                self._check_header(block, skip)
            self._pending.undo()
            self.trunk.apply(block, skip)
        except RuleViolation as rule:
            return self._refuse_on_head(block, rule)
        for sibling in self.forks.items_at(block.number):
            if sibling.id != block.id and sibling.previous not in self.forks:
                self.forks.remove(sibling.id)
        self._cascade(skip)
        return outcome.Applied()

    def _refuse_on_head(self, block: Block, rule: RuleViolation) -> outcome.Outcome:
        """What becomes of a candidate that could not be applied on the head.

        Out of turn it stays one: a branch that is switched to may hold it (spec 03, section 9.6).
        """
        if isinstance(rule, WrongScheduledValidator):
            return outcome.OnBranch()
        self.forks.remove(block.id)
        if self._proof.is_meant(block):
            self.refused.add(block.id, rule)
        return outcome.Refused(rule)

    def _check_header(self, block: Block, skip: SkipFlags) -> None:
        """What a block is refused for by its header alone, before the waiting transactions are undone for it."""
        validator = self._pending.find_validator(AccountName(block.validator))
        if validator is not None:
            ledger = self.trunk.ledger
            skip = self.trunk.skipped(block, skip)
            check_contents(ledger, BlockContext(block, skip, ledger.now))
            require_signed_in_turn(ledger, block, validator, skip)

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
            log.warning("waiting blocks above %(block)d are refused: %(rule)s", {"block": before, "rule": problem})
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
        producers = {item.validator for item in branch}
        weight = 0
        for name in producers - {COMMITTEE_ACCOUNT}:
            validator = self._pending.find_validator(AccountName(name))
            weight += 0 if validator is None else validator.votes
        return weight, COMMITTEE_ACCOUNT in producers

    def _is_linear(self, new: Branch, old: Branch) -> bool:
        head_id = self.trunk.head_id
        return len(old) == 1 and old[0].id == head_id and new[-1].id == head_id

    def _switch(self, new_head: ForkItem, skip: SkipFlags) -> outcome.Outcome:
        """Switch to the new branch; return to the old one when a block of the new one breaks a rule.

        Nothing is undone before the new branch is proven by its signatures, or, where these do not say enough, has
        been applied beside the trunk.
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
            self._pending.undo()
            return self._apply_branch(new_head, new[:-1], [], skip)
        try:
            if not self._is_proven(new, skip):
                return outcome.OnBranch()
        except TrialsExhausted as problem:
            log.warning(
                "a branch of %(length)d blocks is left for later: %(reason)s", {"length": len(new), "reason": problem}
            )
            return outcome.OnBranch()
        except BranchFailed as failed:
            return self._refuse(failed)
        return self._switch_to(new_head, new, old, skip)

    def _refuse(self, failed: BranchFailed) -> outcome.Outcome:
        number = failed.branch[-1].number
        log.warning("block %(block)d of a branch breaks a rule: %(rule)s", {"block": number, "rule": failed.rule})
        self._forget(failed.branch, failed.rule)
        head = self.forks.find(self.trunk.head_id)
        if head is not None:
            self.forks.head = head  # with the tip of a bad branch gone, the longest branch that is left
        return outcome.BranchRefused(failed.rule, number)

    def _switch_to(self, new_head: ForkItem, new: Branch, old: Branch, skip: SkipFlags) -> outcome.Outcome:
        if not self.trunk.can_go_back_to(old[-1].number - 1):
            self.forks.remove(new_head.id)
            raise UnlinkableBlock("the branches part below the blocks that can be undone")
        self._pending.undo()
        log.info(
            "switching from block %(block)d to a branch of %(length)d blocks",
            {"block": self.trunk.head_number, "length": len(new)},
        )
        self._pop_down_to(old[-1].previous)
        return self._apply_branch(new_head, new, old, skip)

    def _is_proven(self, new: Branch, skip: SkipFlags) -> bool:
        """Whether the branch may be switched to, or a trial of it has begun that will tell; or raise what it breaks."""
        if skip & Skip.VALIDATOR_SIGNATURE:
            return True
        is_proven = not any(item.validator in self._failed for item in new)
        for place in range(len(new) - 1, -1, -1):
            try:
                is_proven &= self._proof.judge(new[place])
            except RuleViolation as rule:
                raise BranchFailed(new[: place + 1], rule) from rule
        if is_proven:
            return True
        self._pending.undo()
        try:
            return self._trial.run(new, skip)
        except TrialFailed as failed:
            raise _failed_in(new, failed) from failed

    # -- a trial that takes longer

    @property
    def is_trying(self) -> bool:
        """Whether a branch is being applied beside the trunk."""
        return bool(self._trial.branch)

    def try_further(self) -> Callable[[], outcome.Outcome] | None:
        """Apply another piece of the branch that is being tried; what follows from it, once that is known.

        When the trunk has moved meanwhile, the best branch is tried from its beginning.
        """
        new = [*self._trial.branch]
        try:
            return partial(self._adopt_tried, new[0]) if self._trial.go_on() else None
        except TrialFailed as failed:
            return partial(self._refuse, _failed_in(new, failed))
        except TrunkMoved:
            return self._adopt_best

    def _adopt_tried(self, tip: ForkItem) -> outcome.Outcome:
        """Switch to a branch that was applied beside the trunk."""
        if self.forks.find(tip.id) is None or not self._is_better(tip):
            return outcome.OnBranch()
        new, old = self.forks.branches(tip.id, self.trunk.head_id)
        return self._switch_to(tip, new, old, Skip.NOTHING)

    def _adopt_best(self) -> outcome.Outcome:
        best = self.forks.head
        if best is None or best.previous == self.trunk.head_id or not self._is_better(best):
            return outcome.OnBranch()
        return self._switch(best, Skip.NOTHING)

    def go_back(self) -> int:
        """Undo all that can be undone, and forget all branches; how many blocks were undone."""
        before = self.trunk.head_number
        self._trial.stop()
        while self.trunk.can_pop():
            self._pop()
        self.forget()
        return before - self.trunk.head_number

    def forget(self) -> None:
        """Drop all candidates but the trunk, and what is remembered of those that broke a rule."""
        self._trial.stop()
        self._failed.clear()
        self.refused.clear()
        self.forks.reset()
        self._linking.begin()

    def stop_trying(self) -> None:
        self._trial.stop()

    def try_in_pieces(self) -> None:
        """From now on somebody calls `try_further` for as long as something is being tried."""
        self._trial.piece_seconds = PIECE_SECONDS

    def _forget(self, refused: Branch, rule: RuleViolation) -> None:
        """What broke the rule goes, with all above it; it is known by its id when it comes again."""
        self._failed[refused[-1].validator] = None
        while len(self._failed) > MOST_FAILED:
            self._failed.pop(next(iter(self._failed)))
        for item in reversed(refused):
            self.forks.remove(item.id)
            self.refused.add(item.id, rule)

    def _apply_branch(self, new_head: ForkItem, new: Branch, old: Branch, skip: SkipFlags) -> outcome.Outcome:
        base, was_out_of_turn = self.trunk.head_id, False
        for place in range(len(new) - 1, -1, -1):
            try:
                was_out_of_turn |= apply_switched(self.trunk, new[place].block, skip)
            except RuleViolation as problem:
                log.warning(
                    "block %(block)d of the branch breaks a rule: %(rule)s",
                    {"block": new[place].number, "rule": problem},
                )
                self._give_up(new[: place + 1], problem, old, base, skip)
                return outcome.BranchRefused(problem, new[place].number)
        if was_out_of_turn and not old:
            self._turn_schedule_to(new_head.validator)
        self.forks.head = new_head
        return outcome.Switched() if old else outcome.Applied()

    def _turn_schedule_to(self, producer: AccountName) -> None:
        """After a run of blocks out of turn, the next slot is the one after their last producer's (same quirk)."""
        ledger = self.trunk.ledger
        scheduled, globals_ = ledger.schedule.scheduled, ledger.globals
        if producer in scheduled:
            behind = (scheduled.index(producer) - globals_.current_aslot) % len(scheduled)
            with ledger.editing(globals_):
                globals_.current_aslot += behind

    def _give_up(self, refused: Branch, rule: RuleViolation, old: Branch, base: BlockId, skip: SkipFlags) -> None:
        """Return to the old branch; remove the block that broke the rule, and all above it, from the candidates."""
        self._forget(refused, rule)
        self._pop_down_to(base)
        for item in reversed(old):
            self.trunk.apply(item.block, skip)
        if old:
            self.forks.head = old[0]
        else:
            self._linking.restart()

    def _pop_down_to(self, block_id: BlockId) -> None:
        while self.trunk.head_id != block_id:
            self._pop()

    def pop(self) -> None:
        """Undo the head block; its parent is the head."""
        self._pop()
        self.forks.pop()

    def _pop(self) -> None:
        self._pending.requeue(self.trunk.pop().transactions)


class BranchFailed(RuleViolation):
    """A block of a branch breaks a rule."""

    def __init__(self, branch: Branch, rule: RuleViolation) -> None:
        super().__init__(str(rule))
        self.branch = branch
        """The block, last in the list, and what stands on it."""
        self.rule = rule


def _failed_in(new: Branch, failed: TrialFailed) -> BranchFailed:
    return BranchFailed(new[: new.index(failed.item) + 1], failed.rule)
