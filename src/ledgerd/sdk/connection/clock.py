"""The time that a client goes by. Tests have one of their own, which passes when they say so."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class ClientClock(Protocol):
    """Pauses, and the age of what nodes say."""

    def passed(self) -> float:
        """Seconds since some moment; they never go back."""

    def now(self) -> float:
        """Seconds since 1970."""

    async def sleep(self, seconds: float) -> None: ...


class MachineClock:
    """The clocks of this machine."""

    def passed(self) -> float:
        return time.monotonic()

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
