"""The clock of a network. Public networks use UTC; a private one may have a clock of its own."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

MICRO = 1_000_000

Moment = Annotated[int, Meta(ge=0, le=0xFFFFFFFF)]
"""Seconds since 1970."""


class NetworkClock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A clock that was set at a moment, and runs at its own rate.

    All nodes of a network need the same one, so it is a parameter of the network. No rule reads it.
    """

    began: Moment = 0
    """The real time at which it was set."""
    showed: Moment = 0
    """The network's time that it was set to."""
    rate: Annotated[float, Meta(ge=0.01, le=100.0)] = 1.0
    """Seconds of the network for each real second."""

    @property
    def is_own(self) -> bool:
        """Whether it differs from real time, so that time servers do not apply."""
        return self != NetworkClock()

    def at(self, microseconds: int) -> int:
        """The network's time at a real time, both in microseconds since 1970."""
        passed = microseconds - self.began * MICRO
        return self.showed * MICRO + (passed if self.rate == 1.0 else int(passed * self.rate))
