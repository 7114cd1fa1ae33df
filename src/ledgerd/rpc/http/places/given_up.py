"""Unfinished answers that nobody waits for any more: they are cancelled a few at a time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable

CANCELLED_AT_ONCE = 256
"""Answers that are given up before the loop does something else; each then ends by itself. More than clients can begin
in that time, or else those that were given up would be ever more.
"""


class GivenUpAnswers:
    """The answers that are yet to be cancelled."""

    def __init__(self) -> None:
        self._tasks: deque[asyncio.Task[None]] = deque()

    def add(self, answers: Iterable[asyncio.Task[None]]) -> None:
        """Cancel answers, those of many in several rounds of the loop."""
        is_first = not self._tasks
        self._tasks.extend(answers)
        if is_first:
            self._cancel_some()

    def _cancel_some(self) -> None:
        for _ in range(min(CANCELLED_AT_ONCE, len(self._tasks))):
            self._tasks.popleft().cancel()
        if self._tasks:
            asyncio.get_running_loop().call_soon(self._cancel_some)
