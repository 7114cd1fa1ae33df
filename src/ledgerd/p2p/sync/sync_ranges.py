"""The ranges of a sync: requested ones, those to be requested again, and those that have arrived.

They never overlap, except that an overdue one may be requested from a second peer.
"""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.p2p.shared.batches import Batch


class RequestedRange(NamedTuple):
    """A range of blocks that is requested from a peer."""

    start: int
    end: int
    asked_at: float
    is_delivered: bool = False
    """Whether another peer has delivered it: this one's reply is dropped."""


class SyncRanges:
    """The ranges of one sync."""

    def __init__(self) -> None:
        self.asked: dict[int, RequestedRange] = {}
        self.holes: list[tuple[int, int]] = []
        """Ranges that were requested and did not arrive, in order."""
        self.ready: dict[int, Batch] = {}
        self.next = 0
        """The lowest number that was never requested."""

    def __len__(self) -> int:
        return len(self.asked) + len(self.holes) + len(self.ready)

    @property
    def waiting_bytes(self) -> int:
        return sum(batch.size for batch in self.ready.values())

    @property
    def outstanding(self) -> int:
        return sum(not requested.is_delivered for requested in self.asked.values())

    def clear(self) -> None:
        self.asked.clear()
        self.holes.clear()
        self.ready.clear()
        self.next = 0

    def hole(self, start: int, end: int) -> None:
        if start <= end:
            self.holes.append((start, end))
            self.holes.sort()

    def forget_below(self, number: int) -> None:
        self.holes = [(max(start, number), end) for start, end in self.holes if end >= number]

    def take_hole(self, start: int, end: int, last: int) -> None:
        self.holes.remove((start, end))
        self.hole(last + 1, end)

    def unanswered(self, peer: int) -> None:
        """Make a peer's range a hole, unless it is requested from a second peer too."""
        requested = self.asked.pop(peer, None)
        if requested is None or requested.is_delivered:
            return
        if not any(other[:2] == requested[:2] for other in self.asked.values()):
            self.hole(requested.start, requested.end)

    def delivered(self, requested: RequestedRange) -> None:
        for peer, other in self.asked.items():
            if other[:2] == requested[:2]:
                self.asked[peer] = other._replace(is_delivered=True)

    def overdue(self, now: float, patience: float) -> RequestedRange | None:
        waited = [requested for requested in self.asked.values() if not requested.is_delivered]
        lowest = min(waited, key=lambda requested: requested.start, default=None)
        if lowest is None or now - lowest.asked_at <= patience:
            return None
        return lowest if sum(requested.start == lowest.start for requested in waited) == 1 else None
