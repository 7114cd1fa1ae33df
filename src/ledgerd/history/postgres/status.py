"""The status that the feed of PostgreSQL publishes, and why it cannot be used; no driver is needed to read this."""

from __future__ import annotations

import msgspec

from ledgerd.protocol.errors import OperatorError


class FeedStatus(msgspec.Struct, frozen=True):
    """The progress of the feed, for the node and its operator."""

    block: int = 0
    reason: str = ""
    """Why nothing is fed just now; empty while it works."""
    warning: str = ""
    """A warning for the operator while the feed works."""


class PostgresUnavailable(OperatorError):
    """The server is not there, or does not do what it is asked: another attempt may succeed."""


class PostgresRefused(OperatorError):
    """The database is not one that this node can feed: the operator has to see to it."""
