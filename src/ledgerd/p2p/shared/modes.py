"""The two modes of a node, and every way from one to the other (spec 04, section 9).

In SYNC it asks for ranges of blocks; in FORWARD it is pushed what is new. It starts in SYNC.
"""

from __future__ import annotations

from enum import Enum, IntEnum, auto


class Mode(IntEnum):
    """As it is told to peers."""

    SYNC = 0
    FORWARD = 1


class Cause(Enum):
    """The cause of a change of mode."""

    RANGE_ENDED = auto()
    """A reply with new blocks was the last, and nothing else is under way (9.1 a)."""
    NOBODY_AHEAD = auto()
    """There was something to ask, and nobody has more than we (9.1 b)."""
    CAUGHT_UP = auto()
    """Somebody's height is known, and nobody's is above ours (9.1 c)."""
    STAGNATED = auto()
    """The third time that nothing came for half a minute (9.1 d)."""
    ANSWERED_FROM_AHEAD = auto()
    """A peer that answered our hello is more than two blocks ahead (9.2 a)."""
    FELL_BEHIND = auto()
    """A peer is more than two blocks ahead (9.2 b)."""
    STALLED = auto()
    """No block for half a minute, though a peer is ahead (9.2 c)."""
    ISOLATED = auto()
    """No block and no peer for a minute (9.2 c)."""
    ON_DEAD_FORK = auto()
    """A gap was filled with blocks that do not link, by a peer that is ahead: ours is the fork that loses (9.2 d)."""
    RESYNC = auto()
    """The producer found itself on a minority fork (9.2 e)."""


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
"""A cause that is not here for a mode changes nothing."""
