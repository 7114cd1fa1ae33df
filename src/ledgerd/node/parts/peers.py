"""The peers as a part of the node. They run on the loop of the chain's thread, and other parts call them there."""

from __future__ import annotations

import asyncio
import logging
import secrets
import shutil
from collections import Counter as Tally
from collections.abc import Callable, Iterable
from random import SystemRandom
from statistics import median

import msgspec

from ledgerd.metrics.cells import Cells, GaugeCell
from ledgerd.metrics.meters.peers import PeerMeter
from ledgerd.metrics.table import chain as chain_table
from ledgerd.metrics.table import peers as table
from ledgerd.node.datadir.verified_copy import read_banned_once
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.node.parts.watching.meters import Meters, MeterSample, MetersPart
from ledgerd.node.workers.precompute_pool import PrecomputePool, spare_processors
from ledgerd.p2p.driver import Driver
from ledgerd.p2p.network_state import NetworkState
from ledgerd.p2p.report import peer_report
from ledgerd.p2p.shared.bans import BAN_SECONDS
from ledgerd.p2p.shared.chain_access import ChainAccess
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.shared.peer import Life
from ledgerd.p2p.sync.survey import NetworkSurvey
from ledgerd.p2p.wire.messages import NodeId
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.rpc.api.node.node_api import PEER_NETWORK, PeerNetwork
from ledgerd.rpc.link.switchboard import Handler
from ledgerd.supervision.work import Working

log = logging.getLogger(__name__)

STATES = {
    Life.CONNECTING: "connecting",
    Life.HANDSHAKING: "handshaking",
    Life.ACTIVE: "active",
    Life.SYNCING: "syncing",
}
MINORITY = 2
"""The fork status of a node that stands on a branch of few."""


class PeerGauges:
    """Writes gauges on the connections to peers."""

    def __init__(self, cells: Cells) -> None:
        self._peers = {
            (direction, state): cells.gauge(table.PEERS, direction, state)
            for direction in table.CONNECTED_BY.values
            for state in table.STATE.values
        }
        self._heads = [cells.gauge(table.PEER_HEADS, each) for each in table.STATISTIC.values]
        self._round_trips = [cells.gauge(table.ROUND_TRIPS, each) for each in table.STATISTIC.values]
        self._buffers = cells.gauge(table.SEND_BUFFERS)
        self._syncing, self._minority = cells.gauge(table.SYNCING), cells.gauge(table.MINORITY)
        self._relayed = cells.gauge(chain_table.POOL_TRANSACTIONS, "relay")
        self._relayed_bytes = cells.gauge(chain_table.POOL_BYTES)
        self._of_clients = cells.gauge(chain_table.CLIENT_TRANSACTIONS)
        self._unheard = cells.gauge(chain_table.UNHEARD_TRANSACTIONS)

    def sample(self, driver: Driver) -> None:
        core, mempool = driver.network.core, driver.network.intake.mempool
        peers = core.peers()
        tally = Tally(
            (table.CONNECTED_BY.values[not peer.is_incoming], STATES[peer.life])
            for peer in peers
            if peer.life in STATES
        )
        for place, gauge in self._peers.items():
            gauge.set(tally[place])
        _set_statistics(self._heads, (peer.head_number for peer in peers if peer.is_live))
        _set_statistics(self._round_trips, (seconds for _, seconds in driver.round_trips()))
        self._buffers.set(driver.queued)
        self._syncing.set(core.mode is Mode.SYNC)
        self._minority.set(core.fork_status == MINORITY)
        self._relayed.set(len(mempool))
        self._relayed_bytes.set(mempool.size)
        offers = driver.network.intake.offers
        self._of_clients.set(offers.pending)
        self._unheard.set(offers.unconfirmed)


def _set_statistics(gauges: list[GaugeCell], values: Iterable[float]) -> None:
    known = sorted(values)
    if known:
        for gauge, value in zip(gauges, (known[0], median(known), known[-1]), strict=True):
            gauge.set(value)
    else:
        for gauge in gauges:
            gauge.forget()


FORK_STATUS = ("normal", "looking", "minority")


LEAST_AVERAGE = 250
"""Bytes of a block: that the last ones were nearly empty says nothing of those to come."""
ROOM = "room for catching up"

FEW_PEERS = 2
"""With fewer peers, the seeds are dialled again after each produced block."""


