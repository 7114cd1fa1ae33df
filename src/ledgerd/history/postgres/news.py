"""What a feed tells of itself; the node reads it, and needs no driver of PostgreSQL for that."""

from __future__ import annotations

import msgspec


class FeedNews(msgspec.Struct, frozen=True):
    """How the feed stands, for the node and its operator."""

    block: int = 0
    """The last block in PostgreSQL."""
    reason: str = ""
    """Why nothing is fed just now; empty while it works."""
    warning: str = ""
    """What the operator has to see to, while it works."""
