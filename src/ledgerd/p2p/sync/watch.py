"""Detects whether a node is caught up, behind, stalled or without peers (spec 04, sections 9.3 to 9.7)."""

from __future__ import annotations

from ledgerd.p2p.shared.core import Core
from ledgerd.p2p.shared.modes import Cause, Mode

STAGNATION_SECONDS, STAGNATIONS = 30, 3
GRACE_SECONDS = 15
BEHIND_BLOCKS = 2
ISOLATION_SECONDS = 60


class SyncWatchdog:
    """Timers that run while nothing arrives."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._retries = 0
        self._alone_since: float | None = None
        self._forward_since = 0.0
        self._progress: tuple[int, float] | None = None
        """The head number, and since when it has not grown."""
        self.wants_reset = False
        """Whether to lift all bans and dial all endpoints, because no peer is left."""

    def turned(self) -> None:
        core = self._core
        self._retries = 0
        self._progress = None
        if core.mode is Mode.FORWARD:
            self._forward_since = core.now
        else:
            core.last_block_at = core.now

    def take_reset(self) -> bool:
        wants, self.wants_reset = self.wants_reset, False
        if wants:
            self._retries = 0
            self._alone_since = None
        return wants

    # -- in SYNC

    def stagnated(self) -> tuple[Cause | None, bool]:
        """After half a minute without a block, request again; the third time ends the sync (9.4)."""
        core = self._core
        if (
            core.mode is not Mode.SYNC
            or core.last_block_at is None
            or core.now - core.last_block_at < STAGNATION_SECONDS
        ):
            return None, False
        self._retries += 1
        if self._retries >= STAGNATIONS:
            return Cause.STAGNATED, False
        core.last_block_at = core.now
        return None, True

    def caught_up(self) -> Cause | None:
        """No peer of known height is ahead of us (9.3)."""
        core = self._core
        head = core.chain.head_number
        if core.mode is not Mode.SYNC or head == 0:
            return None
        if not any(core.live()):
            self._count_isolation()
            return None
        self._alone_since = None
        known = [peer for peer in core.trusted() if peer.head_number > 0]
        return Cause.CAUGHT_UP if known and not core.is_anybody_ahead() else None

    # -- in FORWARD

    def behind(self) -> Cause | None:
        """A peer is more than two blocks ahead, and pushed blocks have not closed that distance (9.5)."""
        core = self._core
        if core.mode is not Mode.FORWARD or core.now - self._forward_since < GRACE_SECONDS:
            return None
        return Cause.FELL_BEHIND if core.is_anybody_ahead(by=BEHIND_BLOCKS) else None

    def stalled(self) -> Cause | None:
        """The head has not grown for half a minute (9.6)."""
        core = self._core
        if core.mode is not Mode.FORWARD:
            return None
        head = core.chain.head_number
        if self._progress is None or head > self._progress[0]:
            self._progress = head, core.now
            return None
        if core.now - self._progress[1] <= STAGNATION_SECONDS:
            return None
        if not any(core.live()):
            return Cause.ISOLATED if self._count_isolation() else None
        self._alone_since = None
        if core.is_anybody_ahead():
            return Cause.STALLED
        self._progress = head, core.now
        return None

    def _count_isolation(self) -> bool:
        if self._alone_since is None:
            self._alone_since = self._core.now
        if self._core.now - self._alone_since <= ISOLATION_SECONDS:
            return False
        self._alone_since = None
        self.wants_reset = True
        return True
