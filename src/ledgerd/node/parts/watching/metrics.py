"""The metrics as a part of the node: what is sampled, and the process that serves it all."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import socket
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from ledgerd.history.settings import HISTORY_FOLDER
from ledgerd.metrics.cells import Cells
from ledgerd.metrics.meters.process import ProcessMeter, every_second
from ledgerd.metrics.table import process, storage
from ledgerd.metrics.table import storage as table
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.node.parts.watching.chain_meter import ChainMeter
from ledgerd.node.parts.watching.meters import Meters, MeterSample, MetersPart
from ledgerd.node.workers.serving import metrics_reader
from ledgerd.node.workers.settings import MetricsWorkerSettings
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.rpc.http.listeners import listen
from ledgerd.rpc.link.switchboard import Switchboard
from ledgerd.rpc.workers import Workers
from ledgerd.shadow.settings import FOLDER as SHADOW_FOLDER
from ledgerd.snapshot.file.directory import kept_in
from ledgerd.state.files.disk import DATA_FILE
from ledgerd.supervision.threads import in_thread
from ledgerd.supervision.work import Working

log = logging.getLogger(__name__)


class KeptPlace(NamedTuple):
    """A file, or a folder without some of its files."""

    path: Path
    without: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        return self.path if self.path.is_dir() else self.path.parent

    def sizes(self) -> Iterator[int]:
        if self.path.is_dir():
            with os.scandir(self.path) as entries:
                for entry in entries:
                    with suppress(OSError):
                        if entry.is_file() and entry.name not in self.without:
                            yield _size_on_disk(entry.stat())
        elif self.path.exists():
            yield _size_on_disk(self.path.stat())


class StorageGauges:
    """Writes gauges on the sizes of stores and files."""

    def __init__(self, cells: Cells, places: Mapping[str, KeptPlace]) -> None:
        self._cells = cells
        self._places = dict(places)

    def sample(self) -> None:
        cells = self._cells
        for what, place in self._places.items():
            stored, free = cells.gauge(table.STORED_BYTES, what), cells.gauge(table.FREE_BYTES, what)
            with suppress(OSError):
                stored.set(sum(place.sizes()))
                usage = shutil.disk_usage(place.folder)
                free.set(usage.free)
                cells.gauge(table.DISK_BYTES, what).set(usage.total)
        snapshots = [*kept_in(self._places[table.SNAPSHOTS].path)]
        cells.gauge(table.SNAPSHOT_COUNT).set(len(snapshots))
        newest = cells.gauge(table.SNAPSHOT_BLOCK)
        if snapshots:
            newest.set(max(each.number for each in snapshots))
        else:
            newest.forget()


def _size_on_disk(status: os.stat_result) -> int:
    """Files with holes, such as that of a state, take less than their length."""
    return getattr(status, "st_blocks", 0) * 512 or status.st_size


LOCK_FILE = "lock.mdb"

STORAGE_SECONDS = 10

MOST_CONNECTIONS = 64
"""Connections to the endpoint of metrics."""
MOST_OF_ADDRESS = 16
"""Connections of one address to it."""
BODY_BYTES = 64 * 1024
"""Bounds of the endpoint, which a few scrapers and pages share."""


class MetricsPart(NodePart):
    """The metrics of this node, and the page of its operator."""

    def __init__(self, context: PartContext, chain: ChainPart, meters: MetersPart) -> None:
        super().__init__(context)
        self._chain, self._meters = chain, meters
        self.board = Switchboard({})
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sockets: list[socket.socket] = []
        self._server: Workers | None = None

    async def start(self) -> None:
        endpoint, found = self._configuration.metrics.endpoint, self._meters.meters
        if endpoint is None or found is None:
            return
        self._loop = asyncio.get_running_loop()
        self._sockets = listen(endpoint.host, endpoint.port, 1, "metrics-endpoint")
        validators = self._configuration.validator_monitor.names
        chain_meter = ChainMeter(found.cells, found.places, self._time.wall_seconds, validators)
        await self._chain.attach(chain_meter.observe)
        self._server = server = self._serving(endpoint, found)
        self.work.begin(server.start([self._sockets]))
        self._keep_sampling(found, chain_meter)
        (host, port), *_ = self.addresses
        log.info("metrics are served on %(host)s:%(port)d", {"host": host, "port": port})

    def _keep_sampling(self, found: Meters, chain_meter: ChainMeter) -> None:
        on_chain = in_turn(chain_meter.sample, *(make(found) for make in self._meters.on_chain))
        on_main = in_turn(ProcessMeter(found.cells).sample, *(make(found) for make in self._meters.on_main))
        on_disk = in_turn(self._storage(found.cells).sample, *(make(found) for make in self._meters.on_disk))

        def each_second(loop: str, sample: MeterSample, working: Working) -> Coroutine[Any, Any, None]:
            return every_second(found.cells.histogram(process.LOOP_DELAY, loop), in_turn(sample, working))

        async def chain(working: Working) -> None:
            await self._chain.run_coroutine(each_second(process.CHAIN_LOOP, on_chain, working))

        async def disks(working: Working) -> None:
            while True:
                await in_thread(on_disk)
                working()
                await asyncio.sleep(STORAGE_SECONDS)

        self.work.keep("metrics of the chain", chain)
        self.work.keep("metrics of the process", partial(each_second, process.MAIN_LOOP, on_main))
        self.work.keep("metrics of the disks", disks)

    def _serving(self, endpoint: Endpoint, meters: Meters) -> Workers:
        application, limits = self._configuration.application, self._configuration.webserver.limits
        bounds = replace(
            limits,
            body_bytes=min(BODY_BYTES, limits.body_bytes),
            connections=MOST_CONNECTIONS,
            address_connections=MOST_OF_ADDRESS,
        )
        settings = MetricsWorkerSettings(
            application.chain,
            meters.memory.descriptor,
            application.log_format,
            shadow=str(self._configuration.invocation.data_dir / SHADOW_FOLDER),
            installed=application.installed,
        )
        return metrics_reader(self.board, endpoint, settings, bounds, self.work)

    def _storage(self, cells: Cells) -> StorageGauges:
        history = self._configuration.invocation.data_dir / HISTORY_FOLDER
        places = {
            storage.STATE: KeptPlace(self._chain.files.folder / DATA_FILE),
            storage.BLOCK_LOG: KeptPlace(self._chain.folder, without=(DATA_FILE, LOCK_FILE)),
            storage.HISTORY: KeptPlace(history),
            storage.SNAPSHOTS: KeptPlace(self._configuration.snapshot.directory),
        }
        return StorageGauges(cells, places)

    @property
    def addresses(self) -> list[tuple[str, int]]:
        return [listener.getsockname()[:2] for listener in self._sockets]

    def publish_retained(self, topic: str, payload: bytes) -> None:
        """Publish a value to the process that serves the endpoint, also when it starts later; from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.board.publish_retained, topic, payload)

    async def stop(self) -> None:
        self._loop = None
        if self._server is not None:
            await self._server.stop()
            self._server = None
        for listener in self._sockets:
            listener.close()


def in_turn(*samples: MeterSample) -> MeterSample:
    def sample() -> None:
        for each in samples:
            each()

    return sample
