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
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.options.application import OPERATION_HISTORY
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.workers.early_answers import EarlyAnswers
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
    from ledgerd.metrics.memory import SharedMemory
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

    def __init__(self, configuration: Configuration, chain: ChainPart, handlers: Mapping[str, Handler]) -> None:
        super().__init__("webserver", is_needed=True)
        options = configuration.webserver
        self.early = EarlyAnswers(endpoints_of(options), options.thread_pool_size, options.limits, chain.network)
        """Holds the listening sockets until the workers start."""
        self._options = configuration.webserver
        self._chain = chain
        self._settings = worker_settings(configuration)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._workers: Workers | None = None
        self.board = Switchboard(handlers)
        self._health = packed_topic(HealthReport({}))
        self._inherited: tuple[int, ...] = ()

    def count_in(self, memory: SharedMemory) -> None:
        """Let the workers count for metrics; call it before the start."""
        self._settings = replace(self._settings, metrics=memory.descriptor)
        self._inherited = (memory.descriptor,)

    @property
    def running(self) -> int:
        """How many workers run."""
        return 0 if self._workers is None else len(self._workers.processes)

    @property
    def starts(self) -> int:
        """How many worker processes were started."""
        return 0 if self._workers is None else self._workers.starts

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
        self._workers = Workers(
            self.board,
            endpoints,
            API_PARTS,
            self._settings,
            count=self._options.thread_pool_size,
            limits=self._options.limits,
            work=self.work,
        )
        self._workers.inherited = self._inherited
        self.early.hand_over()
        await self._workers.start(self.early.sockets)
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

    def stand(self, topic: str, payload: bytes) -> None:
        """Send a value to the workers, and to later ones at their start; from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.board.stand, topic, payload)

    def tell_health(self, news: HealthNews) -> None:
        """Publish to the workers which parts are down, and warnings; from any thread, also before the start."""
        self._health = packed_topic(HealthReport(dict(news.down), news.warnings))
        self.stand(HEALTH, self._health)

    async def stop(self) -> None:
        """Answer the requests in flight, then stop."""
        self._loop = None
        if self._workers is not None:
            await self._workers.stop()
            self._workers = None
