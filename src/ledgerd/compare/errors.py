"""Why two nodes cannot be compared."""

from __future__ import annotations

from ledgerd.protocol.errors import OperatorError


class NotComparable(OperatorError):
    """One of the nodes does not answer, answers with nonsense, or they are of different chains."""


class NobodyListens(NotComparable):
    """The machine of a node answers, and says that nothing listens there: the node is stopped."""
