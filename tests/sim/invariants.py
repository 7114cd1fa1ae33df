"""What must hold after every event of a world, whatever happens in it."""

from __future__ import annotations

import hashlib

from ledgerd.chain.chain import Chain
from ledgerd.chain.offline.invariants import STATE_CHECKS, indexes_agree, log_is_sound
from ledgerd.p2p.talk.contacts import CONTACTS
from ledgerd.p2p.talk.mempool import REMEMBERED
from ledgerd.p2p.wire.frames import HEADER, MAX_PAYLOAD
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from ledgerd.state.objects import TABLES
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, BLOCK_SUMMARY_COUNT
from tests.sim.node import Node

MOST_PIECES, MOST_EARLY, MOST_BATCHES, MOST_CANDIDATES = 64, 64, 70, 5_000
SAMPLED = 128
"""Of so many heads, the state of one is looked at in passing; that after a switch always is."""
AUDITS = tuple(each for each in STATE_CHECKS if each is not indexes_agree)
"""What sums and counters must come to after every block. Indexes and log are looked at where states are compared."""
LOOKS = 8
"""Of so many looks at a node, one counts what it keeps: what grows without an end is found by it as well."""
SUMMARIES = 130


class Broken(AssertionError):
    """An invariant does not hold."""


class Invariants:
    """The memory of one world."""

    def __init__(self) -> None:
        self.switches = 0
        self.compared = 0
        self.looks = 0
        self.audited: set[BlockId] = set()
        """The heads whose sums were added up. All states of a head are the same, so each is audited once."""
        self._final: dict[int, BlockId] = {}
        self._checked: dict[str, int] = {}
        self._heads: dict[str, BlockId] = {}
        self._states: dict[BlockId, str] = {}

    def joined(self, node: Node) -> None:
        """A node is new, or has come back with an older state."""
        self._checked[node.name] = min(self._checked.get(node.name, 1 << 32), node.chain.irreversible)
        self._heads[node.name] = node.chain.head_id

    def check(self, node: Node) -> None:
        """Look at a node to which something has happened."""
        self._check_irreversible(node)
        self.looks += 1
        if self.looks % LOOKS == 0:
            self._check_bounds(node)
        chain, before = node.chain, self._heads[node.name]
        if chain.head_id != before:
            self._heads[node.name] = chain.head_id
            is_switch = before != NO_BLOCK and not chain.is_on_trunk(before)
            self.switches += is_switch
            if chain.head_id not in self.audited:
                self.audit(node)
            if is_switch or chain.head_id[-1] % SAMPLED == 0:
                self.check_state(node)

    def audit(self, node: Node) -> None:
        """All sums of the state at a head, as `ledgerd check` adds them up."""
        chain = node.chain
        self.audited.add(chain.head_id)
        with chain.parts.pending.set_aside(0):
            problems = [problem for each in AUDITS for problem in each(chain.parts.ledger)]
        if problems:
            raise Broken(f"{node.name} at block {chain.head_number}: {'; '.join(problems)}")

    def check_state(self, node: Node) -> None:
        """A head stands for one state, by whichever way a node came to it: straight, over other branches, or twice."""
        chain = node.chain
        with chain.parts.pending.set_aside(0):
            digest = state_digest(chain)
            faults = list(log_is_sound(chain))  # reads the whole log: after every block, that is half of the work
        if faults:
            raise Broken(f"{node.name} at block {chain.head_number}: {'; '.join(faults)}")
        known = self._states.setdefault(chain.head_id, digest)
        self.compared += 1
        if known != digest:
            raise Broken(f"{node.name} has another state at block {chain.head_number} than was seen there before")

    def _check_irreversible(self, node: Node) -> None:
        chain = node.chain
        for number in range(self._checked[node.name] + 1, chain.irreversible + 1):
            block_id = chain.id_at(number)
            if self._final.setdefault(number, block_id) != block_id:
                raise Broken(f"two irreversible blocks {number}")
        self._checked[node.name] = max(self._checked[node.name], chain.irreversible)

    @staticmethod
    def _check_bounds(node: Node) -> None:
        """Nothing that peers can fill grows without an end."""
        network, candidates = node.network, len(node.chain.parts.forks)
        intake, core = network.intake, network.core
        for what, size, limit in (
            ("contacts", len(network.contacts), CONTACTS + len(core.settings.seeds)),
            ("pieces", len(intake.ranges), MOST_PIECES),
            ("early blocks", len(intake.admission), MOST_EARLY),
            ("waiting batches", intake.waiting, MOST_BATCHES),
            ("candidates", candidates, MOST_CANDIDATES),
            ("transactions", intake.mempool.size, core.settings.mempool_max_bytes),
            ("remembered transactions", intake.mempool.remembered, REMEMBERED),
        ):
            if size > limit:
                raise Broken(f"{node.name}: {size} {what}, where {limit} are the most")
        connected = [peer for peer in core.peers() if peer.is_connected]
        if len(connected) > core.settings.max_connections:
            raise Broken(f"{node.name}: {len(connected)} connections")
        if any(peer.buffered > HEADER.size + MAX_PAYLOAD for peer in connected):
            raise Broken(f"{node.name} collects more than a frame")


def state_digest(chain: Chain) -> str:
    """All objects of all tables, with the next id of each, and of the ids of past blocks the latest."""
    store, digest = chain.parts.store, hashlib.sha256()
    for table in TABLES:
        digest.update(f"{table.title} {store.next_id(table)}".encode())
        if table is not BLOCK_SUMMARIES:
            for entity in store.scan(table):
                digest.update(table.codec.encode(entity))
    for number in range(max(0, chain.head_number - SUMMARIES), chain.head_number + 1):
        digest.update(store.get(BLOCK_SUMMARIES, number % BLOCK_SUMMARY_COUNT).block_id)
    return digest.hexdigest()
