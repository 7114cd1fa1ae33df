"""A branch that cannot be judged by its signatures is applied beside the trunk first: in a store of its own over the
last commit, of which nothing stays. The trunk is not touched; what trials may cost is bounded.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from ledgerd.chain.forks.database import Branch
from ledgerd.chain.forks.trunk import Trunk
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import SkipFlags
from ledgerd.protocol.errors import RuleViolation

log = logging.getLogger(__name__)

BURST_BYTES, BYTES_A_SECOND = 16 << 20, 16 << 10
"""Bytes of blocks that may be applied in trials, at once and in the long run; and for each block this much more."""
BLOCK_COST = 4096


class TrialsExhausted(RuleViolation):
    """So many branches were tried lately that this one has to wait."""


class Trial:
    """Applies branches where nobody sees it."""

    def __init__(self, trunk: Trunk, settle: Callable[[], None], clock: Callable[[], float]) -> None:
        self._trunk = trunk
        self._settle = settle
        self._clock = clock
        self._left = float(BURST_BYTES)
        self._at = clock()
        self.tried = 0
        """How many branches were tried."""

    def run(self, new: Branch, base: int, apply: Callable[[Trunk, Branch, SkipFlags], None], skip: SkipFlags) -> None:
        """Apply a branch, the tip first in the list, on the trunk's block of a number; or raise what it breaks.

        Raises:
            TrialsExhausted: Nothing was tried; later it may be.
        """
        self._pay(sum(len(each.packed) + BLOCK_COST for each in new))
        self.tried += 1
        log.info("trying a branch of %d blocks before switching", len(new))
        self._settle()
        with self._trunk.store.beside() as store:
            trunk = Trunk(Ledger(store, self._trunk.ledger.network), self._trunk.checkpoints)
            while trunk.head_number > base:
                trunk.pop()
            apply(trunk, new, skip)

    def _pay(self, cost: float) -> None:
        now = self._clock()
        self._left = min(float(BURST_BYTES), self._left + max(0.0, now - self._at) * BYTES_A_SECOND)
        self._at = now
        if self._left <= 0:
            raise TrialsExhausted("too many branches were tried lately")
        self._left -= cost
