"""A small network in virtual time in which nodes of ours and models of the reference are connected to each other."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from random import Random

from ledgerd.chain.chain import Chain
from ledgerd.chain.rules.validators.slots import scheduled_validator, slot_at, slot_time
from ledgerd.p2p.network_state import NetworkState
from ledgerd.p2p.shared.actions import Close, Dial, Send
from ledgerd.p2p.shared.chain_access import ChainAccess
from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.wire.messages import NodeId
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.names import AccountName
from tests.p2p.receiving import receive_all
from tests.p2p.reference import ReferencePeers

DELAY = 0.05
TICK_SECONDS = 5
PORT = 2001


class Ours:
    """A node of ours."""

    def __init__(self, chain: Chain, name: bytes, now: float, seeds: tuple[Endpoint, ...]) -> None:
        self.chain = chain
        random = Random(1)  # noqa: S311 - the same in every run
        node_id = NodeId(b"\3" + name.ljust(32, b"\0"))
        self.network = NetworkState(ChainAccess(chain, now), Settings(seeds=seeds), node_id, random, now)

    def push(self, block: Block, now: float) -> None:
        self.network.broadcast_block(now, block)

    def received(self, now: float, number: int, data: bytes) -> None:
        receive_all(self.network, now, number, data)


class Theirs:
    """A model of a reference node."""

    def __init__(self, chain: Chain, name: bytes, now: float, *, serves_log: bool) -> None:
        self.chain = chain
        self.network = ReferencePeers(chain, name, now, serves_log=serves_log)

    def push(self, block: Block, now: float) -> None:
        self.network.now = now
        self.network.push(block)

    def received(self, now: float, number: int, data: bytes) -> None:
        self.network.received(now, number, data)


Node = Ours | Theirs


class MixedNetwork:
    """Nodes by their hosts, and what is under way between them."""

    def __init__(self, now: float, keys: dict[AccountName, PrivateKey]) -> None:
        self.now = now
        self.keys = keys
        self.makers: list[Node] = []
        """Who makes blocks, one after the other."""
        self.nodes: dict[str, Node] = {}
        self.closed: list[str] = []
        self._ends: dict[tuple[str, int], tuple[str, int]] = {}
        self._happening: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._after(3 - now % 3, self._slot)

    # -- building

    def add_ours(self, chain: Chain, *seeds: str) -> Ours:
        host = f"62.1.{len(self.nodes)}.1"
        node = Ours(chain, host.encode(), self.now, tuple(Endpoint(seed, PORT) for seed in seeds))
        self._join(host, node)
        return node

    def add_theirs(self, chain: Chain, *, serves_log: bool) -> Theirs:
        host = f"62.1.{len(self.nodes)}.1"
        node = Theirs(chain, host.encode(), self.now, serves_log=serves_log)
        self._join(host, node)
        return node

    def _join(self, host: str, node: Node) -> None:
        self.nodes[host] = node
        self._after(1.0 + len(self.nodes), lambda: self._tick(host))

    def host_of(self, node: Node) -> str:
        return next(host for host, each in self.nodes.items() if each is node)

    def connect(self, dialer: Theirs, listener: Node) -> None:
        """Let a model dial; nodes of ours dial their seeds themselves."""
        self._open(self.host_of(dialer), dialer.network.opened(self.now), self.host_of(listener))

    def cut(self) -> None:
        """All connections break."""
        ends, self._ends = self._ends, {}
        for host, number in ends:
            self._lose(host, number)

    # -- time

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while self._happening and self._happening[0][0] <= end:
            self.now, _, what = heapq.heappop(self._happening)
            what()
        self.now = end

    def _after(self, delay: float, what: Callable[[], None]) -> None:
        heapq.heappush(self._happening, (self.now + delay, next(self._order), what))

    def _tick(self, host: str) -> None:
        self.nodes[host].network.tick(self.now)
        self._run_actions(host)
        self._after(TICK_SECONDS, lambda: self._tick(host))

    def _slot(self) -> None:
        if self.makers:
            maker = self.makers[int(self.now) // 3 % len(self.makers)]
            ledger = maker.chain.parts.ledger
            slot = slot_at(ledger, int(self.now))
            if slot > 0:
                name = scheduled_validator(ledger, slot)
                block = maker.chain.generate_block(slot_time(ledger, slot), name, self.keys[name])
                assert maker.chain.push_block(block).has_moved
                maker.push(block, self.now)
                self._run_actions(self.host_of(maker))
        self._after(3 - self.now % 3, self._slot)

    # -- connections

    def _open(self, host: str, number: int, other: str) -> bool:
        listener = self.nodes.get(other)
        if isinstance(listener, Theirs):
            found: int | None = listener.network.opened(self.now)
        else:
            endpoint = Endpoint(host, 40_000 + number)
            found = None if listener is None else listener.network.accepted(self.now, endpoint)
        if found is None:
            return False
        self._ends[host, number], self._ends[other, found] = (other, found), (host, number)
        self._run_actions(other)
        self._run_actions(host)
        return True

    def _run_actions(self, host: str) -> None:
        node = self.nodes[host]
        if isinstance(node, Ours):
            self._run_actions_of_ours(host, node)
            return
        sent, node.network.out = node.network.out, []
        for number, frame in sent:
            self._send(host, number, frame)
        closed, node.network.closed = node.network.closed, []
        for number, reason in closed:
            self._close(host, number, reason)

    def _run_actions_of_ours(self, host: str, node: Ours) -> None:
        while True:
            for action in node.network.actions():
                match action:
                    case Send(number, _, frame):
                        self._send(host, number, frame)
                    case Dial(number, endpoint):
                        self._dial(host, node, number, endpoint)
                    case Close(number, reason):
                        self._close(host, number, reason)
            if not node.network.intake.is_busy:
                return
            node.network.work(self.now)

    def _dial(self, host: str, node: Ours, number: int, endpoint: Endpoint) -> None:
        if endpoint.host not in self.nodes or not self._open(host, number, endpoint.host):
            node.network.lost(self.now, number)
        else:
            assert node.network.connected(self.now, number, endpoint.host)
            self._run_actions(host)

    def _send(self, host: str, number: int, frame: bytes) -> None:
        self._after(DELAY, lambda: self._arrive(self._ends.get((host, number)), frame))

    def _arrive(self, end: tuple[str, int] | None, frame: bytes) -> None:
        if end is not None:
            self.nodes[end[0]].received(self.now, end[1], frame)
            self._run_actions(end[0])

    def _close(self, host: str, number: int, reason: str) -> None:
        self.closed.append(f"{host}: {reason}")
        other = self._ends.get((host, number))

        def hang_up() -> None:
            self._ends.pop((host, number), None)
            if other is not None and self._ends.pop(other, None) is not None:
                self._lose(*other)

        self._after(2 * DELAY, hang_up)

    def _lose(self, host: str, number: int) -> None:
        node = self.nodes[host]
        if isinstance(node, Ours):
            node.network.lost(self.now, number)
        else:
            node.network.lost(number)
        self._run_actions(host)
