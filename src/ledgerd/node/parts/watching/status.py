"""How the node stands, made on the thread of the chain and sent to the processes that show it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ledgerd.chain.chain import Chain
from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.interface.view import ChainView
from ledgerd.chain.ledger.events import BlockApplied, BlocksUndone
from ledgerd.node.config.logging.handlers import stays
from ledgerd.node.config.logging.lines import PACKAGE, PersonLine
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.clients.webserver import WebserverPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.node.parts.peers import FORK_STATUS, PeersPart
from ledgerd.node.parts.validators.monitor import MonitorPart
from ledgerd.node.parts.watching.metrics import MetricsPart
from ledgerd.p2p.driver import Driver
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.shared.peer import Peer
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.rpc.api.node import node_status
from ledgerd.rpc.api.node.node_status import NodeStatus, Problem
from ledgerd.rpc.http.routes import LONGEST_SILENCE
from ledgerd.rpc.link.topics import DETAILS, STATUS, packed_topic
from ledgerd.supervision.health import HealthStatus
from ledgerd.supervision.progress import many
from ledgerd.supervision.work import Working

SLOTS_KEPT = 63
"""Three rounds of 21."""
LATEST_DELAY = 60_000
"""Milliseconds; what comes later was synced, and says nothing about its validator."""


class SlotRecord:
    """The latest slots. Who missed one is known once the next block is applied."""

    def __init__(self) -> None:
        self._slots: deque[node_status.SlotFacts] = deque(maxlen=SLOTS_KEPT)

    @property
    def slots(self) -> tuple[node_status.SlotFacts, ...]:
        return tuple(self._slots)

    def begin(self, chain: ChainView) -> None:
        """Begin with the latest blocks of a chain; who missed a slot between them is not known."""
        self._slots.clear()
        head = chain.head_number
        found = [chain.block_at(number) for number in range(max(1, head - SLOTS_KEPT + 1), head + 1)]
        before = 0
        for block in found:
            if block is None:
                continue
            if before:
                self._miss("" for _ in range((block.timestamp - before) // BLOCK_INTERVAL - 1))
            self._slots.append(node_status.SlotFacts(block.validator, block.number, node_status.UNKNOWN))
            before = block.timestamp

    def applied(self, event: BlockApplied, now: float) -> None:
        block = event.block
        self._miss(event.missed[-SLOTS_KEPT:])
        delay = round(1_000 * (now - block.timestamp))
        self._slots.append(
            node_status.SlotFacts(
                block.validator, block.number, delay if delay <= LATEST_DELAY else node_status.UNKNOWN
            )
        )

    def _miss(self, names: Iterable[str]) -> None:
        for name in names:
            self._slots.append(node_status.SlotFacts(name, 0, node_status.UNKNOWN))


LINES_KEPT, LONGEST_LINE = 40, 400
"""Lines, and characters of each."""


class RecentLines(logging.Handler):
    """Keeps the latest log lines of level info and above."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(PersonLine())
        self._lines: deque[str] = deque(maxlen=LINES_KEPT)

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(self._lines)

    def emit(self, record: logging.LogRecord) -> None:
        if stays(record):
            self._lines.append(self.format(record)[:LONGEST_LINE])

    def begin(self) -> None:
        logging.getLogger(PACKAGE).addHandler(self)

    def end(self) -> None:
        logging.getLogger(PACKAGE).removeHandler(self)


SECOND = 1.0
"""The shortest pause between two statuses, besides those at new blocks."""
RATE_SECONDS = 10.0
LIVE_SECONDS = 60
"""A block that is older when it is applied was synced: the status then changes once a second, not with each block."""

OLDEST = 10_000
"""Milliseconds: the status is sent again even if nothing has changed, so that its time is that of the node."""

LONGEST_DELAY = 1_000_000_000
"""Milliseconds that are told at most: the clock may have been set."""


