"""The pieces of a sync: which numbers are asked for and of whom, which are to be asked for again, what has come.

Pieces never overlap, except that a piece which is overdue may be asked of a second peer; who asks whom is decided in
`range_sync`.
"""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.p2p.shared.batches import Batch


class Piece(NamedTuple):
    """What one peer was asked for."""

    start: int
    end: int
    asked_at: float
    is_delivered: bool = False
    """Whether another peer has delivered it since: what comes is dropped."""


class Pieces:
    """The books of one sync."""

    def __init__(self) -> None:
        self.asked: dict[int, Piece] = {}
        """By peer: each has one piece at a time."""
        self.holes: list[tuple[int, int]] = []
        """What was asked for and did not come, in order."""
        self.ready: dict[int, Batch] = {}
        """What has come, by its first number."""
        self.next = 0
        """The lowest number that was never asked for."""

    def __len__(self) -> int:
        return len(self.asked) + len(self.holes) + len(self.ready)

    @property
    def waiting_bytes(self) -> int:
        """Bytes of blocks that have come before their turn."""
        return sum(batch.size for batch in self.ready.values())

    @property
    def outstanding(self) -> int:
        """Pieces that may still come."""
        return sum(not piece.is_delivered for piece in self.asked.values())

    def clear(self) -> None:
        """Forget everything."""
        self.asked.clear()
        self.holes.clear()
        self.ready.clear()
        self.next = 0

    def hole(self, start: int, end: int) -> None:
        """These are to be asked for again."""
        if start <= end:
            self.holes.append((start, end))
            self.holes.sort()

    def forget_below(self, number: int) -> None:
        """Nothing below this number is wanted any more."""
        self.holes = [(max(start, number), end) for start, end in self.holes if end >= number]

    def take_hole(self, start: int, end: int, last: int) -> None:
        """A hole is asked for, up to a last number; the rest stays."""
        self.holes.remove((start, end))
        self.hole(last + 1, end)

    def unanswered(self, peer: int) -> None:
        """A peer will not answer: its piece is free for others, unless one of them has been asked already."""
        piece = self.asked.pop(peer, None)
        if piece is None or piece.is_delivered:
            return
        if not any(other[:2] == piece[:2] for other in self.asked.values()):
            self.hole(piece.start, piece.end)

    def delivered(self, piece: Piece) -> None:
        """A piece has come: nobody else need send it."""
        for peer, other in self.asked.items():
            if other[:2] == piece[:2]:
                self.asked[peer] = other._replace(is_delivered=True)

    def overdue(self, now: float, patience: float) -> Piece | None:
        """The lowest piece that one peer alone has been asked for, and that is not here after all this time."""
        waited = [piece for piece in self.asked.values() if not piece.is_delivered]
        lowest = min(waited, key=lambda piece: piece.start, default=None)
        if lowest is None or now - lowest.asked_at <= patience:
            return None
        return lowest if sum(piece.start == lowest.start for piece in waited) == 1 else None
