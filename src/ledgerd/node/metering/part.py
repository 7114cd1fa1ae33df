"""The metrics as a part of the node: the memory that all processes count in, and the process that serves it."""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import TYPE_CHECKING, NoReturn

from msgspec.structs import replace

from ledgerd.history.following import HISTORY_FOLDER
from ledgerd.metrics.cells import Cells
from ledgerd.metrics.layout import main_layout
from ledgerd.metrics.memory import MAIN_REGION, SharedMemory
from ledgerd.metrics.meters.peers import PeerMeter
from ledgerd.metrics.meters.process import ProcessMeter, every_second
from ledgerd.metrics.table import process, requests, storage
from ledgerd.node.metering.chain_meter import ChainMeter
from ledgerd.node.metering.lost_slots import LostSlots
from ledgerd.node.metering.peer_gauges import PeerGauges
from ledgerd.node.metering.storage_gauges import KeptPlace, StorageGauges
from ledgerd.node.metering.watched_gauges import WatchedGauges
from ledgerd.node.time_source import MICRO
from ledgerd.node.workers.settings import METRICS_PARTS, MetricsWorkerSettings
from ledgerd.rpc.http.connection import Speech
from ledgerd.rpc.http.listeners import listen
from ledgerd.rpc.link.switchboard import Switchboard
from ledgerd.rpc.workers import ClientEndpoint, Workers
from ledgerd.state.disk import DATA_FILE
from ledgerd.supervision.part import Part
from ledgerd.supervision.threads import in_thread

if TYPE_CHECKING:
    from ledgerd.node.config.configuration import Configuration
    from ledgerd.node.parts.chain import ChainPart
    from ledgerd.node.parts.clients.explorer import ExplorerProcessPart
    from ledgerd.node.parts.clients.webhooks import WebhooksPart
    from ledgerd.node.parts.past.records import HistoryPart
    from ledgerd.node.parts.peers import PeersPart
    from ledgerd.node.parts.production import ProductionPart
    from ledgerd.node.parts.validators.monitor import MonitorPart
    from ledgerd.node.parts.webserver import WebserverPart
    from ledgerd.node.time_source import TimeSource
    from ledgerd.protocol.endpoint import Endpoint
    from ledgerd.supervision.work import Working

log = logging.getLogger(__name__)

LOCK_FILE = "lock.mdb"

STORAGE_SECONDS = 10
"""Seconds between two looks at files and disks."""

MOST_CONNECTIONS = 64
MOST_OF_ADDRESS = 16
BODY_BYTES = 64 * 1024
"""Bounds of the endpoint, which a few scrapers and pages share."""


