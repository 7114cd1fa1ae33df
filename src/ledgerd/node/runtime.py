"""A running node: its parts, started in the order of their plugins and stopped in reverse (spec 06, section 2).

`configuration` knows which options chose the plugins; `lifecycle` is the process around a runtime.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping

from ledgerd.metrics.memory import SharedMemory
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.network import network_of
from ledgerd.node.config.options.application import BLOCK_ARCHIVE
from ledgerd.node.metering.part import MetricsPart
from ledgerd.node.parts.bootstrap import BootstrapPart
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.clients.broadcasts import Broadcasts
from ledgerd.node.parts.clients.explorer import EXPLORER, ExplorerProcessPart
from ledgerd.node.parts.clients.replicas import REPLICAS, ReplicasPart
from ledgerd.node.parts.clients.simulations import Simulations
from ledgerd.node.parts.clients.webhooks import WEBHOOKS, WebhooksPart
from ledgerd.node.parts.past.archiving import ArchivePart
from ledgerd.node.parts.past.records import BlockInfoPart, HistoryFeedPart, HistoryPart
from ledgerd.node.parts.peers import PeersPart
from ledgerd.node.parts.production import ProductionPart
from ledgerd.node.parts.replaying import ReplayPart
from ledgerd.node.parts.snapshots import CreateSnapshotPart, SnapshotsPart
from ledgerd.node.parts.validators.guard import GuardPart
from ledgerd.node.parts.validators.monitor import MonitorPart
from ledgerd.node.parts.watching.recovery.assumption_part import AssumptionPart
from ledgerd.node.parts.watching.recovery.audit_part import AuditPart
from ledgerd.node.parts.watching.recovery.part import RecoveryPart
from ledgerd.node.parts.watching.self_check import SelfCheckPart
from ledgerd.node.parts.watching.status import StatusPart
from ledgerd.node.parts.watching.stuck import StuckPart
from ledgerd.node.parts.webserver import WebserverPart
from ledgerd.node.time_source import MICRO, TimeSource
from ledgerd.rpc.link.switchboard import Handler
from ledgerd.state.lock import lock_writer
from ledgerd.supervision.part import Part, Supervisor
from ledgerd.supervision.tasks import first_of
from ledgerd.supervision.threads import in_thread

log = logging.getLogger(__name__)

METRICS = "metrics"
EARLY, BOOTSTRAP, REPLAY, CREATE_SNAPSHOT, WATCH = "early answers", "bootstrap", "replay", "create_snapshot", "watch"
MONITOR, SELF_CHECK, STATUS = "validator_monitor", "self_check", "status"
AUDIT, RECOVERY, ASSUMPTION, FEED = "audit", "recovery", "assumption", "history_feed"
"""Parts that are not plugins."""

FIRST = (EARLY, "chain", METRICS, BOOTSTRAP, AUDIT, ASSUMPTION, RECOVERY, "operation_history", "block_info", REPLAY)
"""Early answers come first, so that clients hear at once that the node is starting. History and `block_info` follow the
chain directly, so that they record every change, those of a replay included."""

LAST = (WEBHOOKS, MONITOR, "validator", "validator_guard", "webserver", EXPLORER, STATUS, SELF_CHECK, WATCH)
"""Started last and stopped first: the monitor sees the first block that we make, the guard needs production to stop
cleanly, the webserver needs all other parts."""


class Runtime:
    """The parts of one node."""

    def __init__(
        self,
        configuration: Configuration,
        time: TimeSource | None = None,
        handlers: Mapping[str, Handler] | None = None,
    ) -> None:
        data_dir, network = configuration.invocation.data_dir, network_of(configuration)
        data_dir.mkdir(parents=True, exist_ok=True)
        self.configuration, self.time = configuration, time or TimeSource(network.clock)
        self._lock = lock_writer(data_dir)
        self.chain = ChainPart(configuration, network, self.time)
        self.peers = PeersPart(configuration, self.chain, self.time)
        self.production = production = ProductionPart(configuration, self.chain, self.time, self.peers)
        self.newer_state = asyncio.Event()
        """Set when there is another state to use: every part stops, it is put in place, and the node starts again."""
        self.bootstrap = BootstrapPart(configuration, self.chain, self.newer_state)
        self.snapshots = SnapshotsPart(configuration, self.chain, self.time, self.peers, production, self.newer_state)
        self.guard = GuardPart(configuration, self.chain, self.peers, lambda: production.clock() // MICRO)
        self.monitor = MonitorPart(configuration, self.chain, self.time)
        self.broadcasts = Broadcasts(self.chain, self.time, configuration.chain.write_wait)
        self.webserver = WebserverPart(configuration, self.chain, {**self.broadcasts.handlers, **(handlers or {})})
        self.history = HistoryPart(configuration, self.chain)
        self._join_clients_and_peers()
        self._parts: dict[str, Part] = {
            "chain": self.chain,
            "p2p": self.peers,
            "operation_history": self.history,
            FEED: HistoryFeedPart(configuration, network),
            REPLICAS: ReplicasPart(configuration, self.chain),
            BOOTSTRAP: self.bootstrap,
            "block_info": BlockInfoPart(self.chain),
            BLOCK_ARCHIVE: ArchivePart(configuration),
            "snapshot": self.snapshots,
            REPLAY: ReplayPart(self.chain, self.time.seconds),
            "validator": self.production,
            "validator_guard": self.guard,
            "webserver": self.webserver,
            EARLY: self.webserver.early,
            MONITOR: self.monitor,
            SELF_CHECK: SelfCheckPart(
                configuration, self.chain, self.peers, self.time.machine_second, lambda: production.clock_offset
            ),
            AUDIT: AuditPart(configuration, self.chain, production, self.newer_state),
            ASSUMPTION: AssumptionPart(self.chain, self.peers, production, self.newer_state),
            RECOVERY: RecoveryPart(configuration, self.chain, self.peers, production, self.time, self.newer_state),
            WATCH: StuckPart(self.chain, data_dir, self._second),
        }
        self._metrics = self._metering(configuration)
        self._parts[STATUS] = status = self._telling(self._metrics)
        file = configuration.invocation.create_snapshot
        if file is not None:
            del self._parts[BOOTSTRAP]
            with_metadata = configuration.snapshot.writes_pm_meta
            self._parts[CREATE_SNAPSHOT] = CreateSnapshotPart(
                self.chain, file, self._second, self.time.seconds, with_metadata=with_metadata
            )
        self._started: list[Part] = []
        self._supervisor = Supervisor()
        self._supervisor.health.changed += [self.webserver.tell_health, status.take_health]

    def _join_clients_and_peers(self) -> None:
        """What clients send goes to peers, and clients may ask about peers."""
        if "p2p" in self.configuration.application.plugins:
            simulations = self._simulations(self.configuration)
            self.webserver.offer(("node_api",), {**self.peers.handlers, **simulations.handlers})
        if not self.configuration.webserver.broadcasts_while_syncing:
            self.broadcasts.catches_up_to = lambda: self.peers.catches_up_to
        self.broadcasts.after_transaction.append(self.peers.take_transaction)
        self.broadcasts.after_block.append(self.peers.take_block)

    def _simulations(self, configuration: Configuration) -> Simulations:
        is_on = configuration.webserver.simulates_transactions
        return Simulations(self.chain, self.time, configuration.chain.write_wait, is_on=is_on)

    def _metering(self, configuration: Configuration) -> MetricsPart | None:
        self._parts[WEBHOOKS] = webhooks = WebhooksPart(configuration)
        self._parts[EXPLORER] = explorer = ExplorerProcessPart(configuration, self.webserver)
        endpoint = configuration.metrics.endpoint
        if endpoint is None:
            return None
        memory = SharedMemory.create(configuration.webserver.thread_pool_size)
        metrics = self._parts[METRICS] = MetricsPart(configuration, endpoint, memory, self.chain, self.time)
        metrics.look_at(self.peers, self.history, self.webserver, self.monitor, self.production)
        metrics.webhooks, metrics.explorer = webhooks, explorer
        self.webserver.count_in(memory)
        return metrics

    def _telling(self, metrics: MetricsPart | None) -> StatusPart:
        show_details = None if metrics is None else metrics.stand
        return StatusPart(self.chain, self.peers, self.time, self.webserver.stand, show_details, self.monitor.facts)

    @property
    def metrics_addresses(self) -> list[tuple[str, int]]:
        """Where metrics and the page of the operator are served."""
        return [] if self._metrics is None else self._metrics.addresses

    def _second(self) -> int:
        return self.time.wall() // MICRO

    async def read_keys_again(self) -> None:
        """Read the files of signing keys again."""
        await self.production.read_keys_again()

    @property
    def stop_takes(self) -> float:
        """Seconds that the guard may wait at a stop until peers have its updates."""
        return self.guard.stop_takes if self.guard in self._started else 0.0

    @property
    def is_one_shot(self) -> bool:
        """Whether the node ends as soon as it has started: `--create-snapshot`."""
        return CREATE_SNAPSHOT in self._parts

    def replace_production(self, part: Part) -> None:
        """Use another part for block production; call it before the start."""
        self._parts["validator"] = part

    def leave_out(self, name: str) -> None:
        """Run without a part; call it before the start."""
        del self._parts[name]

    def _chosen(self) -> Iterator[Part]:
        """The parts to run, in start order; for `--create-snapshot`, only those that it needs."""
        plugins = (*self.configuration.application.plugins, BOOTSTRAP, REPLAY, CREATE_SNAPSHOT, MONITOR, WATCH)
        plugins += () if self.is_one_shot else (METRICS, STATUS, SELF_CHECK, AUDIT, ASSUMPTION, WEBHOOKS, EXPLORER)
        plugins += (EARLY,) if "webserver" in plugins and not self.is_one_shot else ()
        plugins += (RECOVERY,) if "p2p" in plugins and not self.is_one_shot else ()
        plugins += (FEED,) if self.configuration.history.store and not self.is_one_shot else ()
        plugins += (REPLICAS,) if self.configuration.state_stream.place and not self.is_one_shot else ()
        between = [name for name in plugins if name not in {*FIRST, *LAST}]
        order = (*FIRST, CREATE_SNAPSHOT) if self.is_one_shot else (*FIRST, *between, *LAST)
        yield from (self._parts[name] for name in order if name in plugins and name in self._parts)

    async def start(self) -> None:
        """Start every part; if one fails, stop those before it and raise its error."""
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
        """The failure of a part that ends the node, if there is one."""
        return self._supervisor.failure

    async def ended(self) -> None:
        """Wait for a failure that ends the node, or for a newer state."""
        await first_of(self.newer_state.wait(), self._supervisor.failed())

    async def stop(self) -> None:
        """Stop the started parts, last first."""
        while self._started:
            part = self._started.pop()
            await part.stop()
            await part.work.stop()
        if self.has_newer_state:
            await in_thread(self._install_newer_state)
        metrics, self._metrics = self._metrics, None
        if metrics is not None:  # a start that is cancelled stops the parts, and so does who cancelled it
            metrics.close()
        self._lock.close()

    @property
    def has_newer_state(self) -> bool:
        """Whether a newer state was built, with which the node should start again."""
        return self.newer_state.is_set()

    def _install_newer_state(self) -> None:
        """Put the state that was built while this node ran in place of the old one, or the last verified one."""
        if self.chain.verified.is_going_back:
            self.chain.verified.go_back()
            return
        aside = self.chain.files.set_full_log_aside()
        if aside is not None:
            log.warning(
                "the newer state does not continue the block log, which is kept in %(folder)s", {"folder": aside}
            )
        self.chain.files.put_in_place()
