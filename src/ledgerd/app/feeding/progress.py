"""Where an application stands, as the feed knows it, and others show it. Written by the feed alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

AWAITED = "the first block is awaited"


class FeedProgress:
    """The state of a feed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.number = 0
        """The last block that was applied."""
        self.head = 0
        """The last one that nodes have."""
        self.irreversible = 0
        self.reversible = 0
        """Blocks that can be undone."""
        self.blocks = self.operations = self.undone = self.forks = self.failures = 0
        """Counts since the start: blocks applied, their operations, blocks undone, forks and failures."""
        self.failing = AWAITED
        """Why the feed does not go on; empty while it does."""
        self._changed = asyncio.Event()
        self._calling: tuple[int, str, str, float] = (0, "", "", 0.0)

    @property
    def behind(self) -> int:
        return max(0, self.head - self.number)

    async def moved(self) -> None:
        """Wait until blocks were applied, or something has failed."""
        self._changed.clear()
        await self._changed.wait()

    def set_failing(self, why: str) -> None:
        self.failing = why
        self.failures += bool(why)
        self._changed.set()

    def call(self, block: int, handler: str, file: str) -> None:
        """A handler is called, on whatever thread; with an empty name, it has returned."""
        self._calling = (block, handler, file, self._clock() if handler else 0.0)

    def overdue(self, seconds: float) -> tuple[int, str, str] | None:
        """The block, the handler and its file, if the handler has run for longer than this."""
        block, handler, file, since = self._calling
        return (block, handler, file) if handler and self._clock() - since > seconds else None