class MetricsPart(Part):
    """The metrics of this node."""

    def __init__(
        self, configuration: Configuration, endpoint: Endpoint, memory: SharedMemory, chain: ChainPart, time: TimeSource
    ) -> None:
        super().__init__("metrics")
        self._endpoint = ClientEndpoint(endpoint.host, endpoint.port, Speech.BOTH)
        self._network, self._log_format = configuration.application.chain, configuration.application.log_format
        limits = configuration.webserver.limits
        self._limits = replace(
            limits,
            body_bytes=min(BODY_BYTES, limits.body_bytes),
            connections=MOST_CONNECTIONS,
            address_connections=MOST_OF_ADDRESS,
        )
        self._memory, self._chain = memory, chain
        layout = main_layout()
        self._cells = cells = Cells(memory.region(MAIN_REGION, layout.size), layout)
        self.chain_meter = ChainMeter(memory, cells, lambda: time.wall() / MICRO)
        self.peer_meter = PeerMeter(cells)
        self._peer_gauges = PeerGauges(cells)
        self._process = ProcessMeter(cells)
        data_dir = configuration.invocation.data_dir
        self._storage = StorageGauges(
            cells,
            {
                storage.STATE: KeptPlace(chain.files.folder / DATA_FILE),
                storage.BLOCK_LOG: KeptPlace(chain.folder, without=(DATA_FILE, LOCK_FILE)),
                storage.HISTORY: KeptPlace(data_dir / HISTORY_FOLDER),
                storage.SNAPSHOTS: KeptPlace(configuration.snapshot.directory),
            },
        )
        self._lost = LostSlots(cells)
        self._production: ProductionPart | None = None
        self._watched = WatchedGauges(self.chain_meter.places)
        self.chain_meter.watched = configuration.validator_monitor.names
        self._monitor: MonitorPart | None = None
        self._peers: PeersPart | None = None
        self._history: HistoryPart | None = None
        self._webserver: WebserverPart | None = None
        self.webhooks: WebhooksPart | None = None
        """Set before the start, where there are webhooks."""
        self.explorer: ExplorerProcessPart | None = None
        """The same, where there is an explorer."""
        self.board = Switchboard({})
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sockets: list[socket.socket] = []
        self._server: Workers | None = None

    def look_at(
        self,
        peers: PeersPart,
        history: HistoryPart,
        webserver: WebserverPart,
        monitor: MonitorPart,
        production: ProductionPart,
    ) -> None:
        """The parts that are looked at besides the chain; call it before the start."""
        self._production = production
        self._peers, self._history, self._webserver, self._monitor = peers, history, webserver, monitor
        peers.meter = self.peer_meter

    async def start(self) -> None:
        """Count from now on, and serve what was counted: the process for that starts beside the other parts."""
        self._loop = asyncio.get_running_loop()
        self._sockets = listen(self._endpoint.host, self._endpoint.port, 1)
        await self._chain.attach(self.chain_meter.follow)
        settings = MetricsWorkerSettings(self._network, self._memory.descriptor, self._log_format)
        server = Workers(
            self.board,
            [self._endpoint],
            METRICS_PARTS,
            settings,
            count=1,
            work=self.work,
            limits=self._limits,
        )
        server.name, server.inherited = "metrics reader", (self._memory.descriptor,)
        self._server = server
        self.work.begin(server.start([self._sockets]))
        self.work.keep("metrics of the chain", self._watch_chain)
        self.work.keep("metrics of the process", self._watch_process)
        self.work.keep("metrics of the disks", self._watch_disks)
        (host, port), *_ = self.addresses
        log.info("metrics are served on %(host)s:%(port)d", {"host": host, "port": port})

    @property
    def addresses(self) -> list[tuple[str, int]]:
        return [plug.getsockname()[:2] for plug in self._sockets]

    def stand(self, topic: str, payload: bytes) -> None:
        """Send a value to the process that serves the endpoint; from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.board.stand, topic, payload)

    async def _watch_chain(self, working: Working) -> None:
        delays = self._cells.histogram(process.LOOP_DELAY, process.CHAIN_LOOP)

        def sample() -> None:
            self._sample_chain()
            working()

        await self._chain.run_coroutine(every_second(delays, sample))

    def _sample_chain(self) -> None:
        """On the chain's thread."""
        self.chain_meter.sample()
        if self._monitor is not None:
            self._watched.sample(self._monitor.view())
        producer = None if self._production is None else self._production.producer
        if producer is not None:
            self._lost.sample(producer.streaks.lost)
        driver = None if self._peers is None else self._peers.driver
        if driver is not None:
            self._peer_gauges.sample(driver)
        head = None if self._history is None else self._history.head
        if head is not None:
            self._cells.gauge(storage.HISTORY_BLOCK).set(head)

    async def _watch_process(self, working: Working) -> None:
        delays = self._cells.histogram(process.LOOP_DELAY, process.MAIN_LOOP)
        running, starts = self._cells.gauge(requests.WORKERS_RUNNING), self._cells.counter(requests.WORKER_STARTS)

        def sample() -> None:
            self._process.sample()
            if self._webserver is not None:
                running.set(self._webserver.running)
                starts.reach(self._webserver.starts)
            if self.explorer is not None:
                self.explorer.count_in(self._cells)
            working()

        await every_second(delays, sample)

    async def _watch_disks(self, working: Working) -> NoReturn:
        while True:
            await in_thread(self._storage.sample)
            if self.webhooks is not None:
                await in_thread(self.webhooks.count_in, self._cells)
            working()
            await asyncio.sleep(STORAGE_SECONDS)

    def close(self) -> None:
        """Give the memory back, when no other part counts any more."""
        self._cells.release()
        self._memory.close()

    async def stop(self) -> None:
        """Serve no more. The memory stays for parts and workers that still count."""
        self._loop = None
        if self._server is not None:
            await self._server.stop()
            self._server = None
        for plug in self._sockets:
            plug.close()
