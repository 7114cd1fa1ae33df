"""JSON-RPC as a part of the node: the API workers, and the events of the chain that they get."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from msgspec.structs import replace

from ledgerd.chain.chain import Chain
from ledgerd.chain.events import BlockApplied, BlocksUndone
from ledgerd.chain.interface.observer import Detail, Observer
from ledgerd.metrics.table import requests
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.clients.broadcasts import Broadcasts
from ledgerd.node.parts.clients.early_answers import EarlyAnswers
from ledgerd.node.parts.clients.simulations import Simulations
from ledgerd.node.parts.context import PartContext
from ledgerd.node.parts.peers import PeersPart
from ledgerd.node.parts.watching.meters import Meters, MeterSample, MetersPart
from ledgerd.node.workers.serving import KINDS, ApiWorkersPart
from ledgerd.node.workers.settings import worker_settings
from ledgerd.rpc.link.link import HEAD
from ledgerd.rpc.link.switchboard import Handler
from ledgerd.rpc.link.topics import (
    APPLIED_BLOCK,
    INCLUDED,
    WAITING,
    Inclusion,
    PendingChange,
    packed_topic,
)
from ledgerd.state.records import Row

log = logging.getLogger(__name__)


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


class WebserverPart(ApiWorkersPart):
    """The API workers of this node."""

    def __init__(
        self, context: PartContext, early: EarlyAnswers, chain: ChainPart, peers: PeersPart, meters: MetersPart
    ) -> None:
        options, timeout = context.configuration.webserver, context.configuration.chain.write_wait
        self.broadcasts = Broadcasts(chain, context.time, timeout)
        self.broadcasts.after_transaction.append(peers.broadcast_transaction)
        self.broadcasts.after_block.append(peers.broadcast_block)
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
        self.publish(WAITING, b"")
        chain.observe(ChainPublisher(self, chain))
