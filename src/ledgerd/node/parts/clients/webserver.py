"""JSON-RPC as a part of the node: the API workers, and the events of the chain that they get."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ledgerd.chain.chain import STATE_FOLDER
from ledgerd.chain.interface.observer import Detail, Observer
from ledgerd.history.following import HISTORY_FOLDER
from ledgerd.metrics.table import requests
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.options.application import OPERATION_HISTORY
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.clients.broadcasts import Broadcasts
from ledgerd.node.parts.clients.early_answers import EarlyAnswers
from ledgerd.node.parts.clients.simulations import Simulations
from ledgerd.node.parts.context import PartContext
from ledgerd.node.parts.peers import PeersPart
from ledgerd.node.parts.watching.meters import Meters, MeterSample, MetersPart
from ledgerd.node.workers.settings import API_PARTS, WorkerSettings
from ledgerd.rpc.http.connection import Speech
from ledgerd.rpc.link.link import HEAD
from ledgerd.rpc.link.switchboard import Handler, Switchboard
from ledgerd.rpc.link.topics import (
    APPLIED_BLOCK,
    HEALTH,
    INCLUDED,
    WAITING,
    HealthReport,
    Inclusion,
    PendingChange,
    packed_topic,
)
from ledgerd.rpc.workers import Workers, endpoints_of
from ledgerd.supervision.part import Part

if TYPE_CHECKING:
    from ledgerd.chain.chain import Chain
    from ledgerd.chain.events import BlockApplied, BlocksUndone
    from ledgerd.state.records import Row
    from ledgerd.supervision.health import HealthNews

log = logging.getLogger(__name__)


def worker_settings(configuration: Configuration) -> WorkerSettings:
    """The settings of every API worker."""
    plugins, data_dir = configuration.application.plugins, configuration.invocation.data_dir
    return WorkerSettings(
        state=str(configuration.chain.shared_file_dir),
        logs=str(data_dir / STATE_FOLDER),
        archive=str(configuration.chain.block_archive_dir),
        chain=configuration.application.chain,
        plugins=plugins,
        cached_answers=configuration.webserver.cached_answers,
        history=configuration.history,
        history_folder=str(data_dir / HISTORY_FOLDER) if OPERATION_HISTORY in plugins else "",
        log_format=configuration.application.log_format,
    )


class ChainPublisher(Observer):
    """Sends the workers what the chain does; on the chain's thread."""

    wanted = frozenset((Detail.PENDING,))

    def __init__(self, part: WebserverPart, chain: Chain) -> None:
        self._part = part
        self._chain = chain

    def undone(self, _event: BlocksUndone) -> None:
        self._part.publish(HEAD, b"")

    def applied(self, event: BlockApplied) -> None:
        part, block = self._part, event.block
        part.publish(HEAD, b"")
        if part.board.is_heard(APPLIED_BLOCK):
            part.publish(APPLIED_BLOCK, block.packed)
        if part.board.is_heard(INCLUDED):
            ids = tuple(bytes(transaction.id) for transaction in block.transactions)
            part.publish(INCLUDED, packed_topic(Inclusion(block.number, block.timestamp, ids)))

    def pending_changed(self, rows: list[Row]) -> None:
        self._part.publish(WAITING, packed_topic(PendingChange(self._chain.head_number, rows)))

    def pending_dropped(self) -> None:
        self._part.publish(WAITING, b"")


class WebserverPart(Part):
    """The API workers of this node."""

    def __init__(
        self, context: PartContext, early: EarlyAnswers, chain: ChainPart, peers: PeersPart, meters: MetersPart
    ) -> None:
        super().__init__(context.work)
        self._options = options = context.configuration.webserver
        self._early, self._meters, self._chain = early, meters, chain
        patience = context.configuration.chain.write_wait
        self.broadcasts = Broadcasts(chain, context.time, patience)
        self.broadcasts.after_transaction.append(peers.broadcast_transaction)
        self.broadcasts.after_block.append(peers.broadcast_block)
        self.board = Switchboard(self.broadcasts.handlers)
        self._settings = worker_settings(context.configuration)
        simulations = Simulations(chain, context.time, patience, is_on=options.simulates_transactions)
        self.offer(("node_api",), {**peers.handlers, **simulations.handlers})
        self._loop: asyncio.AbstractEventLoop | None = None
        self._workers: Workers | None = None
        self._health = packed_topic(HealthReport({}))
        meters.on_main.append(self._sample)

    def _sample(self, meters: Meters) -> MeterSample:
        running, starts = meters.cells.gauge(requests.WORKERS_RUNNING), meters.cells.counter(requests.WORKER_STARTS)

        def sample() -> None:
            running.set(0 if self._workers is None else len(self._workers.processes))
            starts.reach(0 if self._workers is None else self._workers.starts)

        return sample

    def offer(self, apis: Sequence[str], handlers: Mapping[str, Handler]) -> None:
        """Add APIs besides those of the plugins; call it before the start."""
        self._settings = replace(self._settings, plugins=(*self._settings.plugins, *apis))
        self.board.handlers.update(handlers)

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """The address of each listening endpoint."""
        return [] if self._workers is None else self._workers.addresses

    async def start(self) -> None:
        """Start the workers; the state can be read by now."""
        endpoints = endpoints_of(self._options)
        if not endpoints:
            return
        for endpoint in endpoints:
            for kind in ("http", "ws"):
                if endpoint.speech in {Speech.BOTH, Speech.HTTP if kind == "http" else Speech.WEBSOCKET}:
                    log.info(
                        "configured %(kind)s to listen on %(host)s:%(port)d",
                        {"kind": kind, "host": endpoint.host, "port": endpoint.port},
                    )
        self._loop = asyncio.get_running_loop()
        self.board.stand(HEALTH, self._health)
        await self._chain.attach(self._follow)
        meters = self._meters.meters
        settings = self._settings if meters is None else replace(self._settings, metrics=meters.memory.descriptor)
        self._workers = Workers(
            self.board,
            endpoints,
            API_PARTS,
            settings,
            count=self._options.thread_pool_size,
            limits=self._options.limits,
            work=self.work,
        )
        self._workers.inherited = () if meters is None else (meters.memory.descriptor,)
        self._early.hand_over()
        await self._workers.start(self._early.sockets)
        for endpoint, (host, port) in zip(endpoints, self.addresses, strict=True):
            kinds = {Speech.HTTP: ("http",), Speech.WEBSOCKET: ("ws",), Speech.BOTH: ("http", "ws")}[endpoint.speech]
            for kind in kinds:
                log.info(
                    "start listening for %(kind)s requests on %(host)s:%(port)d",
                    {"kind": kind, "host": host, "port": port},
                )

    def _follow(self, chain: Chain) -> None:
        self.publish(HEAD, b"")
        self.publish(WAITING, b"")
        chain.observe(ChainPublisher(self, chain))

    def publish(self, topic: str, payload: bytes) -> None:
        """Publish an event to the workers; from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.board.publish, topic, payload)

    def publish_retained(self, topic: str, payload: bytes) -> None:
        """Publish a value to the workers, and to later ones at their start; from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.board.stand, topic, payload)

    def health_changed(self, news: HealthNews) -> None:
        self._health = packed_topic(HealthReport(dict(news.down), news.warnings))
        self.publish_retained(HEALTH, self._health)

    async def stop(self) -> None:
        """Answer the requests in flight, then stop."""
        self._loop = None
        if self._workers is not None:
            await self._workers.stop()
            self._workers = None
