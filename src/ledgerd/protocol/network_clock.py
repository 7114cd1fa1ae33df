"""How time goes in a network. In all that people rely on it is that of the world; a private network may choose."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

MICRO = 1_000_000

Moment = Annotated[int, Meta(ge=0, le=0xFFFFFFFF)]
"""Seconds since 1970."""


class NetworkClock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A clock that was set once, and goes at its own pace since.

    All nodes of a network must agree on it, so it stands among the network's parameters. No rule reads it.
    """

    began: Moment = 0
    """When it was set, in the time of the world."""
    showed: Moment = 0
    """What it was set to."""
    rate: Annotated[float, Meta(ge=0.01, le=100.0)] = 1.0
    """Seconds of the network that pass in one of the world."""

    @property
    def is_own(self) -> bool:
        """Whether the network keeps a time that no server of the world can tell."""
        return self != NetworkClock()

    def at(self, microseconds: int) -> int:
        """The network's time at a time of the world, both in microseconds since 1970."""
        passed = microseconds - self.began * MICRO
        return self.showed * MICRO + (passed if self.rate == 1.0 else int(passed * self.rate))
