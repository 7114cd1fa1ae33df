"""How an application is fed."""

from __future__ import annotations

import msgspec


class FeedSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes that blocks come from, the database of the tables, and how much is done at once."""

    nodes: tuple[str, ...]
    database: str
    until: int | None = None
    """The last block; without it, there is none."""
    handler_seconds: float = 30.0
    """The longest that a handler may take for an operation."""
    blocks_at_once: int = 500
    """The most irreversible blocks in one transaction."""
    batch_seconds: float = 1.0
    """A transaction over the past is closed after so long, however few blocks it has."""
    poll_seconds: float | None = None
    first_pause: float = 1.0
    longest_pause: float = 60.0
    """The longest pause between two tries while something fails."""
    stop_seconds: float = 5.0
    """The time that a transaction has to end when the program does."""
