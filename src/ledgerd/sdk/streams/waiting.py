"""How a stream waits for the next block: a node with an address of WebSocket says it; otherwise nodes are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerd.client.address import SECURE_SOCKET, SOCKET
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.sdk.connection.nodes import Nodes

if TYPE_CHECKING:
    from ledgerd.sdk.connection.web_socket import BlockSubscription

POLLS = 3
"""Requests for the head in each interval of blocks."""
SILENT_BLOCKS = 2
"""Intervals of blocks without a message over the WebSocket after which nodes are asked all the same."""


class BlockWaiter:
    """Waits until there may be a block."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._subscription: BlockSubscription | None = None
        self._url = next((each.url for each in nodes.links if each.address.scheme in (SOCKET, SECURE_SOCKET)), "")

    async def wait(self) -> None:
        interval = self._nodes.config.get("CHAIN_BLOCK_INTERVAL")
        seconds = float(interval) if isinstance(interval, int) and interval > 0 else float(BLOCK_INTERVAL)
        if self._url and self._subscription is None:
            from ledgerd.sdk.connection.web_socket import BlockSubscription  # noqa: PLC0415 - not loaded where HTTP is spoken

            self._subscription = BlockSubscription(self._url, self._nodes.limits)
        if self._subscription is not None and await self._subscription.wait(SILENT_BLOCKS * seconds):
            return
        await self._nodes.clock.sleep(self._nodes.limits.poll_seconds or seconds / POLLS)

    def close(self) -> None:
        if self._subscription is not None:
            self._subscription.close()
