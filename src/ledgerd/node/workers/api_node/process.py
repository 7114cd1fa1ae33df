"""The main process of an API node: it holds the listening sockets, and starts its workers again when they end."""

from __future__ import annotations

import asyncio
import logging
import signal
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ledgerd.history.settings import HISTORY_FOLDER
from ledgerd.metrics.memory import SharedMemory
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.workers.beside.plugin_orders import plugin_processes
from ledgerd.node.workers.serving import ApiWorkersPart, metrics_reader
from ledgerd.node.workers.settings import MetricsWorkerSettings, WorkerSettings, worker_settings
from ledgerd.protocol.networks.chain_file import parameters_of
from ledgerd.replica.order import FollowOrder
from ledgerd.replica.settings import StreamSettings
from ledgerd.rpc.link.switchboard import Switchboard
from ledgerd.rpc.workers import Workers
from ledgerd.supervision.part import Part, Supervisor
from ledgerd.supervision.processes import Child, module_command
from ledgerd.supervision.tasks import first_of
from ledgerd.supervision.this_process import on_a_loop
from ledgerd.supervision.work import Ended, Work, Working

log = logging.getLogger(__name__)

COMMAND = module_command("ledgerd.node.workers.beside.replica_follower")
ENDING_SECONDS = 15.0
"""The time that the follower has to end, since it writes what it has to the disk first."""


class ReplicaPart(Part):
    """The process that follows; while it is down, the workers answer from its last commit."""

    def __init__(self, order: FollowOrder) -> None:
        super().__init__(Work("replica"))
        self._order = order

    async def start(self) -> None:
        log.info(
            "following the node at %(place)s into %(folder)s",
            {"place": self._order.place, "folder": str(Path(self._order.data_dir))},
        )
        self.work.keep("the process that follows the node", self._live)

    async def _live(self, working: Working) -> None:
        child, ours = Child.on_socket(COMMAND)
        with ours:
            try:
                loop = asyncio.get_running_loop()
                await loop.sock_sendall(ours, msgspec.json.encode(self._order) + b"\n")
                if await loop.sock_recv(ours, 1):
                    working()
                raise Ended(f"its process has ended with code {await child.ended()}")
            finally:
                ours.close()
                await child.stop(ENDING_SECONDS)


STOPPED = 0

ANY_STATE = (
    "committee_api",
    "database_api",
    "invite_api",
    "network_broadcast_api",
    "paid_subscription_api",
    "raw_block",
    "validator_api",
)
"""APIs for which every state suffices; the others need what a node keeps only with their plugin."""
WITH_HISTORY = ("operation_history", "account_history", "state_api")


def run_api_node(configuration: Configuration, node: str, followed: StreamSettings) -> int:
    return on_a_loop(lambda: live(configuration, node, followed))


async def live(configuration: Configuration, node: str, followed: StreamSettings) -> int:
    supervisor, part = Supervisor(), ApiNodePart(configuration, node)
    parts: list[Part] = [part]
    if followed.place is not None:
        parts.insert(0, ReplicaPart(follow_order(configuration, followed)))
    for each in parts:
        supervisor.add(each)
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    try:
        for each in parts:
            await each.start()
        await first_of(stopping.wait(), supervisor.failed())
    finally:
        supervisor.expect_ends()
        for each in reversed(parts):
            await each.stop()
    if supervisor.failure is not None:
        raise supervisor.failure
    log.info("exited cleanly")
    return STOPPED


def follow_order(configuration: Configuration, followed: StreamSettings) -> FollowOrder:
    application = configuration.application
    chain_id = bytes(parameters_of(application.chain).chain_id)
    return FollowOrder.of(configuration.invocation.data_dir, chain_id, followed, application.log_format)


def settings_of(configuration: Configuration, node: str) -> WorkerSettings:
    settings = worker_settings(configuration)
    return replace(settings, plugins=plugins_of(configuration), is_api_node=True, node=node)


def plugins_of(configuration: Configuration) -> tuple[str, ...]:
    if any(setting.option.name == "plugin" and setting.where for setting in configuration.settings):
        return configuration.application.plugins
    has_history = configuration.history.store or (configuration.invocation.data_dir / HISTORY_FOLDER).is_dir()
    return (*ANY_STATE, *(WITH_HISTORY if has_history else ()))


class ApiNodePart(ApiWorkersPart):
    """The workers of an API node, and the process that answers scrapes where it has an endpoint."""

    def __init__(self, configuration: Configuration, node: str) -> None:
        options, settings = configuration.webserver, settings_of(configuration, node)
        super().__init__(Work("api", is_needed=True), options, settings, {})
        self._plugins = plugin_processes(settings, options.limits, self.work, self.publish_retained)
        self._reader: Workers | None = None
        self._memory: SharedMemory | None = None
        endpoint = configuration.metrics.endpoint
        if endpoint is not None:
            self._memory = memory = SharedMemory.create(options.thread_pool_size)
            asked = MetricsWorkerSettings(
                settings.chain,
                memory.descriptor,
                settings.log_format,
                settings.data_dir,
                installed=settings.installed,
            )
            self._reader = metrics_reader(Switchboard({}), endpoint, asked, options.limits, self.work)

    async def start(self) -> None:
        self._open()
        await self._serve(self._memory)
        self._plugins.start()
        if self._reader is not None:
            await self._reader.start()
            ((host, port),) = self._reader.addresses
            log.info("metrics are served on %(host)s:%(port)d", {"host": host, "port": port})

    async def stop(self) -> None:
        await super().stop()
        if self._reader is not None:
            await self._reader.stop()
