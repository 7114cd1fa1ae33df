"""A clock that goes on with each look at it, so that so many looks take a turn, whatever the machine does."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from ledgerd.rpc.shares.loop_turns import ROUND_SECONDS

TICKS = 8
"""Looks at the clock in a round of the loop."""


def ticking() -> Callable[[], float]:
    """A clock of its own."""
    return count(0.0, ROUND_SECONDS / TICKS).__next__
