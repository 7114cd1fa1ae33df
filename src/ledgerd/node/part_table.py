"""The parts of a node: a table, in the order in which they start; they stop in reverse. A part needs only parts above
it; one that is needed where its condition does not hold is there, and does nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.options.application import BLOCK_ARCHIVE, OPERATION_HISTORY
from ledgerd.node.parts.bootstrap import BootstrapPart
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.clients.beside import ExplorerProcessPart, PluginsPart, ReplicasPart, WebhooksPart
from ledgerd.node.parts.clients.shadow import ShadowPart
from ledgerd.node.parts.clients.webserver import EarlyAnswers, WebserverPart
from ledgerd.node.parts.peers import PeersPart
from ledgerd.node.parts.production import ProductionPart
from ledgerd.node.parts.records import ArchivePart, BlockInfoPart, HistoryFeedPart, HistoryPart
from ledgerd.node.parts.replaying import ReplayPart
from ledgerd.node.parts.snapshots import CreateSnapshotPart, SnapshotsPart
from ledgerd.node.parts.validators.guard import GuardPart
from ledgerd.node.parts.validators.monitor import MonitorPart
from ledgerd.node.parts.watching.meters import MetersPart
from ledgerd.node.parts.watching.metrics import MetricsPart
from ledgerd.node.parts.watching.recovery.part import RecoveryPart
from ledgerd.node.parts.watching.recovery.unverified import AssumptionPart, AuditPart
from ledgerd.node.parts.watching.self_check import SelfCheckPart
from ledgerd.node.parts.watching.status import StatusPart
from ledgerd.node.parts.watching.stuck import StuckPart
from ledgerd.supervision.part import Part
from ledgerd.supervision.work import Ending, Work


class Condition(NamedTuple):
    """Whether a part runs."""

    text: str
    """The condition as the documents say it."""
    holds: Callable[[Configuration], object]


def plugin(name: str) -> Condition:
    return Condition(f"plugin `{name}`", lambda configuration: name in configuration.application.plugins)


def option(name: str, value: Callable[[Configuration], object]) -> Condition:
    return Condition(f"option `{name}`", value)


ALWAYS = Condition("always", lambda _: True)
METERED = option("metrics-endpoint", lambda configuration: configuration.metrics.endpoint)
SNAPSHOT_ONLY = option("create-snapshot", lambda configuration: configuration.invocation.create_snapshot)
FED = option("history-store", lambda configuration: configuration.history.store)
STREAMED = option("state-stream-endpoint", lambda configuration: configuration.state_stream.place)
HOOKED = option("history-webhook", lambda configuration: configuration.webhooks.hooks)
MONITORED = option("validator-monitor", lambda configuration: configuration.validator_monitor.names)
PLUGGED = Condition("a plugin of others", lambda configuration: configuration.application.installed)
EXPLORED = option("explorer-endpoint", lambda configuration: configuration.explorer.endpoint)

SHADOWED = option("shadow", lambda configuration: configuration.shadow.url)


class PartSpec(NamedTuple):
    """One part of a node: its name, as in the log and in `/ready`, and all that is to be known to run it."""

    name: str
    kind: type[Part]
    needs: tuple[type[Part], ...] = ()
    """Parts that it uses: they follow the context when it is made, in this order."""
    when: Condition = ALWAYS
    on_end: Ending | None = Ending.COMES_BACK
    """What follows when a task, thread or process of the part ends by itself; None if nothing runs after the start."""
    restarted: tuple[str, ...] = ()
    """Tasks that come back although the end of its others ends the node."""
    makes_unready: bool = False
    """Whether `/ready` fails while something of it is down."""
    for_snapshot: bool = False
    """Whether the part also runs in a node that only writes a snapshot (`create-snapshot`)."""
    make: Callable[..., Part] | None = None

    def runs_with(self, configuration: Configuration) -> bool:
        return bool(self.when.holds(configuration) and (self.for_snapshot or not SNAPSHOT_ONLY.holds(configuration)))

    def work(self) -> Work:
        ending = self.on_end or Ending.COMES_BACK
        return Work(self.name, ending, is_needed=self.makes_unready, restarted=self.restarted)


ENDS_NODE = Ending.ENDS_PROGRAM

PARTS: tuple[PartSpec, ...] = (
    # Clients learn at once that the node is starting, and metrics count from the first block on.
    PartSpec("early_answers", EarlyAnswers, on_end=None),
    PartSpec("meters", MetersPart, when=METERED, on_end=None),
    PartSpec("chain", ChainPart, on_end=ENDS_NODE, for_snapshot=True),
    PartSpec("metrics", MetricsPart, (ChainPart, MetersPart), METERED),
    # Where the state comes from, and whether it is to be believed.
    PartSpec("first_snapshot", BootstrapPart, (ChainPart,)),
    PartSpec("imported_state", AuditPart, (ChainPart,), makes_unready=True),
    PartSpec("assumed_block", AssumptionPart, (ChainPart,), makes_unready=True),
    # What records every change of the chain, those of the replay included.
    PartSpec("operation_history", HistoryPart, (ChainPart, MetersPart), plugin(OPERATION_HISTORY), for_snapshot=True),
    PartSpec("block_info", BlockInfoPart, (ChainPart,), plugin("block_info"), on_end=None, for_snapshot=True),
    PartSpec("replay", ReplayPart, (ChainPart,), on_end=None, for_snapshot=True),
    PartSpec("create_snapshot", CreateSnapshotPart, (ChainPart,), SNAPSHOT_ONLY, on_end=None, for_snapshot=True),
    # What follows the network, and what is kept and sent of that.
    PartSpec("p2p", PeersPart, (ChainPart, MetersPart), on_end=ENDS_NODE, restarted=("reports on peers",)),
    PartSpec("sync", RecoveryPart, (ChainPart, PeersPart), makes_unready=True),
    PartSpec(BLOCK_ARCHIVE, ArchivePart, when=plugin(BLOCK_ARCHIVE)),
    PartSpec("snapshot", SnapshotsPart, (ChainPart, PeersPart), plugin("snapshot")),
    PartSpec("history_feed", HistoryFeedPart, when=FED),
    PartSpec("replicas", ReplicasPart, (ChainPart,), STREAMED),
    PartSpec("webhooks", WebhooksPart, (MetersPart,), HOOKED, makes_unready=True),
    # The monitor sees the first block that we make; the guard needs production to stop cleanly.
    PartSpec("validator_monitor", MonitorPart, (ChainPart, MetersPart), MONITORED, on_end=None),
    PartSpec(
        "validator",
        ProductionPart,
        (ChainPart, PeersPart, MetersPart),
        plugin("validator"),
        on_end=ENDS_NODE,
        restarted=("signer",),
        makes_unready=True,
    ),
    PartSpec(
        "validator_guard", GuardPart, (ChainPart, PeersPart, ProductionPart), plugin("validator_guard"), ENDS_NODE
    ),
    # Who asks is answered when all else runs.
    PartSpec("webserver", WebserverPart, (EarlyAnswers, ChainPart, PeersPart, MetersPart), makes_unready=True),
    PartSpec("explorer", ExplorerProcessPart, (WebserverPart, MetersPart), EXPLORED),
    PartSpec("shadow", ShadowPart, (ChainPart, WebserverPart, MetersPart, MetricsPart), SHADOWED),
    PartSpec("plugins", PluginsPart, (WebserverPart, MetersPart), PLUGGED),
    PartSpec("status", StatusPart, (ChainPart, MetricsPart, PeersPart, MonitorPart, WebserverPart)),
    PartSpec("self_check", SelfCheckPart, (ChainPart, PeersPart, ProductionPart)),
    PartSpec("watch", StuckPart, (ChainPart,), on_end=ENDS_NODE),
)
