"""JSON-RPC as a part of the node: the API workers, and the events of the chain that they get."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Mapping
from functools import partial

from msgspec.structs import replace

from ledgerd.chain.chain import Chain
from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.ledger.events import BlockApplied, BlocksUndone
from ledgerd.metrics.table import requests
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.clients.broadcasts import Broadcasts
from ledgerd.node.parts.clients.simulations import Simulations
from ledgerd.node.parts.context import PartContext
from ledgerd.node.parts.peers import PeersPart
from ledgerd.node.parts.watching.meters import Meters, MeterSample, MetersPart
from ledgerd.node.workers.serving import KINDS, ApiWorkersPart
from ledgerd.node.workers.settings import worker_settings
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.envelope import RECOVERING
from ledgerd.rpc.call.view import Node, nothing_to_read
from ledgerd.rpc.http.connection import HttpConnection
from ledgerd.rpc.http.listeners import listen
from ledgerd.rpc.http.responses import Page
from ledgerd.rpc.http.routes import json_page, routes_of
from ledgerd.rpc.http.service import Service
from ledgerd.rpc.link import topics
from ledgerd.rpc.link.link import HEAD, Link
from ledgerd.rpc.link.switchboard import Handler
from ledgerd.rpc.workers import endpoints_of
from ledgerd.state.tables.records import Row
from ledgerd.supervision.part import Part

log = logging.getLogger(__name__)


class EarlyAnswers(Part):
    """Listens in the main process until the API workers do."""

    def __init__(self, context: PartContext) -> None:
        super().__init__(context.work)
        options = context.configuration.webserver
        self._endpoints, self._count, self._limits = endpoints_of(options), options.thread_pool_size, options.limits
        self._network = context.network
        self._service: Service | None = None
        self._servers: list[asyncio.Server] = []
        self.sockets: list[list[socket.socket]] = []
        """Listening sockets: for each endpoint, one for each worker."""

    async def start(self) -> None:
        """Listen, which fails at once if a port is taken, and answer every request with status 503."""
        self.sockets = [listen(each.host, each.port, self._count, each.option) for each in self._endpoints]
        node = Node(self._network, nothing_to_read, Link())
        self._service = Service(Dispatcher((), node, time.time, limits=self._limits), self._limits)
        self._service.refusal = RECOVERING
        self._service.routes = {**routes_of((), node, time.time), b"/ready": _not_ready}
        loop = asyncio.get_running_loop()
        for endpoint, sockets in zip(self._endpoints, self.sockets, strict=True):
            for listener in dict.fromkeys(sockets):
                gate = self._service.gate(listener.getsockname()[0], endpoint.host)
                make = partial(HttpConnection, self._service, endpoint.speech, gate)
                self._servers.append(await loop.create_server(make, sock=listener.dup()))

    def hand_over(self) -> None:
        """Stop accepting: new connections wait for a worker. Requests in flight are answered meanwhile."""
        self.work.begin(self._close())

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        self._servers.clear()
        service, self._service = self._service, None
        if service is not None:
            await service.stop()

    async def stop(self) -> None:
        await self._close()
        for sockets in self.sockets:
            for listener in sockets:
                listener.close()
        self.sockets = []


def _not_ready() -> Page:
    return json_page(503, ready=False, reason="the node starts: its state is being opened, replayed or imported")


class ChainPublisher(Observer):
    """Sends the chain's events to the workers; on the chain's thread."""

    wants_pending = True

    def __init__(self, part: WebserverPart, chain: Chain) -> None:
        self._part = part
        self._chain = chain

    def undone(self, _event: BlocksUndone) -> None:
        self._part.publish(HEAD, b"")

    def applied(self, event: BlockApplied) -> None:
        part, block = self._part, event.block
        part.publish(HEAD, b"")
        if part.board.has_subscriber(topics.APPLIED_BLOCK):
            part.publish(topics.APPLIED_BLOCK, block.packed)
        if part.board.has_subscriber(topics.INCLUDED):
            ids = tuple(bytes(transaction.id) for transaction in block.transactions)
            part.publish(topics.INCLUDED, topics.packed_topic(topics.Inclusion(block.number, block.timestamp, ids)))

    def pending_changed(self, rows: list[Row]) -> None:
        self._part.publish(topics.PENDING, topics.packed_topic(topics.PendingChange(self._chain.head_number, rows)))

    def pending_dropped(self) -> None:
        self._part.publish(topics.PENDING, b"")


class WebserverPart(ApiWorkersPart):
    """The API workers of this node."""

    def __init__(
        self, context: PartContext, early: EarlyAnswers, chain: ChainPart, peers: PeersPart, meters: MetersPart
    ) -> None:
        options, timeout = context.configuration.webserver, context.configuration.chain.write_wait
        self.broadcasts = Broadcasts(chain, context.time, timeout)
        self.broadcasts.on_transaction.append(peers.broadcast_transaction)
        self.broadcasts.on_block.append(peers.broadcast_block)
        if not options.broadcasts_while_syncing:
            self.broadcasts.catches_up_to = lambda: peers.catches_up_to
        simulations = Simulations(chain, context.time, timeout, is_on=options.simulates_transactions)
        handlers = {**self.broadcasts.handlers, **peers.handlers, **simulations.handlers}
        super().__init__(context.work, options, worker_settings(context.configuration), handlers)
        self._early, self._meters, self._chain = early, meters, chain
        meters.on_main.append(self._sample)

    def _sample(self, meters: Meters) -> MeterSample:
        running, starts = meters.cells.gauge(requests.WORKERS_RUNNING), meters.cells.counter(requests.WORKER_STARTS)

        def sample() -> None:
            running.set(0 if self._workers is None else len(self._workers.processes))
            starts.reach(0 if self._workers is None else self._workers.starts)

        return sample

    def offer(self, api: str, handlers: Mapping[str, Handler]) -> None:
        """Add an API besides those of the plugins; call it before the start."""
        self._settings = replace(self._settings, plugins=(*self._settings.plugins, api))
        self.board.handlers.update(handlers)

    async def start(self) -> None:
        if not self._endpoints:
            return
        for endpoint in self._endpoints:
            for kind in KINDS[endpoint.speech]:
                log.info(
                    "configured %(kind)s to listen on %(host)s:%(port)d",
                    {"kind": kind, "host": endpoint.host, "port": endpoint.port},
                )
        self._open()
        await self._chain.attach(self._observe)
        self._early.hand_over()
        meters = self._meters.meters
        await self._serve(None if meters is None else meters.memory, self._early.sockets)

    def _observe(self, chain: Chain) -> None:
        self.publish(HEAD, b"")
        self.publish(topics.PENDING, b"")
        chain.observe(ChainPublisher(self, chain))
