"""What an explorer is told at its start."""

from __future__ import annotations

import msgspec

from ledgerd.protocol.types.endpoint import Endpoint


class ExplorerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The address of the node, and the endpoint for browsers."""

    node: str
    live: str = ""
    """The address of its WebSocket endpoint; where there is none, the head is asked for again and again."""
    listen: Endpoint
    trusted_proxies: tuple[str, ...] = ()
    inherited: int = -1
    """The descriptor of a socket that listens already, in place of one that is opened here; -1 for none."""


class ExplorerOptions(msgspec.Struct, frozen=True):
    """The options of an explorer that a node starts beside it; without an endpoint there is none."""

    endpoint: Endpoint | None
    trusted_proxies: tuple[str, ...] = ()
