"""Time that a test moves: a clock, and a sleep that moves it."""

from __future__ import annotations

import asyncio


class Clock:
    """A clock that stands still until somebody sleeps by it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)
