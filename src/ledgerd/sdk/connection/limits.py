"""How long, how often and how much a client asks."""

from __future__ import annotations

import msgspec


class ClientLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of a client. Times are in seconds."""

    connect_seconds: float = 5.0
    call_seconds: float = 10.0
    """The longest time from a request to the end of its answer, by one node."""
    request_seconds: float = 30.0
    """The longest time for a request on all nodes together, with the pauses between them; waiting for its turn
    (`at_once`) does not count.
    """
    largest_answer: int = 32 << 20
    largest_batch: int = 50
    """Calls in one request; larger batches are sent in several."""
    at_once: int = 16
    """Requests; others wait."""
    rounds: int = 3
    """How often each node may fail during one request."""
    first_pause: float = 0.5
    longest_pause: float = 30.0
    """A node that failed is left alone for so long, twice as long each time that it fails again."""
    stale_seconds: float = 60.0
    """A node whose head is so much older than that of another is asked last."""
    check_seconds: float = 30.0
    """The pause between two checks of a node's chain and head, if there are several nodes."""
    poll_seconds: float | None = None
    """How often streams ask for new blocks; without it, three times in the interval of the chain's blocks."""
    stream_seconds: float | None = 300.0
    """How long streams wait for a node to come back, or for nodes to agree; without it, for ever."""
