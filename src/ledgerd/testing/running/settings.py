"""What the tests and the program of a node say to each other at its start."""

from __future__ import annotations

import msgspec


class NodeSettings(msgspec.Struct, frozen=True):
    """What the tests say to the node at its start."""

    folder: str
    network: str = "testnet"
    """The name of a network, or the path of a chain file."""
    validators: tuple[str, ...] = ()
    """Who makes blocks besides those whom the chain begins with, with one of their keys."""
    ahead: int = 0
    """Microseconds that its clock is ahead of the machine's: so far ahead of it may the blocks of others be."""


class Listening(msgspec.Struct, frozen=True):
    """Where a node listens, once it answers."""

    http: int
    websocket: int
