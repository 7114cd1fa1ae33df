"""Which peer's message is handled next: the one whose address has cost the least time so far.

So a flood of messages delays only its senders. Among addresses of equal cost, blocks come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerd.p2p.wire.messages import BlockRangeReply, BlockReply, GapFillReply

if TYPE_CHECKING:
    from ledgerd.p2p.shared.allowances import Allowance

SHARE_SECONDS = 0.02
"""Addresses whose costs differ by less than this count as equal."""

BLOCKS = frozenset({BlockReply.NUMBER, BlockRangeReply.NUMBER, GapFillReply.NUMBER})


class Turns:
    """The peers with a whole message."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[Allowance, int]] = {}
        self._level = 0.0
        """The cost of the address that was handled last; a new address begins with it, so that idle time gives no
        advantage.
        """

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, peer: object) -> bool:
        return peer in self._waiting

    def wait(self, peer: int, allowance: Allowance, number: int) -> None:
        """Add a peer with a message of a number; it keeps its position if it is waiting already."""
        if peer not in self._waiting:
            allowance.spent = max(allowance.spent, self._level)
        self._waiting[peer] = allowance, number

    def leave(self, peer: int) -> None:
        """Remove a peer without a message."""
        self._waiting.pop(peer, None)

    def next(self) -> int | None:
        """The peer to handle next, if any waits."""
        if not self._waiting:
            return None
        peer = min(self._waiting, key=self._place)
        self._level = max(self._level, self._waiting[peer][0].spent)
        return peer

    def charge(self, peer: int, seconds: float) -> None:
        """Add the time spent on a peer; next time it comes after its equals."""
        allowance, number = self._waiting.pop(peer)
        allowance.spent += seconds
        self._waiting[peer] = allowance, number

    def _place(self, peer: int) -> tuple[int, bool]:
        allowance, number = self._waiting[peer]
        return int(allowance.spent / SHARE_SECONDS), number not in BLOCKS
