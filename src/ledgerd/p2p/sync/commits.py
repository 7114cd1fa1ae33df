"""When blocks of ranges are committed: many at once, since the cost of a commit hardly depends on their number."""

from __future__ import annotations

from ledgerd.p2p.shared.batches import Batch
from ledgerd.p2p.shared.core import Core

BLOCKS, BYTES, SECONDS = 500, 4 << 20, 2.0
"""A commit is due after any of these; a kill loses no more than that."""


class CommitSchedule:
    """What has been applied since the last commit."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._blocks = self._bytes = 0
        self._since = core.now

    def note(self, batch: Batch) -> None:
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
