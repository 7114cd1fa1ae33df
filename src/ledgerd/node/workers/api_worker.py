"""Assembles the service of an API worker: the state that it reads, and the APIs of the running plugins.

`service` is called in the worker's process, by the name in its arguments.
"""

from __future__ import annotations

from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ledgerd.archive.sealed import ArchivedBlocks
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.histories import History, JournaledHistory
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.history.reader import EmbeddedHistory
from ledgerd.history.settings import HistorySettings
from ledgerd.node.config.logging.setup import set_up_child_logging
from ledgerd.node.time_source import MICRO, TimeSource
from ledgerd.node.workers.known_methods import EVERY_API, known_methods
from ledgerd.node.workers.known_past import tell_changes
from ledgerd.node.workers.settings import NO_METRICS, WorkerSettings
from ledgerd.node.workers.worker_metrics import WorkerMetrics
from ledgerd.protocol.chain_file import parameters_of
from ledgerd.rpc.api.account_history import ACCOUNT_HISTORY
from ledgerd.rpc.api.dev_api import DEV_API, REVERTED
from ledgerd.rpc.api.history.server_events import EVENTS_PATH, events_of
from ledgerd.rpc.api.history.stream import Subscriptions
from ledgerd.rpc.api.history_api import HISTORY_API
from ledgerd.rpc.api.node_status import StatusBoard
from ledgerd.rpc.api.operation_history import OPERATION_HISTORY
from ledgerd.rpc.api.state_api import STATE_API
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.blocks.records import BlockRecords
from ledgerd.rpc.blocks.storage import Storage
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.view import Node
from ledgerd.rpc.http.routes import NodeHealth, routes_of
from ledgerd.rpc.http.service import Service
from ledgerd.rpc.link.topics import HEALTH, STATUS, WAITING
from ledgerd.rpc.link.waiting import WaitingReader
from ledgerd.state.disk import DATA_FILE
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.reader import StateReader

if TYPE_CHECKING:
    from ledgerd.rpc.call.limits import Limits
    from ledgerd.rpc.link.link import Link


HISTORY_APIS = frozenset({OPERATION_HISTORY.name, ACCOUNT_HISTORY.name, HISTORY_API.name, STATE_API.name})
"""The APIs that answer from the history."""


def logged_service(link: Link, limits: Limits, order: msgspec.Raw) -> Service:
    """The service of a process of its own, whose lines of the log go to standard error."""
    set_up_child_logging(msgspec.json.decode(order, type=WorkerSettings).log_format)
    return service(link, limits, order)


def service(link: Link, limits: Limits, order: msgspec.Raw) -> Service:
    settings = msgspec.json.decode(order, type=WorkerSettings)
    logs, state = Path(settings.logs), Path(settings.state)
    reader = StateReader.open(state, STORED_TABLES)
    rolling = RollingBlockLogReader.open(logs)
    rolling.earlier = ArchivedBlocks(Path(settings.archive))
    blocks = KeptBlocks(BlockLogReader.open(logs), rolling)
    services: dict[type, object] = {
        KeptBlocks: blocks,
        BlockRecords: BlockRecords(logs),
        Storage: Storage(state),
        StatusBoard: (status := StatusBoard()),
    }
    plugins = [*settings.plugins]
    if settings.history_folder:
        history = EmbeddedHistory.open(Path(settings.history_folder), logs, settings.history)
        services[History] = asked_history(settings.history) or history
        services[JournaledHistory] = JournaledHistory(history)
        services[Subscriptions] = Subscriptions(history)
        plugins.append(HISTORY_API.name)
        if DEV_API.name in plugins:
            link.tasks.begin(_forget_what_is_reverted(link, history))
    waiting = WaitingReader(reader, STORED_TABLES)
    network = parameters_of(settings.chain)
    time = TimeSource(network.clock)
    node = Node(network, waiting.snapshot, link, services)
    apis = [api for api in EVERY_API if api.name in plugins]
    cache = AnswerCache(settings.cached_answers)
    dispatcher = Dispatcher(apis, node, lambda: time.wall() / MICRO, cache=cache, limits=limits)
    if settings.history.store:
        dispatcher.uncached = HISTORY_APIS

    history_file = Path(settings.history_folder) / DATA_FILE if settings.history_folder else None
    link.tasks.begin(tell_changes(Path(settings.archive), history_file, dispatcher.cache.clear))

    def more_waits(payload: bytes) -> None:
        waiting.take(payload)
        dispatcher.cache.clear()

    health = NodeHealth()
    link.on(WAITING, more_waits)
    link.on(HEALTH, health.take)
    link.on(STATUS, status.take_status)
    serves = Service(dispatcher, limits, routes_of(apis, node, lambda: time.wall() / MICRO, health, status))
    if settings.history_folder:
        serves.event_streams = {EVENTS_PATH: partial(events_of, node)}
    serves.is_private = DEV_API in apis
    if settings.metrics != NO_METRICS:
        link.tasks.begin(WorkerMetrics(settings.metrics, link.number, serves, known_methods()).run())
    return serves


def asked_history(settings: HistorySettings) -> History | None:
    """The history in PostgreSQL, if it is fed there."""
    if not settings.store:
        return None
    from ledgerd.history.postgres.reader import PostgresHistory  # noqa: PLC0415 - an extra that may be missing

    return PostgresHistory(settings.store, settings)


async def _forget_what_is_reverted(link: Link, history: EmbeddedHistory) -> None:
    async with aclosing(link.events(REVERTED)) as events:
        async for _ in events:
            history.forget()
