"""API workers as a part of a node or of an API node, and the process that answers scrapes."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ledgerd.metrics.memory import SharedMemory
from ledgerd.node.workers.settings import API_PARTS, METRICS_PARTS, MetricsWorkerSettings, WorkerSettings
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.http.connection import Speech
from ledgerd.rpc.link.switchboard import Handler, Switchboard
from ledgerd.rpc.link.topics import HEALTH, HealthReport, packed_topic
from ledgerd.rpc.settings import WebserverSettings
from ledgerd.rpc.workers import ClientEndpoint, Workers, endpoints_of
from ledgerd.supervision.health import HealthStatus
from ledgerd.supervision.part import Part
from ledgerd.supervision.work import Work

log = logging.getLogger(__name__)

KINDS = {Speech.HTTP: ("http",), Speech.WEBSOCKET: ("ws",), Speech.BOTH: ("http", "ws")}


class ApiWorkersPart(Part):
    """API workers, and what is published to them."""

    def __init__(
        self, work: Work, options: WebserverSettings, settings: WorkerSettings, handlers: Mapping[str, Handler]
    ) -> None:
        super().__init__(work)
        self._options, self._settings = options, settings
        self._endpoints = endpoints_of(options)
        self.board = Switchboard(handlers)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._workers: Workers | None = None
        self._health = packed_topic(HealthReport({}))

    @property
    def addresses(self) -> list[tuple[str, int]]:
        return [] if self._workers is None else self._workers.addresses

    def _open(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.board.publish_retained(HEALTH, self._health)

    async def _serve(self, memory: SharedMemory | None, listening: Sequence[list[socket.socket]] = ()) -> None:
        settings = self._settings if memory is None else replace(self._settings, metrics=memory.descriptor)
        count, limits = self._options.thread_pool_size, self._options.limits
        self._workers = Workers(
            self.board, self._endpoints, API_PARTS, settings, count=count, limits=limits, work=self.work
        )
        self._workers.inherited = () if memory is None else (memory.descriptor,)
        await self._workers.start(listening)
        for endpoint, (host, port) in zip(self._endpoints, self.addresses, strict=True):
            for kind in KINDS[endpoint.speech]:
                log.info(
                    "start listening for %(kind)s requests on %(host)s:%(port)d",
                    {"kind": kind, "host": host, "port": port},
                )

    def publish(self, topic: str, payload: bytes) -> None:
        """Publish an event to the workers; from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.board.publish, topic, payload)

    def publish_retained(self, topic: str, payload: bytes) -> None:
        """Publish a value to the workers, and to later ones at their start; from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.board.publish_retained, topic, payload)

    def health_changed(self, status: HealthStatus) -> None:
        self._health = packed_topic(HealthReport(dict(status.down), status.warnings))
        self.publish_retained(HEALTH, self._health)

    async def stop(self) -> None:
        self._loop = None
        if self._workers is not None:
            await self._workers.stop()
            self._workers = None


def metrics_reader(
    board: Switchboard, endpoint: Endpoint, settings: MetricsWorkerSettings, limits: Limits, work: Work
) -> Workers:
    place = ClientEndpoint(endpoint.host, endpoint.port, Speech.BOTH, "metrics-endpoint")
    reader = Workers(board, [place], METRICS_PARTS, settings, count=1, limits=limits, work=work)
    reader.name, reader.inherited = "metrics reader", (settings.memory,)
    return reader
