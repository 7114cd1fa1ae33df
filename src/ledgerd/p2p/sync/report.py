"""The progress of a sync: height, blocks a second, and the remaining time."""

from __future__ import annotations

from ledgerd.supervision.progress import ProgressLine, ProgressStep, many

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
