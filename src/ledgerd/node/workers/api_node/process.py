"""The main process of an API node: it holds the listening sockets, and starts its workers again when they end."""

from __future__ import annotations

import asyncio
import logging
import signal
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ledgerd.metrics.memory import SharedMemory
from ledgerd.node.workers.api_node.replica import ReplicaPart
from ledgerd.node.workers.api_node.settings import API_NODE_PARTS, ApiNodeSettings
from ledgerd.node.workers.settings import METRICS_PARTS, MetricsWorkerSettings
from ledgerd.protocol.chain_file import parameters_of
from ledgerd.replica.order import FollowOrder
from ledgerd.rpc.http.connection import Speech
from ledgerd.rpc.link.switchboard import Switchboard
from ledgerd.rpc.link.topics import HEALTH, HealthReport, packed_topic
from ledgerd.rpc.workers import ClientEndpoint, Workers, endpoints_of
from ledgerd.supervision.main_loop import on_a_loop
from ledgerd.supervision.part import Part, Supervisor
from ledgerd.supervision.tasks import first_of
from ledgerd.supervision.work import Work

if TYPE_CHECKING:
    from ledgerd.node.config.configuration import Configuration
    from ledgerd.replica.settings import StreamSettings
    from ledgerd.supervision.health import HealthNews

log = logging.getLogger(__name__)

STOPPED = 0
HISTORY_FOLDER = "history"

ANY_STATE = (
    "committee_api",
    "database_api",
    "invite_api",
    "network_broadcast_api",
    "paid_subscription_api",
    "raw_block",
    "validator_api",
)
"""What every state has; the others need what a node keeps only with their plugin."""
WITH_HISTORY = ("operation_history", "account_history", "state_api")

NAMES = {Speech.HTTP: ("http",), Speech.WEBSOCKET: ("ws",), Speech.BOTH: ("http", "ws")}


def run_api_node(configuration: Configuration, node: str, followed: StreamSettings) -> int:
    """Serve until asked to stop; returns the exit code."""
    return on_a_loop(lambda: live(configuration, node, followed))


async def live(configuration: Configuration, node: str, followed: StreamSettings) -> int:
    """Serve until a signal comes, or the workers or the replica cannot be started any more."""
    supervisor, part = Supervisor(), ApiNodePart(configuration, node)
    parts: list[Part] = [part]
    if followed.place is not None:
        parts.insert(0, ReplicaPart(follow_order(configuration, followed)))
    for each in parts:
        supervisor.take(each)
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    try:
        for each in parts:
            await each.start()
        await first_of(stopping.wait(), supervisor.failed())
    finally:
        for each in reversed(parts):
            await each.stop()
    if supervisor.failure is not None:
        raise supervisor.failure
    log.info("exited cleanly")
    return STOPPED


def follow_order(configuration: Configuration, followed: StreamSettings) -> FollowOrder:
    """What the process is told that follows a node."""
    application = configuration.application
    chain_id = bytes(parameters_of(application.chain).chain_id)
    return FollowOrder.of(configuration.invocation.data_dir, chain_id, followed, application.log_format)


def settings_of(configuration: Configuration, node: str) -> ApiNodeSettings:
    """The settings of every worker."""
    return ApiNodeSettings(
        data_dir=str(configuration.invocation.data_dir),
        state=str(configuration.chain.shared_file_dir),
        archive=str(configuration.chain.block_archive_dir),
        chain=configuration.application.chain,
        plugins=plugins_of(configuration),
        cached_answers=configuration.webserver.cached_answers,
        history=configuration.history,
        node=node,
        log_format=configuration.application.log_format,
    )


def plugins_of(configuration: Configuration) -> tuple[str, ...]:
    """The plugins that are named; where none are, those whose APIs any data directory can answer."""
    if any(setting.option.name == "plugin" and setting.where for setting in configuration.settings):
        return configuration.application.plugins
    has_history = configuration.history.store or (configuration.invocation.data_dir / HISTORY_FOLDER).is_dir()
    return (*ANY_STATE, *(WITH_HISTORY if has_history else ()))


class ApiNodePart(Part):
    """The workers of an API node, and the process that answers scrapes where it has an endpoint."""

    def __init__(self, configuration: Configuration, node: str) -> None:
        super().__init__(Work("api", is_needed=True))
        options, self._endpoints = configuration.webserver, endpoints_of(configuration.webserver)
        settings = settings_of(configuration, node)
        self._board, self._scraped = Switchboard({}), Switchboard({})
        endpoint = configuration.metrics.endpoint
        memory = None if endpoint is None else SharedMemory.create(options.thread_pool_size)
        if memory is not None:
            settings = replace(settings, metrics=memory.descriptor)
        self._workers = Workers(
            self._board,
            self._endpoints,
            API_NODE_PARTS,
            settings,
            count=options.thread_pool_size,
            limits=options.limits,
            work=self.work,
        )
        self._reader: Workers | None = None
        if memory is not None and endpoint is not None:
            self._workers.inherited = (memory.descriptor,)
            asked = MetricsWorkerSettings(settings.chain, memory.descriptor, settings.log_format, settings.data_dir)
            place = ClientEndpoint(endpoint.host, endpoint.port, Speech.BOTH)
            self._reader = Workers(
                self._scraped, [place], METRICS_PARTS, asked, count=1, limits=options.limits, work=self.work
            )
            self._reader.name, self._reader.inherited = "metrics reader", (memory.descriptor,)
        self._health = packed_topic(HealthReport({}))

    async def start(self) -> None:
        """Listen, and serve."""
        self._board.stand(HEALTH, self._health)
        await self._workers.start()
        for endpoint, (host, port) in zip(self._endpoints, self._workers.addresses, strict=True):
            for kind in NAMES[endpoint.speech]:
                told = {"kind": kind, "host": host, "port": port}
                log.info("start listening for %(kind)s requests on %(host)s:%(port)d", told)
        if self._reader is not None:
            await self._reader.start()
            ((host, port),) = self._reader.addresses
            log.info("metrics are served on %(host)s:%(port)d", {"host": host, "port": port})

    def health_changed(self, news: HealthNews) -> None:
        self._board.stand(HEALTH, packed_topic(HealthReport(dict(news.down), news.warnings)))

    async def stop(self) -> None:
        """Answer the requests in flight, then stop."""
        await self._workers.stop()
        if self._reader is not None:
            await self._reader.stop()
