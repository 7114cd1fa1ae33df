"""Assembles the service of a worker of an API node: a directory that others write, and the APIs over it.

`service` is called in the worker's process, by the name in its arguments.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ledgerd.archive.sealed import ArchivedBlocks
from ledgerd.chain.chain import STATE_FOLDER
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.histories import History, JournaledHistory
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.node.config.logging.setup import set_up_child_logging
from ledgerd.node.config.options.application import OPERATION_HISTORY as HISTORY_PLUGIN
from ledgerd.node.time_source import MICRO, TimeSource
from ledgerd.node.workers.api_node.directory import DirectoryState
from ledgerd.node.workers.api_node.following import DirectoryFollower
from ledgerd.node.workers.api_node.forwarding import Forwarder
from ledgerd.node.workers.api_node.past import DirectoryHistory
from ledgerd.node.workers.api_node.settings import ApiNodeSettings
from ledgerd.node.workers.api_worker import HISTORY_APIS, asked_history
from ledgerd.node.workers.known_methods import EVERY_API, known_methods
from ledgerd.node.workers.settings import NO_METRICS
from ledgerd.node.workers.worker_metrics import WorkerMetrics
from ledgerd.protocol.chain_file import parameters_of
from ledgerd.rpc.api.history.server_events import EVENTS_PATH, events_of
from ledgerd.rpc.api.history.stream import Subscriptions
from ledgerd.rpc.api.history_api import HISTORY_API
from ledgerd.rpc.api.node_api import NODE_API
from ledgerd.rpc.api.node_status import StatusBoard
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.blocks.records import BlockRecords
from ledgerd.rpc.blocks.storage import Storage
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.envelope import NO_ID, error_answer
from ledgerd.rpc.call.errors import OTHER, ErrorObject
from ledgerd.rpc.call.view import Node
from ledgerd.rpc.http.responses import Page
from ledgerd.rpc.http.routes import NodeHealth, json_page, routes_of
from ledgerd.rpc.http.service import PageRoutes, Service
from ledgerd.rpc.link.topics import HEALTH
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.standing import StandingFile

if TYPE_CHECKING:
    from ledgerd.protocol.parameters import ChainParameters
    from ledgerd.rpc.call.limits import Limits
    from ledgerd.rpc.link.link import Link

MOST_BEHIND = 20
"""Blocks: a minute. With more, a load balancer should send requests elsewhere."""

CACHED_BYTES = 8 << 20
"""The most bytes of cached answers; a quarter of a node's."""

REFUSED = "This API node has nothing to answer from"

EXCLUDED = frozenset(("dev_api",))
"""APIs that only the process of the chain can serve."""


def logged_service(link: Link, limits: Limits, order: msgspec.Raw) -> Service:
    """The service of a process of its own, whose lines of the log go to standard error."""
    settings = msgspec.json.decode(order, type=ApiNodeSettings)
    set_up_child_logging(settings.log_format)
    made, follower = service(link, limits, settings, parameters_of(settings.chain))
    follower.look()
    link.tasks.begin(follower.run(lambda: bool(made.connections)))
    if settings.metrics != NO_METRICS:
        link.tasks.begin(WorkerMetrics(settings.metrics, link.number, made, known_methods()).run())
    return made


def service(
    link: Link, limits: Limits, settings: ApiNodeSettings, network: ChainParameters
) -> tuple[Service, DirectoryFollower]:
    """A worker's service over a directory, and what follows the directory."""
    state = DirectoryState(Path(settings.state), STORED_TABLES)
    logs = Path(settings.data_dir) / STATE_FOLDER
    rolling = RollingBlockLogReader.open(logs)
    rolling.earlier = ArchivedBlocks(Path(settings.archive))
    blocks = KeptBlocks(BlockLogReader.open(logs), rolling)
    time = TimeSource(network.clock)
    forwarder = Forwarder(settings.node, lambda: state.head.time if state.head else 0, lambda: time.wall() / MICRO)
    follower = DirectoryFollower(state, StandingFile(Path(settings.data_dir)), blocks, forwarder)
    services: dict[type, object] = {
        KeptBlocks: blocks,
        BlockRecords: BlockRecords(logs),
        Storage: Storage(Path(settings.state)),
        StatusBoard: StatusBoard(),
    }
    plugins = {*settings.plugins, NODE_API.name} - EXCLUDED
    if HISTORY_PLUGIN in plugins:
        history = DirectoryHistory(Path(settings.data_dir), settings.history)
        asked = asked_history(settings.history)
        services[History] = asked or history
        services[JournaledHistory] = JournaledHistory(history)
        services[Subscriptions] = Subscriptions(asked or history)
        follower.on_undone.append(history.forget)
        plugins.add(HISTORY_API.name)
    node = Node(network, state.snapshot, follower, services)
    apis = [api for api in EVERY_API if api.name in plugins]
    clock = lambda: time.wall() / MICRO  # noqa: E731 - the clock of the network, for two
    dispatcher = Dispatcher(apis, node, clock, cache=AnswerCache(settings.cached_answers, CACHED_BYTES), limits=limits)
    if settings.history.store:
        dispatcher.uncached = HISTORY_APIS
    health = NodeHealth()
    link.on(HEALTH, health.take)
    made = Service(dispatcher, limits)
    made.routes = _routes(follower, routes_of(apis, node, clock, health), health)
    if HISTORY_PLUGIN in plugins:
        made.event_streams = {EVENTS_PATH: partial(events_of, node)}
    follower.on_change.append(partial(_turn, made, follower))
    _turn(made, follower)
    return made, follower


def _turn(service: Service, follower: DirectoryFollower) -> None:
    """Drop what was kept of the former head, and refuse requests while there is nothing to answer from."""
    service.dispatcher.move_on()
    reason = follower.reason
    refusal = ErrorObject(OTHER, f"{REFUSED}: {reason}")
    service.refusal = error_answer(refusal, NO_ID) if reason else b""


def _routes(follower: DirectoryFollower, pages: PageRoutes, told: NodeHealth) -> PageRoutes:
    def health() -> Page:
        if follower.reason:
            return json_page(503, healthy=False, reason=follower.reason)
        return pages[b"/health"]()

    def ready() -> Page:
        if follower.reason:
            return json_page(503, ready=False, reason=follower.reason)
        behind = told.behind = None if follower.standing is None else follower.standing.behind
        if behind is not None and behind > MOST_BEHIND:
            return json_page(503, ready=False, reason=f"{behind} blocks behind the followed node")
        return pages[b"/ready"]()

    return {**pages, b"/health": health, b"/ready": ready}
