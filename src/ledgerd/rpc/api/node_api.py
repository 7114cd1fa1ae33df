"""`node_api`: the status of this node, for monitoring. The reference does not have this API.

The main process answers; the topics of the requests are at the end of this module. Addresses of peers are not given.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec

from ledgerd.codec.numbers import UInt32
from ledgerd.rpc.api.node_status import NodeStatus, StatusBoard, status_of
from ledgerd.rpc.call.counts import UNCOUNTED, exactly
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.view import Node
from ledgerd.rpc.link.topics import STATUS

NODE_API = Api("node_api", "How the node itself is: for whoever watches it.")


class PeerNetwork(msgspec.Struct, frozen=True):
    """Where the node stands among its peers."""

    mode: str
    """`sync` while it catches up, `forward` at the head of the chain, `alone` if it runs without peers."""
    peers: UInt32
    """Peers that it exchanges new blocks with."""
    connections: UInt32
    """Open connections, with those that are being established."""
    fork_status: str
    """`normal`, or during a fork `looking` or `minority`."""


@NODE_API.method(args=exactly(0), cached=False, examples=[[]])
async def network(node: Node) -> PeerNetwork:
    """Where the node stands among its peers."""
    return msgspec.msgpack.decode(await node.main.ask(STANDING, b""), type=PeerNetwork)


@NODE_API.method(args=UNCOUNTED, cached=False, examples=[[]])
async def follow_status(node: Node, known: UInt32 = 0) -> AsyncGenerator[NodeStatus, None]:
    """How the node stands: now, if the number of that is another than the known one, and then at each change.

    Over HTTP the answer is the first of these, so a client that sends the number that it has waits for the next change.
    """
    async with aclosing(node.main.events(STATUS)) as events:
        latest = node.service(StatusBoard).status
        if latest and status_of(latest).number != known:
            yield status_of(latest)
        async for payload in events:
            yield status_of(payload)


STANDING = "where the node stands among its peers"
"""A request without arguments, answered with a `PeerNetwork`."""
