"""The explorer as a part of the node: its process, which is started again when it ends, and which nothing waits for."""

from __future__ import annotations

import os
import socket
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from ledgerd.basics.addresses import reached_at
from ledgerd.explorer.settings import ExplorerSettings
from ledgerd.metrics.table import process
from ledgerd.node.parts.context import PartContext
from ledgerd.node.parts.watching.meters import MetersPart
from ledgerd.node.workers.settings import ExplorerArguments
from ledgerd.protocol.endpoint import Endpoint
from ledgerd.rpc.http.connection import Speech
from ledgerd.rpc.http.listeners import listen
from ledgerd.rpc.workers import endpoints_of
from ledgerd.supervision.part import Part
from ledgerd.supervision.processes import PIPE, RETURNS_MEMORY, Child, module_command

if TYPE_CHECKING:
    from ledgerd.metrics.cells import Cells
    from ledgerd.node.parts.clients.webserver import WebserverPart
    from ledgerd.supervision.work import Working


PROCESS = "ledgerd.node.workers.beside.explorer_worker"
STOP_SECONDS = 5.0


class ExplorerProcessPart(Part):
    """The explorer of this node.

    The node listens for it, so that a port which another program has is said at the start, and visitors that come while
    the process starts again wait for it.
    """

    def __init__(self, context: PartContext, webserver: WebserverPart, meters: MetersPart) -> None:
        super().__init__(context.work)
        configuration = context.configuration
        self._options = configuration.explorer
        self._log_format = configuration.application.log_format
        self._speeches = [each.speech for each in endpoints_of(configuration.webserver)]
        self._webserver = webserver
        self._listener: socket.socket | None = None
        self._child: Child | None = None
        self._starts = 0
        meters.on_main.append(lambda made: partial(self._sample, made.cells))

    async def start(self) -> None:
        """Listen, and start the process; the node answers clients by now."""
        endpoint = self._options.endpoint
        if endpoint is None:
            return
        (self._listener,) = listen(endpoint.host, endpoint.port, 1)
        self.work.keep("the process that serves it", self._serve)

    async def _serve(self, working: Working) -> None:
        if self._listener is None:
            return
        order = ExplorerArguments(self.settings(self._listener), os.getpid(), self._log_format)
        child = self._child = Child.start(
            module_command(PROCESS),
            stdin=PIPE,
            inherited=(self._listener.fileno(),),
            has_own_session=True,
            environment=RETURNS_MEMORY,
        )
        self._starts += 1
        child.tell(msgspec.json.encode(order))
        working()
        await child.ended()

    def settings(self, listener: socket.socket) -> ExplorerSettings:
        """The settings of the process: where this node is reached from its own machine."""
        places = zip(self._speeches, self._webserver.addresses, strict=True)
        at = {speech: Endpoint(reached_at(host), port) for speech, (host, port) in places}
        http, websocket = (at.get(each, at.get(Speech.BOTH)) for each in (Speech.HTTP, Speech.WEBSOCKET))
        return ExplorerSettings(
            node=f"http://{http}",
            live=f"ws://{websocket}" if websocket else "",
            listen=Endpoint(*listener.getsockname()[:2]),
            trusted_proxies=self._options.trusted_proxies,
            inherited=listener.fileno(),
        )

    def _sample(self, cells: Cells) -> None:
        """Whether its process runs, for metrics."""
        cells.gauge(process.EXPLORER_RUNNING).set(self._child is not None and self._child.is_running)
        cells.counter(process.EXPLORER_STARTS).reach(self._starts)

    async def stop(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.terminate()
            await self._child.stop(STOP_SECONDS)
        if self._listener is not None:
            self._listener.close()
