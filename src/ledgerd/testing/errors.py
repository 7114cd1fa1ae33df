"""What a test is told when something goes wrong."""

from __future__ import annotations

from typing import Any


class NodeFailed(Exception):
    """The node did not start, or has ended, or does not answer; the text has the last lines of its log."""


class RequestRefused(Exception):
    """The node has refused what was asked of it. `str()` of it is the rule that was broken, as all nodes send it."""

    def __init__(self, message: str, data: Any = None, code: object = None) -> None:  # noqa: ANN401 - JSON of the node
        super().__init__(message.strip())
        self.data = data
        """More of the node's error: its `name` names the rule."""
        self.code = code

    @property
    def name(self) -> str:
        """The rule's name, such as `tx_missing_active_auth`; empty if the node gives none."""
        return str(self.data.get("name", "")) if isinstance(self.data, dict) else ""


class NoKey(Exception):
    """A transaction needs the key of an account that the chain of the test did not make."""


class NoJoin(Exception):
    """The two sides of a fork do not come to the same head."""
