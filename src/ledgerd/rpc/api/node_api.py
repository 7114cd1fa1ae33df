"""`node_api`: how this node itself is, for whoever watches it. The reference has nothing like it.

The main process knows; what is asked of it stands at the end of this module. Addresses of peers are not told.
"""

from __future__ import annotations

import msgspec

from ledgerd.codec.numbers import UInt32
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.view import Node

NODE_API = Api("node_api", "How the node itself is: for whoever watches it.")


class PeerNetwork(msgspec.Struct, frozen=True):
    """Where the node stands among its peers."""

    mode: str
    """`sync` while it catches up, `forward` when it is pushed what is new, `alone` where it speaks with nobody."""
    peers: UInt32
    """Peers that blocks are exchanged with."""
    connections: UInt32
    """Open connections, those that are still being made among them."""
    fork_status: str
    """`normal`, or what is done about a fork: `looking` or `minority`."""


@NODE_API.method(args=exactly(0), cached=False, examples=[[]])
async def network(node: Node) -> PeerNetwork:
    """Where the node stands among its peers."""
    return msgspec.msgpack.decode(await node.main.ask(STANDING, b""), type=PeerNetwork)


STANDING = "where the node stands among its peers"
"""A question without words. The answer is a `PeerNetwork`."""
