"""Serving replicas: all of it that runs in the process which a node has for that."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ledgerd.replica.order import ServerOrder
from ledgerd.replica.serving.hub import Hub
from ledgerd.replica.serving.serving import ReplicaServer
from ledgerd.replica.source import NodeFiles
from ledgerd.supervision.tasks import Tasks, first_of

MOST_NOTICES = 65_536


async def serve(order: ServerOrder, commits: asyncio.StreamReader) -> None:
    """Serve replicas; a byte comes for each commit, until the node closes that stream."""
    source = NodeFiles(Path(order.state), Path(order.logs), Path(order.archive))
    hub = Hub(source)
    failed: list[BaseException] = []
    ended = asyncio.Event()

    def fail(problem: BaseException) -> None:
        failed.append(problem)
        ended.set()

    tasks = Tasks(fail)
    server = ReplicaServer(hub, order.settings, tasks)

    async def notice() -> None:
        while await commits.read(MOST_NOTICES):
            hub.notice()

    try:
        await first_of(notice(), ended.wait(), server.accept(), hub.run(), hub.count())
        if failed:
            raise failed[0]
    finally:
        server.close()
        await tasks.stop()
        source.close()
