"""What is watched of a sync: mode and fork status (spec 04, sections 9.3 to 9.7 and 18), commits, and its progress."""

from __future__ import annotations

from ledgerd.p2p.shared.actions import Batch
from ledgerd.p2p.shared.core import Core
from ledgerd.p2p.shared.modes import Cause, Mode
from ledgerd.p2p.wire.messages import LOOKING, MINORITY, NORMAL
from ledgerd.supervision.progress import ProgressLine, ProgressStep, many

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

    def mode_changed(self) -> None:
        core = self._core
        self._retries = 0
        self._progress = None
        if core.mode is Mode.FORWARD:
            self._forward_since = core.now
        else:
            core.last_block_at = core.now

    def pop_reset(self) -> bool:
        wants, self.wants_reset = self.wants_reset, False
        if wants:
            self._retries = 0
            self._alone_since = None
        return wants

    def stagnated(self) -> Cause | None:
        """After half a minute without a block, request blocks again; the third time, end the sync (9.4)."""
        core, last = self._core, self._core.last_block_at
        if core.mode is not Mode.SYNC or last is None or core.now - last < STAGNATION_SECONDS:
            return None
        self._retries += 1
        if self._retries >= STAGNATIONS:
            return Cause.STAGNATED
        core.last_block_at = core.now
        return None

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

    def answered_from_ahead(self) -> Cause | None:
        """A peer that claims to be ahead has answered (9.2 a); peers who go up and down turn the mode only so often."""
        return Cause.ANSWERED_FROM_AHEAD if self._is_steady else None

    def behind(self) -> Cause | None:
        """A peer is more than two blocks ahead, and pushed blocks have not closed that distance (9.5)."""
        return Cause.FELL_BEHIND if self._is_steady and self._core.is_anybody_ahead(by=BEHIND_BLOCKS) else None

    @property
    def _is_steady(self) -> bool:
        return self._core.mode is Mode.FORWARD and self._core.now - self._forward_since >= GRACE_SECONDS

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


BLOCKS, BYTES, SECONDS = 1000, 4 << 20, 2.0
"""A commit is due after any of these; a kill loses no more than that."""


class CommitSchedule:
    """Says when a commit is due, by what was applied since the last one."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._blocks = self._bytes = 0
        self._since = core.now

    def record(self, batch: Batch) -> None:
        if not self._blocks:
            self._since = self._core.now
        self._blocks += batch.count
        self._bytes += batch.size

    @property
    def is_due(self) -> bool:
        return self._blocks >= BLOCKS or self._bytes >= BYTES or self._core.now - self._since >= SECONDS

    def commit(self) -> None:
        self._core.chain.commit()
        self._blocks = self._bytes = 0


WORTH_A_LINE = 200
"""A sync of fewer blocks is not logged, since it ends at once."""


class SyncReport:
    """Remembers how far the sync was, to tell what has happened since."""

    def __init__(self) -> None:
        self._line: ProgressLine | None = None

    def begins(self, head: int, target: int) -> bool:
        return self._line is None and target - head >= WORTH_A_LINE

    def step(self, now: float, head: int, target: int, peers: int) -> ProgressStep | None:
        """The next step, when one is due. The target is the highest block of a trusted peer."""
        if self._line is None:
            if self.begins(head, target):
                self._line = ProgressLine("syncing", head, now)
            return None
        step = self._line.at(head, max(target, head), now, f" from {many(peers, 'peer')}")
        if head >= target:
            self._line = None
        return step


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