class StatusPart(NodePart, Observer):
    """Publishes the status of the node, at each commit of new blocks and at each change."""

    def __init__(
        self,
        context: PartContext,
        chain: ChainPart,
        metrics: MetricsPart,
        peers: PeersPart,
        monitor: MonitorPart,
        webserver: WebserverPart,
    ) -> None:
        super().__init__(context)
        self._chain_part, self._metrics, self._peers = chain, metrics, peers
        self._monitor, self._webserver, self._time = monitor, webserver, context.time
        self._has_operator = context.configuration.metrics.endpoint is not None
        self._chain: Chain | None = None
        self._slots = SlotRecord()
        self._is_behind = True
        self._has_new_block = False
        """Whether a block of the last `LIVE_SECONDS` was applied by the commit that is passed on."""
        self._old_until = 0.0
        """Blocks from before this time are older than `LIVE_SECONDS`: the clock need not be asked."""
        self._heads: deque[tuple[float, int]] = deque()
        self._last: node_status.NodeStatus | None = None
        self._lines = RecentLines()
        self._health = HealthStatus({})

    def health_changed(self, status: HealthStatus) -> None:
        self._health = status

    async def start(self) -> None:
        if self._has_operator:
            self._lines.begin()
        await self._chain_part.attach(self._observe)
        self.work.keep("status", self._each_second)

    async def stop(self) -> None:
        self._lines.end()
        await self.work.stop()

    async def _each_second(self, working: Working) -> None:
        while True:
            await self._chain_part.run(self.publish)
            working()
            await asyncio.sleep(SECOND)

    # -- on the thread of the chain

    def _observe(self, chain: Chain) -> None:
        self._chain, self._is_behind = chain, True
        chain.observe(self)

    def undone(self, _event: BlocksUndone) -> None:
        self._is_behind, self._old_until = True, self._time.wall_seconds() - LIVE_SECONDS

    def applied(self, event: BlockApplied) -> None:
        if self._chain is None:
            return
        if event.block.timestamp < self._old_until:
            self._is_behind = True
            return
        now = self._time.wall_seconds()
        if now - event.block.timestamp > LIVE_SECONDS:
            self._is_behind, self._old_until = True, now - LIVE_SECONDS
            return
        if self._is_behind:
            self._slots.begin(self._chain)
            self._is_behind = False
        else:
            self._slots.applied(event, now)
        self._has_new_block = True

    def committed(self, _seconds: float) -> None:
        if self._has_new_block:
            self._has_new_block = False
            self.publish()

    def publish(self) -> None:
        chain = self._chain
        if chain is None:
            return
        if self._is_behind:
            self._slots.begin(chain)
        driver, last = self._peers.driver, self._last
        status = self._status(chain, driver)
        if last is None or is_other(status, last):
            status = self._last = replace(status, number=1 if last is None else last.number + 1)
            self._webserver.publish_retained(STATUS, packed_topic(status))
        else:
            status = last
        if self._has_operator:
            self._metrics.publish_retained(DETAILS, packed_topic(self._details(status, driver)))

    def _status(self, chain: Chain, driver: Driver | None) -> node_status.NodeStatus:
        facts, now = chain.globals, self._time.wall_seconds()
        counts = counts_of(driver, chain.head_number)
        return node_status.NodeStatus(
            number=0,
            time=round(1_000 * now),
            network=chain.network.name,
            head=chain.head_number,
            head_time=chain.head_time,
            irreversible=chain.irreversible,
            participation=facts.participation_count,
            is_emergency=chain.is_emergency,
            slots=self._slots.slots,
            peers=counts,
            sync=self._sync(chain.head_number, driver),
            pool=_pool_of(driver, len(chain.waiting)),
        )

    def _sync(self, head: int, driver: Driver | None) -> node_status.SyncFacts:
        heads, now = self._heads, self._time.seconds()
        heads.append((now, head))
        while now - heads[0][0] > RATE_SECONDS:
            heads.popleft()
        target = 0 if driver is None else driver.network.core.catches_up_to
        if not target:
            return node_status.SyncFacts(head, 0, node_status.UNKNOWN)
        since, before = heads[0]
        rate = (head - before) / (now - since) if now > since else 0.0
        return node_status.SyncFacts(
            target, max(0, round(rate)), round((target - head) / rate) if rate > 0 else node_status.UNKNOWN
        )

    def _details(self, status: node_status.NodeStatus, driver: Driver | None) -> node_status.NodeDetails:
        now = self._time.wall_seconds()
        age = max(0, int(now) - status.head_time)
        problems = problems_of(status, age, self._health)
        return node_status.NodeDetails(
            status, peers_of(driver, now), problems, self._lines.lines, self._monitor.facts()
        )


