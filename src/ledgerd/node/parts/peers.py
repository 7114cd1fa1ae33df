"""The peers as a part of the node. They live on the loop of the chain's thread, so they and the chain never wait for
one another; whoever else wants something of them asks on that thread too.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from random import SystemRandom
from typing import TYPE_CHECKING

import msgspec

from ledgerd.node.config.configuration import Configuration
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.time_source import MICRO, TimeSource
from ledgerd.node.workers.recovery import Recovery, spare_processors
from ledgerd.p2p.driver import Driver
from ledgerd.p2p.network_state import NetworkState
from ledgerd.p2p.report import peer_report
from ledgerd.p2p.shared.chain_access import ChainPeers
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.wire.messages import NodeId
from ledgerd.protocol.endpoint import Endpoint
from ledgerd.protocol.keys import PrivateKey
from ledgerd.rpc.api.node_api import STANDING, Network
from ledgerd.supervision.part import Part
from ledgerd.supervision.work import Ending, Working

if TYPE_CHECKING:
    from ledgerd.chain.chain import Chain
    from ledgerd.protocol.block import Block
    from ledgerd.protocol.transaction import Transaction
    from ledgerd.rpc.link.switchboard import Handler

FORK_STATUS = ("normal", "looking", "minority")

log = logging.getLogger(__name__)

FEW_PEERS = 2
"""With fewer, the seeds are dialled again after a block of ours."""


class PeersPart(Part):
    """The network, as the node and its producer see it."""

    def __init__(self, configuration: Configuration, chain: ChainPart, time: TimeSource) -> None:
        super().__init__("p2p", Ending.ENDS_PROGRAM)
        self._settings = configuration.p2p
        self._chain = chain
        self._time = time
        self._driver: Driver | None = None
        self._recovery: Recovery | None = None

    # -- as a part of the node

    async def start(self) -> None:
        """Listen where the options say so, and dial the seeds."""
        if self._settings.endpoint is not None or self._settings.seeds:
            driver = await self._chain.run_coroutine(self._start())
            self.work.keep("peers", lambda _: self._chain.run_coroutine(driver.ended()))
            self.work.keep("reports on peers", self._report, Ending.COMES_BACK)
            log.info("DLT P2P Plugin started")

    async def _start(self) -> Driver:
        key = PrivateKey(secrets.token_bytes(32))
        access = ChainPeers(self._chain.chain, self._now())
        state = NetworkState(access, self._settings, NodeId(key.public), SystemRandom(), self._now())
        if processes := spare_processors():
            self._recovery = Recovery(self._chain.network.chain_id, processes, self.work)
        recover = self._recovery.recover if self._recovery is not None else None
        driver = Driver(state, self._now, recover, self._time.sleep)
        endpoint = self._settings.endpoint
        await driver.start(endpoint)
        if endpoint is not None and driver.port:
            log.info("DLT P2P listening on %s", Endpoint(endpoint.host, driver.port))
        log.info("DLT P2P node started, connecting to %d seed nodes", len(self._settings.seeds))
        self._driver = driver
        return driver

    async def _report(self, working: Working) -> None:
        """Tell of the peers from time to time."""
        while True:
            await asyncio.sleep(self._settings.stats_interval_sec)
            for line in await self._chain.run(self._report_lines):
                log.info("%s", line)
            working()

    def _report_lines(self) -> list[str]:
        return [] if self._driver is None else list(peer_report(self._driver.network.core, self._now()))

    async def stop(self) -> None:
        """Take leave of everybody."""
        await self.work.stop()
        driver, self._driver = self._driver, None
        if driver is not None:
            await self._chain.run_coroutine(driver.stop())
        recovery, self._recovery = self._recovery, None
        if recovery is not None:
            await self._chain.run_coroutine(recovery.stop())

    def _now(self) -> float:
        return self._time.wall() / MICRO

    @property
    def handlers(self) -> dict[str, Handler]:
        """Who answers the questions of `node_api`."""
        return {STANDING: self._standing}

    async def _standing(self, _payload: bytes) -> bytes:
        return msgspec.msgpack.encode(await self._chain.run(self.standing))

    # -- on the thread of the chain: what the producer and the clients' broadcasts ask for

    @property
    def count(self) -> int:
        """Open connections."""
        return 0 if self._driver is None else self._driver.network.core.connections

    def standing(self) -> Network:
        """Where this node stands among its peers."""
        if self._driver is None:
            return Network("alone", 0, 0, FORK_STATUS[0])
        network = self._driver.network
        mode = "sync" if network.core.mode is Mode.SYNC else "forward"
        return Network(mode, network.live_count, network.core.connections, FORK_STATUS[network.core.fork_status])

    def broadcast_block(self, block: Block) -> None:
        """Send a block that was applied here first; with few peers, look for more.

        An isolated node too, unlike the reference: its seeds are all that it has.
        """
        if self._driver is not None:
            self._driver.network.broadcast_block(self._now(), block)
            if self.count < FEW_PEERS:
                self._driver.network.reconnect_seeds(self._now())
            self._driver.run_actions()

    def resync(self) -> None:
        """Ask everybody again from the last irreversible block on."""
        if self._driver is not None:
            self._driver.network.resync_from_lib(self._now())
            self._driver.run_actions()

    def announce(self) -> None:
        """Tell everybody where we stand, which has them tell where they do."""
        if self._driver is not None:
            self._driver.network.trigger_resync(self._now())
            self._driver.run_actions()

    def take_transaction(self, _chain: Chain, transaction: Transaction) -> None:
        """A client's transaction was taken in here."""
        if self._driver is not None:
            self._driver.network.broadcast_transaction(self._now(), transaction)
            self._driver.run_actions()

    def take_block(self, _chain: Chain, block: Block) -> None:
        """A client's block was taken in here."""
        self.broadcast_block(block)
