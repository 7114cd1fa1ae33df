"""A branch that cannot be judged by its signatures is applied beside the trunk first: in a store of its own over the
last commit, of which nothing stays. The trunk is not touched; what trials may cost is bounded.

A long branch is applied in pieces, between which the chain does what else there is to do. When the trunk moves
meanwhile, what was applied is worth nothing: it is given up, and the next time the pieces are longer.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from contextlib import ExitStack

from ledgerd.basics.quotas import Quota
from ledgerd.chain.forks.database import Branch, ForkItem
from ledgerd.chain.forks.trunk import Trunk
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip, SkipFlags
from ledgerd.chain.steps.header import WrongScheduledValidator
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.identifiers import NO_BLOCK

log = logging.getLogger(__name__)

BURST_BYTES, BYTES_A_SECOND = 16 << 20, 16 << 10
"""Bytes of blocks that may be applied in trials, at once and in the long run; and for each block this much more."""
BLOCK_COST = 4096
PIECE_SECONDS = 0.05
"""How long one piece takes, and the block at its end."""


class TrialsExhausted(RuleViolation):
    """So many branches were tried lately that this one has to wait."""


class TrunkMoved(RuleViolation):
    """The trial has to begin again."""


class TrialFailed(RuleViolation):
    """A block of the branch breaks a rule."""

    def __init__(self, item: ForkItem, rule: RuleViolation) -> None:
        super().__init__(str(rule))
        self.item = item
        self.rule = rule


def apply_switched(trunk: Trunk, block: Block, skip: SkipFlags) -> bool:
    """Inside a branch, a producer out of turn is accepted at the second try (spec 03, section 9.6, quirk)."""
    try:
        trunk.apply(block, skip)
    except WrongScheduledValidator:
        trunk.apply(block, skip | Skip.VALIDATOR_SCHEDULE)
        return True
    return False


class UnderWay:
    """A branch that is being tried."""

    def __init__(self, trunk: Trunk, new: Branch, skip: SkipFlags) -> None:
        self._real = trunk
        self._skip = skip
        self._stack = ExitStack()
        known = trunk.ledger.known.generations
        self._store = self._stack.enter_context(trunk.store.beside())
        self._trunk = Trunk(Ledger(self._store, trunk.ledger.network, known), trunk.checkpoints, trunk.clock)
        self._stands_on = trunk.head_id, trunk.store.commits
        self._base = new[-1].number - 1
        self.new: list[ForkItem] = [*new]
        self._left: list[ForkItem] = [*new]

    @property
    def has_moved(self) -> bool:
        """Whether the trunk is another than at the beginning."""
        return self._stands_on != (self._real.head_id, self._real.store.commits)

    def ahead(self, new: Branch) -> list[ForkItem] | None:
        """What a branch has above this one; nothing where it is another branch."""
        above = len(new) - len(self.new)
        is_same = above >= 0 and new[above].id == self.new[0].id
        return [*new[:above]] if is_same else None

    def extend(self, above: list[ForkItem]) -> None:
        self.new[:0] = above
        self._left[:0] = above

    def step(self) -> bool:
        """Take a block of the trunk off, or put one of the branch on; whether there was one."""
        if self._trunk.head_number > self._base and len(self._left) == len(self.new):
            self._trunk.pop()
        elif self._left:
            item = self._left[-1]
            try:
                apply_switched(self._trunk, item.block, self._skip)
            except RuleViolation as rule:
                raise TrialFailed(item, rule) from rule
            self._left.pop()
        else:
            return False
        return True

    def rest(self) -> None:
        """Let the trunk be used."""
        self._store.rest()

    def close(self) -> None:
        self._stack.close()


class Trial:
    """Applies branches where nobody sees it, one after the other."""

    def __init__(self, trunk: Trunk, settle: Callable[[], None], clock: Callable[[], float]) -> None:
        self._trunk = trunk
        self._settle = settle
        self._clock = clock
        self._quota = Quota(BURST_BYTES, BYTES_A_SECOND, clock())
        self.piece_seconds = math.inf
        """How long a piece takes: for whoever does not go on with pieces, as long as all of it."""
        self.tried = 0
        self._under_way: UnderWay | None = None
        self._given_up, self._times = NO_BLOCK, 1
        """The lowest block of the branch that was given up last, and how many times longer its pieces are."""

    @property
    def branch(self) -> Branch:
        """The branch that is being tried, the tip first; empty where none is."""
        return [] if self._under_way is None else self._under_way.new

    def run(self, new: Branch, skip: SkipFlags) -> bool:
        """Begin to apply a branch, the tip first in the list, where it leaves the trunk; whether all of it is applied.
        `TrialFailed`: a block of it breaks a rule. `TrialsExhausted`: nothing was tried; later it may be.
        """
        if self._under_way is not None and self._under_way.has_moved:
            self._give_up(self._under_way)
        if self._under_way is not None:
            above = self._under_way.ahead(new)
            if above is None:
                raise TrialsExhausted("another branch is being tried")
            if above:
                self._pay(above)
                self._under_way.extend(above)
            return False
        self._pay(new)
        self.tried += 1
        log.info("trying a branch of %(length)d blocks before switching", {"length": len(new)})
        self._settle()
        self._under_way = UnderWay(self._trunk, new, skip)
        return self.go_on()

    def go_on(self) -> bool:
        """Apply another piece; whether all is. `TrialFailed`: a block breaks a rule. `TrunkMoved`: it was in vain."""
        trying = self._under_way
        if trying is None:
            return False
        if trying.has_moved:
            self._give_up(trying)
            raise TrunkMoved("the trunk has moved")
        times = self._times if trying.new[-1].id == self._given_up else 1
        end = self._clock() + self.piece_seconds * times
        self._trunk.store.rest()
        try:
            while trying.step():
                if self._clock() >= end:
                    trying.rest()
                    return False
        except BaseException:
            self.stop()
            raise
        self.stop()
        return True

    def _give_up(self, trying: UnderWay) -> None:
        root = trying.new[-1].id
        self._times = self._times * 2 if root == self._given_up else 2
        self._given_up = root
        log.info("the chain has moved: a branch of %(length)d blocks is tried again", {"length": len(trying.new)})
        self.stop()

    def stop(self) -> None:
        if self._under_way is not None:
            self._under_way.close()
            self._under_way = None

    def _pay(self, new: Branch) -> None:
        if not self._quota.spend(sum(len(each.packed) + BLOCK_COST for each in new), self._clock()):
            raise TrialsExhausted("too many branches were tried lately")