class PeersPart(NodePart):
    """The connections to peers, as the other parts use them."""

    def __init__(self, context: PartContext, chain: ChainPart, meters: MetersPart) -> None:
        super().__init__(context)
        self._settings = context.configuration.p2p
        self._log_format = context.configuration.application.log_format
        self._chain = chain
        self.driver: Driver | None = None
        """The connections, for the thread of the chain; None while there are none."""
        self._meters = meters
        meters.on_chain.append(self._sample)
        self._precompute: PrecomputePool | None = None

    async def start(self) -> None:
        if self._settings.endpoint is not None or self._settings.seeds:
            driver = await self._chain.run_coroutine(self._start())
            self._chain.verified.banned = lambda: self.banned
            self.work.keep("peers", lambda _: self._chain.run_coroutine(driver.ended()))
            self.work.keep("reports on peers", self._report)
            log.info("DLT P2P Plugin started")

    async def _start(self) -> Driver:
        key = PrivateKey(secrets.token_bytes(32))
        access = ChainAccess(self._chain.chain, self._time.wall_seconds())
        state = NetworkState(access, self._settings, NodeId(key.public), SystemRandom(), self._time.wall_seconds())
        if processes := spare_processors():
            self._precompute = PrecomputePool(self._chain.network, processes, self.work, log_format=self._log_format)
        meters = self._meters.meters
        state.core.meter = None if meters is None else PeerMeter(meters.cells)
        state.core.on_catch_up = self.check_room
        precompute = self._precompute.precompute if self._precompute is not None else None
        for address in read_banned_once(self._chain.files.folder):
            state.core.bans.ban(address, self._time.wall_seconds(), BAN_SECONDS)
        driver = Driver(state, self._time.wall_seconds, precompute, self._time.sleep)
        endpoint = self._settings.endpoint
        await driver.start(endpoint)
        if endpoint is not None and driver.port:
            log.info("DLT P2P listening on %(endpoint)s", {"endpoint": Endpoint(endpoint.host, driver.port)})
        log.info("DLT P2P node started, connecting to %(seeds)d seed nodes", {"seeds": len(self._settings.seeds)})
        self.driver = driver
        return driver

    def check_room(self, blocks: int) -> None:
        """Warn, before blocks are fetched, if the disk lacks space for their log and for the growth of the state."""
        average = max(LEAST_AVERAGE, self._chain.chain.globals.average_block_size)
        needed = blocks * average + self._chain.files.space.min_free
        free = shutil.disk_usage(self._chain.folder).free
        text = ""
        if free < needed:
            text = (
                f"{blocks} blocks of {average} bytes are missing, which takes {needed >> 20} MB; {free >> 20} MB are "
                f"free in {self._chain.folder}"
            )
            log.warning("%(reason)s", {"reason": text})
        self.work.warn(ROOM, text)

    async def _report(self, working: Working) -> None:
        while True:
            await asyncio.sleep(self._settings.stats_interval_sec)
            for line in await self._chain.run(self._report_lines):
                log.info("%s", line)
            working()

    def _report_lines(self) -> list[str]:
        return [] if self.driver is None else list(peer_report(self.driver.network.core, self._time.wall_seconds()))

    async def stop(self) -> None:
        await self.work.stop()
        driver, self.driver = self.driver, None
        if driver is not None:
            await self._chain.run_coroutine(driver.stop())
        precompute, self._precompute = self._precompute, None
        if precompute is not None:
            await self._chain.run_coroutine(precompute.stop())

    def _sample(self, meters: Meters) -> MeterSample:
        gauges = PeerGauges(meters.cells)
        return lambda: None if self.driver is None else gauges.sample(self.driver)

    @property
    def handlers(self) -> dict[str, Handler]:
        return {PEER_NETWORK: self._answer_network_status}

    async def _answer_network_status(self, _payload: bytes) -> bytes:
        return msgspec.msgpack.encode(await self._chain.run(self.network_status))

    # -- on the thread of the chain: what the producer and the clients' broadcasts ask for

    @property
    def count(self) -> int:
        return 0 if self.driver is None else self.driver.network.core.connections

    @property
    def has_inbound(self) -> bool:
        return self.driver is not None and any(peer.is_incoming for peer in self.driver.network.core.live())

    @property
    def catches_up_to(self) -> int:
        return 0 if self.driver is None else self.driver.network.core.catches_up_to

    def network_status(self) -> PeerNetwork:
        if self.driver is None:
            return PeerNetwork("alone", 0, 0, FORK_STATUS[0])
        network = self.driver.network
        mode = "sync" if network.core.mode is Mode.SYNC else "forward"
        return PeerNetwork(mode, network.live_count, network.core.connections, FORK_STATUS[network.core.fork_status])

    def broadcast_block(self, block: Block) -> None:
        """An isolated node dials the seeds again too, unlike the reference: it has no other peers."""

        def send(network: NetworkState, now: float) -> None:
            network.broadcast_block(now, block)
            if self.count < FEW_PEERS:
                network.reconnect_seeds(now)

        self._act(send)

    def broadcast_transaction(self, transaction: Transaction) -> None:
        self._act(lambda network, now: network.broadcast_transaction(now, transaction))

    def resync(self) -> None:
        self._act(NetworkState.resync_from_lib)

    def announce(self) -> None:
        """Send a hello to all peers; they answer with theirs."""
        self._act(NetworkState.trigger_resync)

    def survey(self) -> NetworkSurvey | None:
        """The survey of the network; None if there are no peers to follow."""
        return None if self.driver is None else self.driver.network.intake.survey.summary()

    def ask_again(self) -> None:
        """Forget what peers did wrong, and ask again for the blocks after the irreversible one."""
        self._act(NetworkState.ask_again)

    def confirm(self, number: int, block_id: BlockId) -> None:
        if self.driver is not None:
            self.driver.network.intake.survey.confirm(number, block_id)

    @property
    def is_confirmed(self) -> bool | None:
        """Whether they have shown that it is, or that it is not; None before."""
        return None if self.driver is None else self.driver.network.intake.survey.is_confirmed

    @property
    def banned(self) -> tuple[str, ...]:
        return () if self.driver is None else self.driver.network.core.bans.banned(self._time.wall_seconds())

    def _act(self, call: Callable[[NetworkState, float], None]) -> None:
        if self.driver is not None:
            call(self.driver.network, self._time.wall_seconds())
            self.driver.run_actions()
