"""The two modes of a node, and every way from one to the other (spec 04, section 9).

In SYNC a node requests ranges of blocks; in FORWARD peers push new blocks to it. It starts in SYNC.
"""

from __future__ import annotations

from enum import Enum, IntEnum, auto


class Mode(IntEnum):
    """The value is the one in messages."""

    SYNC = 0
    FORWARD = 1


class Cause(Enum):
    """The cause of a change of mode."""

    RANGE_ENDED = auto()
    """A reply with new blocks was the last, and nothing else is under way (9.1 a)."""
    NOBODY_AHEAD = auto()
    """No peer is ahead of us when blocks are to be requested (9.1 b)."""
    CAUGHT_UP = auto()
    """The height of some peer is known, and none is above ours (9.1 c)."""
    STAGNATED = auto()
    """Three times in a row no block arrived within half a minute (9.1 d)."""
    ANSWERED_FROM_AHEAD = auto()
    """A peer that answered our hello is more than two blocks ahead (9.2 a)."""
    FELL_BEHIND = auto()
    """A peer is more than two blocks ahead (9.2 b)."""
    STALLED = auto()
    """No block arrived for half a minute, though a peer is ahead (9.2 c)."""
    ISOLATED = auto()
    """No block and no peer for a minute (9.2 c)."""
    ON_DEAD_FORK = auto()
    """A gap fill from a peer that is ahead does not link: our branch is a dead fork (9.2 d)."""
    RESYNC = auto()
    """The producer has detected a minority fork (9.2 e)."""


S, F = Mode.SYNC, Mode.FORWARD

TRANSITIONS: dict[tuple[Mode, Cause], Mode] = {
    (S, Cause.RANGE_ENDED): F,
    (S, Cause.NOBODY_AHEAD): F,
    (S, Cause.CAUGHT_UP): F,
    (S, Cause.STAGNATED): F,
    (F, Cause.ANSWERED_FROM_AHEAD): S,
    (F, Cause.FELL_BEHIND): S,
    (F, Cause.STALLED): S,
    (F, Cause.ISOLATED): S,
    (F, Cause.ON_DEAD_FORK): S,
    (F, Cause.RESYNC): S,
}
"""The mode after a cause; any other cause leaves the mode as it is."""
