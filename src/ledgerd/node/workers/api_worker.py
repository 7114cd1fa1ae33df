"""Assembles the service of an API worker, of a node and of an API node alike: the APIs of its plugins over a source."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from ledgerd.archive.sealed import ArchivedBlocks
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.histories import History, JournaledHistory
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.history.settings import HistorySettings
from ledgerd.metrics.cells import Cells
from ledgerd.metrics.layout import worker_layout
from ledgerd.metrics.memory import SharedMemory, worker_region
from ledgerd.metrics.meters.process import ProcessMeter, every_second
from ledgerd.metrics.meters.requests import RequestMeter
from ledgerd.metrics.table import process, requests
from ledgerd.node.config.logging.setup import set_up_child_logging
from ledgerd.node.time_source import TimeSource
from ledgerd.node.workers.known_methods import EVERY_API, counted_methods
from ledgerd.node.workers.node_source import NodeSource
from ledgerd.node.workers.settings import NO_METRICS, WorkerSettings
from ledgerd.protocol.networks.chain_file import parameters_of
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.rpc.api.database_api.globals import Storage
from ledgerd.rpc.api.history.history_api import HISTORY_API
from ledgerd.rpc.api.history.operation_history import ACCOUNT_HISTORY, OPERATION_HISTORY
from ledgerd.rpc.api.history.server_events import EVENTS_PATH, events_of
from ledgerd.rpc.api.history.state_api import STATE_API
from ledgerd.rpc.api.history.stream import Subscriptions
from ledgerd.rpc.api.node.dev_api import DEV_API
from ledgerd.rpc.api.node.node_api import NODE_API
from ledgerd.rpc.api.node.node_status import LatestStatus
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.blocks.records import BlockRecords
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node
from ledgerd.rpc.http.places.connection_table import Activity
from ledgerd.rpc.http.routes import NodeHealth, routes_of
from ledgerd.rpc.http.service import PageRoutes, Service
from ledgerd.rpc.link.link import Link
from ledgerd.rpc.link.topics import HEALTH, PLUGIN_APIS

if TYPE_CHECKING:
    from ledgerd.node.workers.api_node.source import DirectorySource


class WorkerMetrics:
    """Writes the numbers of one worker. A worker that replaces a dead one continues its counts."""

    def __init__(self, descriptor: int, number: int, service: Service, methods: tuple[str, ...]) -> None:
        layout = worker_layout(methods)
        cells = Cells(SharedMemory(descriptor).region(worker_region(number), layout.size), layout)
        self._service = service
        self._process = ProcessMeter(cells)
        self._delays = cells.histogram(process.LOOP_DELAY, process.MAIN_LOOP)
        self._bytes = [cells.counter(requests.RPC_BYTES, each) for each in ("received", "sent")]
        self._accepted = cells.counter(requests.CONNECTIONS_MADE)
        self._written = [0, 0, 0]
        self._open = [cells.gauge(requests.CONNECTIONS, each) for each in ("http", "websocket")]
        self._unanswered = cells.gauge(requests.UNANSWERED)
        self._held = [cells.gauge(requests.HELD_BYTES, each) for each in ("requests", "answers")]
        self._cached = cells.gauge(requests.CACHED_ANSWERS)
        self._limits = {option: cells.counter(requests.LIMITS_REACHED, option) for option in requests.OPTION.values}
        self._limits_written: dict[str, int] = {}
        service.dispatcher.count_with(RequestMeter(cells, methods))

    async def run(self) -> None:
        self.sample()
        await every_second(self._delays, self.sample)

    def sample(self) -> None:
        service = self._service
        self._process.sample()
        service.dispatcher.cache.report_hits()
        totals = [service.received, service.sent, service.accepted]
        for counter, now, before in zip((*self._bytes, self._accepted), totals, self._written, strict=True):
            counter.add(now - before)
        self._written = totals
        web_sockets = sum(each.is_web_socket for each in service.connections)
        self._open[0].set(len(service.connections) + len(service.spare_connections) - web_sockets)
        self._open[1].set(web_sockets)
        self._unanswered.set(sum(each.activity is Activity.WAITING for each in service.connections))
        self._held[0].set(service.buffered_requests.total)
        self._held[1].set(service.dispatcher.unsent_answers.total)
        self._cached.set(len(service.dispatcher.cache))
        for option, total in service.dispatcher.bounds.totals.items():
            self._limits.get(option, self._limits["other"]).add(total - self._limits_written.get(option, 0))
            self._limits_written[option] = total


WorkerSource: TypeAlias = "NodeSource | DirectorySource"

HISTORY_APIS = frozenset({OPERATION_HISTORY.name, ACCOUNT_HISTORY.name, HISTORY_API.name, STATE_API.name})


def logged_service(link: Link, limits: Limits, order: msgspec.Raw) -> Service:
    """The service of a process of its own, whose lines of the log go to standard error."""
    settings = msgspec.json.decode(order, type=WorkerSettings)
    set_up_child_logging(settings.log_format)
    made, source = service(link, limits, settings, parameters_of(settings.chain))
    source.begin(made)
    if settings.metrics != NO_METRICS:
        link.tasks.begin(WorkerMetrics(settings.metrics, link.number, made, counted_methods(settings.installed)).run())
    return made


def service(
    link: Link, limits: Limits, settings: WorkerSettings, network: ChainParameters
) -> tuple[Service, WorkerSource]:
    logs, clock = Path(settings.data_dir) / STATE_FOLDER, TimeSource(network.clock).wall_seconds
    rolling = RollingBlockLogReader.open(logs)
    rolling.earlier = ArchivedBlocks(Path(settings.archive))
    blocks = KeptBlocks(BlockLogReader.open(logs), rolling)
    source: WorkerSource
    if settings.is_api_node:
        from ledgerd.node.workers.api_node.source import DirectorySource  # noqa: PLC0415 - a node's workers need none

        source = DirectorySource(link, settings, blocks, clock)
    else:
        source = NodeSource(link, settings)
    services: dict[type, object] = {
        KeptBlocks: blocks,
        BlockRecords: BlockRecords(logs),
        Storage: Storage(Path(settings.state)),
        LatestStatus: source.status,
        **_histories(source, settings),
    }
    # Only the process of the chain can serve the API of developers.
    names = {*settings.plugins, NODE_API.name} - ({DEV_API.name} if settings.is_api_node else set())
    if source.history is not None:
        names.add(HISTORY_API.name)
    node = Node(network, source.reading, source.main, services, source.projections)
    apis = [api for api in EVERY_API if api.name in names]
    cache = AnswerCache(settings.cached_answers, source.cached_bytes)
    dispatcher = Dispatcher(apis, node, clock, cache=cache, limits=limits)
    if settings.history.store:
        dispatcher.uncached = HISTORY_APIS
    health = NodeHealth()
    link.on(HEALTH, health.receive)

    def pages(more: Sequence[Api] = ()) -> PageRoutes:
        return source.pages(routes_of([*apis, *more], node, clock, health, source.status), health)

    made = Service(dispatcher, limits, pages())
    if settings.installed:
        from ledgerd.plugins.calling import PluginApis  # noqa: PLC0415 - most nodes run none

        link.on(PLUGIN_APIS, PluginApis(made, limits.answer_bytes, pages).receive)
    if source.history is not None:
        made.event_streams = {EVENTS_PATH: partial(events_of, node)}
    made.is_private = DEV_API in apis
    source.connect(made)
    return made, source


def _histories(source: WorkerSource, settings: WorkerSettings) -> dict[type, object]:
    if source.history is None:
        return {}
    answering = _stored_history(settings.history) or source.history
    # That of a node is never behind; the directory of an API node may have none.
    streamed = answering if settings.is_api_node else source.history
    return {
        History: answering,
        JournaledHistory: JournaledHistory(source.history),
        Subscriptions: Subscriptions(streamed),
    }


def _stored_history(settings: HistorySettings) -> History | None:
    if not settings.store:
        return None
    from ledgerd.history.postgres.reader import PostgresHistory  # noqa: PLC0415 - an extra that may be missing

    return PostgresHistory(settings.store, settings)
