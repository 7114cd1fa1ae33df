"""Whose message is heard next: those that wait take turns by the time that their addresses have cost so far.

A flood delays those who send it. Among equals, blocks come before everything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerd.p2p.wire.messages import BlockRangeReply, BlockReply, GapFillReply

if TYPE_CHECKING:
    from ledgerd.p2p.shared.allowances import Allowance

SHARE_SECONDS = 0.02
"""Addresses whose costs differ by less than this are equals."""

BLOCKS = frozenset({BlockReply.NUMBER, BlockRangeReply.NUMBER, GapFillReply.NUMBER})


class Turns:
    """The peers that have something to say."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[Allowance, int]] = {}
        self._level = 0.0
        """What the last one that was heard had cost: who comes anew begins there, and has saved nothing up."""

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, peer: object) -> bool:
        return peer in self._waiting

    def wait(self, peer: int, allowance: Allowance, number: int) -> None:
        """A peer has a message of a number; it keeps its place if it was waiting already."""
        if peer not in self._waiting:
            allowance.spent = max(allowance.spent, self._level)
        self._waiting[peer] = allowance, number

    def leave(self, peer: int) -> None:
        """A peer has nothing more to say."""
        self._waiting.pop(peer, None)

    def next(self) -> int | None:
        """Whom to hear, if anybody waits."""
        if not self._waiting:
            return None
        peer = min(self._waiting, key=self._place)
        self._level = max(self._level, self._waiting[peer][0].spent)
        return peer

    def charge(self, peer: int, seconds: float) -> None:
        """What hearing a peer has cost; the next time it stands behind its equals."""
        allowance, number = self._waiting.pop(peer)
        allowance.spent += seconds
        self._waiting[peer] = allowance, number

    def _place(self, peer: int) -> tuple[int, bool]:
        allowance, number = self._waiting[peer]
        return int(allowance.spent / SHARE_SECONDS), number not in BLOCKS