def is_other(status: node_status.NodeStatus, last: node_status.NodeStatus) -> bool:
    is_old = abs(status.time - last.time) >= OLDEST
    return is_old or replace(status, number=last.number, time=last.time) != last


def counts_of(driver: Driver | None, head: int) -> node_status.PeerCounts:
    if driver is None:
        return node_status.PeerCounts("alone", FORK_STATUS[0], 0, 0, 0, 0, 0)
    core = driver.network.core
    heads = [peer.head_number for peer in core.live()]
    return node_status.PeerCounts(
        mode="sync" if core.mode is Mode.SYNC else "forward",
        fork_status=FORK_STATUS[core.fork_status],
        connections=core.connections,
        ahead=sum(each > head for each in heads),
        level=sum(each == head for each in heads),
        behind=sum(each < head for each in heads),
        highest=max(heads, default=0),
    )


def peers_of(driver: Driver | None, now: float) -> tuple[node_status.PeerFacts, ...]:
    if driver is None:
        return ()
    round_trips = dict(driver.round_trips())
    return tuple(_facts_of(peer, now, round_trips.get(peer.id)) for peer in driver.network.core.peers())


def _milliseconds(seconds: float | None) -> int:
    return node_status.UNKNOWN if seconds is None else min(LONGEST_DELAY, max(0, round(1_000 * seconds)))


def _facts_of(peer: Peer, now: float, round_trip: float | None) -> node_status.PeerFacts:
    return node_status.PeerFacts(
        address=str(peer.endpoint),
        state=peer.life.name.lower(),
        is_incoming=peer.is_incoming,
        head=peer.head_number,
        irreversible=peer.lib_number,
        strikes=peer.strikes,
        silent_seconds=max(0, int(now - peer.received_at)),
        round_trip=_milliseconds(round_trip),
        delay=_milliseconds(peer.pushed_late),
    )


def _pool_of(driver: Driver | None, waiting: int) -> node_status.PoolFacts:
    if driver is None:
        return node_status.PoolFacts(waiting, 0, 0)
    mempool = driver.network.intake.mempool
    return node_status.PoolFacts(waiting, len(mempool), mempool.size)


LOW_PARTICIPATION = 128 * 2 // 3
FEWEST_PEERS = 3


def problems_of(status: NodeStatus, age: int, health: HealthStatus) -> tuple[Problem, ...]:
    """Problems of the node, the worst first; `age` is that of the head in seconds."""
    return tuple(_problems(status, age, health))


def _problems(status: NodeStatus, age: int, health: HealthStatus) -> Iterator[Problem]:
    for part, reason in sorted(health.down.items()):
        yield Problem(
            f"{part} is down: {reason}",
            "It is started again by itself. Where it stays down, the log says why before the first restart.",
        )
    for warning in health.warnings:
        yield Problem(warning, "`ledgerd doctor` says more.")
    peers = status.peers
    if status.head == 0:
        yield Problem("there are no blocks yet", "Wait for the first block of peers, or for a snapshot.")
    elif age > LONGEST_SILENCE and peers.mode == "sync":
        yield Problem(f"the node is {age} seconds behind", "It catches up by itself, as shown under Sync.")
    elif age > LONGEST_SILENCE:
        yield Problem(
            f"the head block is {age} seconds old",
            "Either the network stands still or this node does not hear of its blocks: compare the heights of peers, "
            "and look at the connection.",
        )
    if peers.fork_status == "minority":
        yield Problem(
            "this node is on a branch that few validators make",
            "It asks its peers again by itself. Look at the connection; do not lower required-participation.",
        )
    if peers.mode != "alone" and peers.connections == 0:
        yield Problem("no peer is connected", "Look at p2p-seed-node, at the firewall and at the connection.")
    elif peers.mode != "alone" and peers.connections < FEWEST_PEERS:
        yield Problem(f"only {many(peers.connections, 'peer')} connected", "Add seeds with p2p-seed-node.")
    if status.is_emergency:
        yield Problem(
            "the emergency consensus is on", "The network has lost most of its validators: follow its announcements."
        )
    elif status.head and status.participation < LOW_PARTICIPATION:
        yield Problem(
            f"{status.participation} of the last 128 slots have a block",
            "Where other nodes say the same, validators are down. Otherwise this node is on a branch of its own.",
        )
