"""`operator_api`: details of this node for its operator, at the endpoint of metrics alone."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from ledgerd.codec.numbers import UInt32
from ledgerd.rpc.api.node_status import NodeDetails, StatusBoard, details_of
from ledgerd.rpc.call.counts import UNCOUNTED
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.view import Node
from ledgerd.rpc.link.topics import DETAILS

OPERATOR_API = Api("operator_api", "How this node is, for its operator.")


@OPERATOR_API.method(args=UNCOUNTED, cached=False)
async def follow(node: Node, known: UInt32 = 0) -> AsyncGenerator[NodeDetails, None]:
    """The details of the node, now if their number is another than the known one, and at each change."""
    async with aclosing(node.main.events(DETAILS)) as events:
        latest = node.service(StatusBoard).details
        if latest and details_of(latest).status.number != known:
            yield details_of(latest)
        async for payload in events:
            yield details_of(payload)
