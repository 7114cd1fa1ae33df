"""What can go wrong between the explorer and its node."""

from __future__ import annotations


class NodeAway(Exception):
    """The node does not answer, or not as a node does; the text says how."""
