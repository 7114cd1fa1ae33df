"""Why the history in PostgreSQL cannot be used just now, in words for the operator; the chain does not need it."""

from __future__ import annotations

from ledgerd.protocol.errors import OperatorError


class PostgresUnavailable(OperatorError):
    """The server is not there, or does not do what it is asked: another attempt may succeed."""


class PostgresRefused(OperatorError):
    """The database is not one that this node can feed: the operator has to see to it."""
