"""What the tests and the program of a node say to each other at its start."""

from __future__ import annotations

import msgspec


class NodeSettings(msgspec.Struct, frozen=True):
    """The settings of the tests for the node."""

    folder: str
    network: str = "testnet"
    """The name of a network, or the path of a chain file."""
    validators: tuple[str, ...] = ()
    """The validators that make blocks besides those of the new chain, with one of their keys."""
    ahead: int = 0
    """Microseconds by which its clock is ahead of the machine's: blocks of others may be as far ahead."""


class Listening(msgspec.Struct, frozen=True):
    """The addresses of a node, once it answers."""

    http: int
    websocket: int
