"""The fork status that is sent to peers: normal, looking, or minority (spec 04, section 18).

It is only sent and logged; the chain decides which branch is best.
"""

from __future__ import annotations

from ledgerd.p2p.shared.core import Core
from ledgerd.p2p.wire.messages import LOOKING, MINORITY, NORMAL

RESOLVED_AFTER = 42
CONFIRMATIONS = 6


class ForkTracking:
    """Counts blocks while there is more than one tip."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._since: int | None = None
        self._minority_blocks = 0

    def applied(self, number: int) -> None:
        core = self._core
        is_forked = core.chain.is_forked()
        if self._since is None:
            if is_forked:
                self._since, core.fork_status = number, LOOKING
            return
        if (number - self._since) & 0xFFFFFFFF < RESOLVED_AFTER:
            return
        if not is_forked or not core.chain.is_minority():
            self.reset()
            return
        self._minority_blocks += 1
        if self._minority_blocks >= CONFIRMATIONS:
            self.reset()
            core.fork_status = MINORITY

    def reset(self) -> None:
        self._since = None
        self._minority_blocks = 0
        self._core.fork_status = NORMAL
