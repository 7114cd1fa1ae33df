"""Blocks of nodes for an application: the client's stream, with what the blocks bring about where that is asked for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence

from ledgerd.app.declaring.application import Application
from ledgerd.app.declaring.steps import FedBlock
from ledgerd.app.feeding.settings import FeedSettings
from ledgerd.client.address import SECURE_SOCKET, SECURE_WEB, SOCKET, WEB, read_address
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId, block_number_of
from ledgerd.sdk import Client
from ledgerd.sdk.connection.limits import ClientLimits
from ledgerd.sdk.connection.node_link import NodeLink
from ledgerd.sdk.streams.cursor import StreamCursor
from ledgerd.sdk.streams.events import BlockEvent, Undone
from ledgerd.sdk.streams.following import BlockFollower, FollowSettings
from ledgerd.sdk.streams.opening import BESIDE_BLOCKS
from ledgerd.sdk.streams.reading.answers import own_rows
from ledgerd.sdk.streams.reading.nodes import HeadReport, NodesSource
from ledgerd.sdk.streams.waiting import BlockWaiter

AHEAD = 4
"""Requests that are under way at once while the past is read."""

TIMEOUT = 10.0
"""Seconds for which nodes may fail before the application is reported as failing."""


class WatchedNodes(NodesSource):
    """Nodes, with the head and the last irreversible block of their latest report."""

    head = 0
    irreversible = NO_BLOCK
    on_report: Callable[[], None] = staticmethod(lambda: None)
    """Called after each report of a node."""

    async def report(self) -> HeadReport[NodeLink]:
        report = await super().report()
        self.head, self.irreversible = block_number_of(report.head), report.irreversible
        self.on_report()
        return report


class BlockFeed:
    """The blocks of nodes, from the block at which an application stands."""

    def __init__(self, application: Application, settings: FeedSettings, client: Client) -> None:
        self._application, self.settings, self._client = application, settings, client
        self._waiter = BlockWaiter(client.nodes)
        self.nodes = WatchedNodes(client.nodes, self._waiter.wait, with_history=application.wants_history)

    async def blocks(self, known: Sequence[BlockId]) -> AsyncGenerator[FedBlock | Undone, None]:
        """The blocks after the newest known block that is still on the chain; with no known blocks, from the
        application's first.
        """
        since = [StreamCursor(each) for each in known] or self._application.first_block
        calls = 2 if self._application.wants_history else 1
        settings = FollowSettings(
            irreversible=False,
            until=self.settings.until,
            window=max(len(known), 256),
            at_a_time=max(1, (self._client.nodes.limits.largest_batch - BESIDE_BLOCKS) // calls),
            ahead=AHEAD,
            timeout=TIMEOUT,
        )
        events = BlockFollower(self.nodes, since, settings, self._client.nodes.clock).events()
        try:
            async for event in events:
                yield event if isinstance(event, Undone) else self._fed(event)
        finally:
            await events.aclose()

    def close(self) -> None:
        self._waiter.close()

    def _fed(self, event: BlockEvent) -> FedBlock:
        block = event.block
        rows = own_rows(block) if event.rows is None else event.rows
        wanted = [each for each in rows if self._application.wants(each.operation)]
        return FedBlock(event.id, block.previous, block.timestamp, block.validator, wanted, event.is_irreversible)


def client_of(settings: FeedSettings, chain: str) -> Client:
    limits = ClientLimits(poll_seconds=settings.poll_seconds)
    return Client(*settings.nodes, chain=chain or None, limits=limits)


def require_addresses(nodes: Sequence[str]) -> None:
    """Refuse wrong addresses before anything starts, with an `OperatorError`."""
    for each in nodes:
        read_address(each, (WEB, SECURE_WEB, SOCKET, SECURE_SOCKET))
