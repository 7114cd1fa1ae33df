"""What can go wrong for a program that asks nodes: one class for each thing that it may want to do next."""

from __future__ import annotations

from typing import ClassVar


class ClientError(Exception):
    """The root of all of them. `is_temporary`: the same may succeed later, or with another node."""

    is_temporary: ClassVar[bool] = False


class NodeUnavailable(ClientError):
    """No node could be reached, or the connection ended before the answer. What was sent may have arrived."""

    is_temporary = True


class TimedOut(NodeUnavailable):
    """The answer did not come in time. What was sent may have arrived."""


class WrongAnswer(ClientError):
    """What came is no answer of a node to what was asked: a page, half a message, JSON of another form, too much."""

    is_temporary = True


class WrongChain(ClientError):
    """The node is of another chain than the one that is asked for."""


class NodeError(ClientError):
    """A node answers with an error."""


class UnknownMethod(NodeError):
    """The node does not have the API or the method: its plugin is off, or the node is older."""
