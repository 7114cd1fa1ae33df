"""Which peer's message is next: of the address that has cost the least time, so that a flood delays its senders."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from ledgerd.p2p.shared.allowances import Allowance
from ledgerd.p2p.wire.messages import BlockRangeReply, BlockReply, GapFillReply

K = TypeVar("K", bound=Hashable)

SHARE_SECONDS = 0.02
"""Addresses whose costs differ by less than this count as equal."""

BLOCKS = frozenset({BlockReply.NUMBER, BlockRangeReply.NUMBER, GapFillReply.NUMBER})


class Turns(Generic[K]):
    """The senders with a message, each under a key: peers, or addresses of clients."""

    def __init__(self) -> None:
        self._waiting: dict[K, tuple[Allowance, bool]] = {}
        self._level = 0.0
        """The cost of the address that was last; a new one begins with it, so that idle time gives no advantage."""
        self._useful = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, key: object) -> bool:
        return key in self._waiting

    def wait(self, key: K, allowance: Allowance, *, is_block: bool) -> None:
        if key not in self._waiting:
            allowance.spent = max(allowance.spent, self._level)
        self._waiting[key] = allowance, is_block

    def leave(self, key: K) -> None:
        self._waiting.pop(key, None)

    def next(self) -> K | None:
        if not self._waiting:
            return None
        key = min(self._waiting, key=self._place)
        allowance, _ = self._waiting[key]
        self._level = max(self._level, allowance.spent)
        self._useful = allowance.useful
        return key

    def charge(self, key: K, seconds: float) -> None:
        """Charge the seconds of a turn, unless it was useful: who brings what all others need must not come after those
        who bring nothing.
        """
        allowance, is_block = self._waiting.pop(key)
        if allowance.useful == self._useful:
            allowance.spent += seconds
        self._waiting[key] = allowance, is_block

    def _place(self, key: K) -> tuple[int, bool]:
        allowance, is_block = self._waiting[key]
        return int((allowance.spent + allowance.handicap) / SHARE_SECONDS), not is_block
