"""Whose message is heard next: those that wait take turns by the time that their addresses have cost so far.

A flood delays those who send it. Among equals, blocks come before everything else.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Generic, TypeVar

from ledgerd.p2p.wire.messages import BlockRangeReply, BlockReply, GapFillReply

if TYPE_CHECKING:
    from ledgerd.p2p.shared.allowances import Allowance

K = TypeVar("K", bound=Hashable)

SHARE_SECONDS = 0.02
"""Addresses whose costs differ by less than this are equals."""

BLOCKS = frozenset({BlockReply.NUMBER, BlockRangeReply.NUMBER, GapFillReply.NUMBER})


class Turns(Generic[K]):
    """Those that have something to say, each by a key: peers, or what clients are charged to."""

    def __init__(self) -> None:
        self._waiting: dict[K, tuple[Allowance, bool]] = {}
        self._level = 0.0
        """What the last one that was heard had cost: who comes anew begins there, and has saved nothing up."""

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, key: object) -> bool:
        return key in self._waiting

    def wait(self, key: K, allowance: Allowance, *, is_block: bool) -> None:
        """One has something to say, perhaps a block; it keeps its place if it was waiting already."""
        if key not in self._waiting:
            allowance.spent = max(allowance.spent, self._level)
        self._waiting[key] = allowance, is_block

    def leave(self, key: K) -> None:
        """One has nothing more to say."""
        self._waiting.pop(key, None)

    def next(self) -> K | None:
        """Whom to hear, if anybody waits."""
        if not self._waiting:
            return None
        key = min(self._waiting, key=self._place)
        self._level = max(self._level, self._waiting[key][0].spent)
        return key

    def charge(self, key: K, seconds: float) -> None:
        """What hearing one has cost; the next time it stands behind its equals."""
        allowance, is_block = self._waiting.pop(key)
        allowance.spent += seconds
        self._waiting[key] = allowance, is_block

    def _place(self, key: K) -> tuple[int, bool]:
        allowance, is_block = self._waiting[key]
        return int(allowance.spent / SHARE_SECONDS), not is_block
