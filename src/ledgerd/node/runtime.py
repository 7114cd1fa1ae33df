"""A node while it runs: its parts, started in the order of their plugins and stopped in reverse (spec 06, section 2).

Which options chose them is known to `configuration`; the process around them is `lifecycle`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping

from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.network import network_of
from ledgerd.node.parts.bootstrap import BootstrapPart
from ledgerd.node.parts.broadcasts import Broadcasts
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.guard import GuardPart
from ledgerd.node.parts.peers import PeersPart
from ledgerd.node.parts.production import ProductionPart
from ledgerd.node.parts.records import BlockInfoPart, HistoryPart
from ledgerd.node.parts.replaying import ReplayPart
from ledgerd.node.parts.snapshots import SnapshotErrand, SnapshotsPart
from ledgerd.node.parts.stuck import StuckPart
from ledgerd.node.parts.webserver import WebserverPart
from ledgerd.node.time_source import MICRO, TimeSource
from ledgerd.rpc.link.switchboard import Handler
from ledgerd.state.lock import lock_writer
from ledgerd.supervision.part import Part, Supervisor
from ledgerd.supervision.tasks import first_of
from ledgerd.supervision.threads import in_thread

log = logging.getLogger(__name__)

EARLY, BOOTSTRAP, REPLAY, ERRAND, WATCH = "early answers", "bootstrap", "replay", "create_snapshot", "watch"
"""Parts that are no plugins."""

FIRST = (EARLY, "chain", BOOTSTRAP, "operation_history", "block_info", REPLAY)
"""Clients are told from the first that the node starts. What records the chain is there before anything changes it, a
replay included."""

LAST = ("validator", "validator_guard", "webserver", WATCH)
"""The guard stops while blocks are still made; the webserver answers from all others."""


class Runtime:
    """The parts of one node."""

    def __init__(
        self,
        configuration: Configuration,
        time: TimeSource | None = None,
        handlers: Mapping[str, Handler] | None = None,
    ) -> None:
        self.configuration = configuration
        data_dir = configuration.invocation.data_dir
        data_dir.mkdir(parents=True, exist_ok=True)
        network = network_of(configuration)
        self.time = time or TimeSource(network.clock)
        self._lock = lock_writer(data_dir)
        self.chain = ChainPart(configuration, network, self.time)
        self.peers = PeersPart(configuration, self.chain, self.time)
        self.production = production = ProductionPart(configuration, self.chain, self.time, self.peers)
        self.renewal = asyncio.Event()
        """Set when a newer state has been built, to be taken over when every part has stopped."""
        self.bootstrap = BootstrapPart(configuration, self.chain, self.renewal)
        self.snapshots = SnapshotsPart(configuration, self.chain, self.time, self.peers, production, self.renewal)
        self.guard = GuardPart(configuration, self.chain, self.peers, lambda: production.clock() // MICRO)
        self.broadcasts = Broadcasts(self.chain, self.time, configuration.chain.write_wait)
        self.webserver = WebserverPart(configuration, self.chain, {**self.broadcasts.handlers, **(handlers or {})})
        self.history = HistoryPart(configuration, self.chain)
        if "p2p" in configuration.application.plugins:
            self.webserver.offer(("node_api",), self.peers.handlers)
        self.broadcasts.after_transaction.append(self.peers.take_transaction)
        self.broadcasts.after_block.append(self.peers.take_block)
        self._parts: dict[str, Part] = {
            "chain": self.chain,
            "p2p": self.peers,
            "operation_history": self.history,
            BOOTSTRAP: self.bootstrap,
            "block_info": BlockInfoPart(self.chain),
            "snapshot": self.snapshots,
            REPLAY: ReplayPart(self.chain, self.time.seconds),
            "validator": self.production,
            "validator_guard": self.guard,
            "webserver": self.webserver,
            EARLY: self.webserver.early,
            WATCH: StuckPart(self.chain, data_dir, self._second),
        }
        errand = configuration.invocation.create_snapshot
        if errand is not None:
            del self._parts[BOOTSTRAP]
            self._parts[ERRAND] = SnapshotErrand(self.chain, errand, self._second, self.time.seconds)
        self._started: list[Part] = []
        self._supervisor = Supervisor()
        self._supervisor.health.changed.append(self.webserver.tell_health)

    def _second(self) -> int:
        return self.time.wall() // MICRO

    @property
    def stop_takes(self) -> float:
        """Seconds that the stop waits for others to have heard of it."""
        return self.guard.stop_takes if self.guard in self._started else 0.0

    @property
    def is_errand(self) -> bool:
        """Whether the node has done all that it was started for once it has started."""
        return ERRAND in self._parts

    def replace_production(self, part: Part) -> None:
        """Let another part make the blocks; before the start."""
        self._parts["validator"] = part

    def leave_out(self, name: str) -> None:
        """Do without a part; before the start."""
        del self._parts[name]

    def _chosen(self) -> Iterator[Part]:
        """The parts of the plugins that run, in the order of their start; of an errand, those that it needs."""
        plugins = (*self.configuration.application.plugins, BOOTSTRAP, REPLAY, ERRAND, WATCH)
        plugins += (EARLY,) if "webserver" in plugins and not self.is_errand else ()
        between = [name for name in plugins if name not in {*FIRST, *LAST}]
        order = (*FIRST, ERRAND) if self.is_errand else (*FIRST, *between, *LAST)
        yield from (self._parts[name] for name in order if name in plugins and name in self._parts)

    async def start(self) -> None:
        """Start every part; when one fails, those before it are stopped, and the failure is passed on."""
        try:
            for part in self._chosen():
                self._supervisor.take(part)
                self._started.append(part)
                await part.start()
        except BaseException:
            await self.stop()
            raise

    @property
    def failure(self) -> BaseException | None:
        """What the node has to end for, of all that its parts run."""
        return self._supervisor.failure

    async def ended(self) -> None:
        """Wait for a failure that the node has to end for, or for a renewal."""
        await first_of(self.renewal.wait(), self._supervisor.failed())

    async def stop(self) -> None:
        """Stop what was started, last first."""
        while self._started:
            part = self._started.pop()
            await part.stop()
            await part.work.stop()
        if self.is_renewed:
            await in_thread(self._take_new)
        self._lock.close()

    @property
    def is_renewed(self) -> bool:
        """Whether there is a newer state, with which another node should begin in the place of this one."""
        return self.renewal.is_set()

    def _take_new(self) -> None:
        """The state was built while this node ran."""
        aside = self.chain.files.set_full_log_aside()
        if aside is not None:
            log.warning("the newer state does not continue the block log, which is kept in %s", aside)
        self.chain.files.put_in_place()
