"""A world of nodes in virtual time: real chains, real peer state machines, and a network that is as bad as its seed.

The same seed gives the same run, to the byte: time, delays, resets and every node's own generator come from it.
"""

from __future__ import annotations

import hashlib
import heapq
import itertools
from collections.abc import Callable
from pathlib import Path
from random import Random

from ledgerd.p2p.actions import Close, Dial, Send
from ledgerd.p2p.endpoints import Endpoint
from ledgerd.p2p.messages import NodeId
from ledgerd.p2p.network_state import TICK_SECONDS
from ledgerd.p2p.settings import Settings
from ledgerd.protocol.identifiers import BlockId
from ledgerd.protocol.keys import PrivateKey
from ledgerd.protocol.names import AccountName
from tests.sim.node import Node

APPLY_SECONDS = 0.002
"""What the work on one block takes."""
PORT = 2001


class Wire:
    """One direction of a connection: bytes arrive in order, each piece some time after it was sent."""

    def __init__(self, target: Node, peer: int) -> None:
        self.target = target
        self.peer = peer
        self.arrives = 0.0


class Connection:
    """Two nodes, and what each calls the other."""

    def __init__(self, dialer: Node, dialer_peer: int, listener: Node, listener_peer: int) -> None:
        self.ends = {
            (dialer.name, dialer_peer): Wire(listener, listener_peer),
            (listener.name, listener_peer): Wire(dialer, dialer_peer),
        }
        self.nodes = frozenset({dialer.name, listener.name})
        self.is_open = True


class World:
    """Nodes, the connections between them, and everything that is going to happen."""

    def __init__(self, seed: int, now: float, *, delay: float = 0.2, resets: float = 0.0) -> None:
        self.random = Random(seed)  # noqa: S311 - the seed is the point
        self.now = now
        self.delay = delay
        self.resets = resets
        self.nodes: dict[str, Node] = {}
        self.trace = hashlib.sha256()
        self._happening: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._connections: list[Connection] = []
        self._by_end: dict[tuple[str, int], Connection] = {}
        self._islands: list[frozenset[str]] = []
        self._final: dict[int, BlockId] = {}
        self._checked: dict[str, int] = {}

    # -- building

    def add(self, name: str, folder: Path, keys: dict[AccountName, PrivateKey], friends: tuple[str, ...] = ()) -> Node:
        """A node that has the data of a folder, produces with these keys, and dials these friends."""
        seeds = tuple(Endpoint(address_of(friend), PORT) for friend in friends)
        node_id = NodeId(b"\2" + hashlib.sha256(name.encode()).digest())
        node = Node(name, folder, keys, Settings(seeds=seeds), node_id, Random(self.random.random()), self.now)  # noqa: S311
        self.nodes[name] = node
        self._checked[name] = node.chain.irreversible
        self.after(self.random.random() * TICK_SECONDS, lambda: self._tick(node))
        self.after(0.0, lambda: self._slot(node))
        return node

    def split(self, *islands: set[str]) -> None:
        """From now on only those of one island hear each other; connections between islands break."""
        self._islands = [frozenset(island) for island in islands]
        for connection in list(self._connections):
            if not self._may_talk(*connection.nodes):
                self._break(connection)

    def heal(self) -> None:
        """Everybody may reach everybody again."""
        self._islands = []

    def crash(self, name: str) -> None:
        """A node stops in the middle of whatever it did."""
        node = self.nodes[name]
        node.crash()
        for connection in [each for each in self._connections if name in each.nodes]:
            self._break(connection, but=node)

    def restart(self, name: str) -> None:
        """It comes back with what it had committed."""
        node = self.nodes[name]
        node.start(self.now)
        self._checked[name] = min(self._checked[name], node.chain.irreversible)

    def close(self) -> None:
        for node in self.nodes.values():
            if node.is_up:
                node.chain.close()

    # -- time

    def after(self, delay: float, what: Callable[[], None]) -> None:
        heapq.heappush(self._happening, (self.now + delay, next(self._order), what))

    def run(self, seconds: float) -> None:
        """Let this much time go by."""
        end = self.now + seconds
        while self._happening and self._happening[0][0] <= end:
            self.now, _, what = heapq.heappop(self._happening)
            what()
        self.now = end

    def calm(self, seconds: float) -> None:
        """Let at least this much time go by, and stop when the latest block has reached everybody."""
        self.run(seconds + 5.5 - (self.now + seconds) % 3)

    def _tick(self, node: Node) -> None:
        if node.is_up:
            node.network.tick(self.now)
            self._settle(node)
        self.after(TICK_SECONDS, lambda: self._tick(node))

    def _slot(self, node: Node) -> None:
        """Whoever's turn it is makes a block; the node asks itself at every slot."""
        block = node.produce(self.now) if node.is_up else None
        if block is not None:
            self._note(f"{node.name} makes {block.number} {block.id.hex()}")
            node.network.broadcast_block(self.now, block)
            self._settle(node)
        self.after(3 - self.now % 3 or 3, lambda: self._slot(node))

    # -- the network

    def _settle(self, node: Node) -> None:
        """Carry out what a node asks for, and let it work on if it has blocks to apply."""
        if not node.is_up:
            return
        for action in node.network.actions():
            match action:
                case Dial(peer, endpoint):
                    self._dial(node, peer, endpoint)
                case Send(peer, _, frame):
                    self._send(node, peer, frame)
                case Close(peer, _):
                    connection = self._by_end.get((node.name, peer))
                    if connection is not None:
                        self._break(connection, but=node)
        self._check(node)
        if node.network.intake.is_busy and not node.is_working:
            node.is_working = True
            self.after(APPLY_SECONDS, lambda: self._work(node))

    def _work(self, node: Node) -> None:
        if node.is_up:
            node.is_working = False
            node.network.work(self.now)
            self._settle(node)

    def _latency(self) -> float:
        return self.delay * (0.5 + self.random.random())

    def _dial(self, dialer: Node, peer: int, endpoint: Endpoint) -> None:
        listener = next((each for each in self.nodes.values() if address_of(each.name) == endpoint.host), None)

        def arrive() -> None:
            found = None
            if not dialer.is_up:
                return
            is_there = listener is not None and listener is not dialer and listener.is_up
            if listener is not None and is_there and self._may_talk(dialer.name, listener.name):
                found = listener.network.accepted(self.now, Endpoint(address_of(dialer.name), 40_000 + peer))
            if listener is None or found is None:
                dialer.network.lost(self.now, peer)
                return
            connection = Connection(dialer, peer, listener, found)
            self._connections.append(connection)
            self._by_end |= dict.fromkeys(connection.ends, connection)
            if not dialer.network.connected(self.now, peer, endpoint.host):
                self._break(connection)
            self._settle(dialer)
            self._settle(listener)

        self.after(self._latency(), arrive)

    def _send(self, node: Node, peer: int, frame: bytes) -> None:
        connection = self._by_end.get((node.name, peer))
        if connection is None:
            return
        if self.random.random() < self.resets:
            self._break(connection)
            return
        wire = connection.ends[node.name, peer]
        wire.arrives = max(wire.arrives, self.now + self._latency())
        self.after(wire.arrives - self.now, lambda: self._arrive(connection, wire, frame))

    def _arrive(self, connection: Connection, wire: Wire, frame: bytes) -> None:
        if not connection.is_open:
            return
        self._note(f"{wire.target.name} hears {frame[:8].hex()} {hashlib.sha256(frame).hexdigest()}")
        cut = self.random.randrange(len(frame) + 1)
        for piece in (frame[:cut], frame[cut:]):
            wire.target.network.received(self.now, wire.peer, piece)
        self._settle(wire.target)

    def _break(self, connection: Connection, but: Node | None = None) -> None:
        """What is under way is lost, and both sides notice, but for the one that has closed it."""
        connection.is_open = False
        if connection in self._connections:
            self._connections.remove(connection)
        for end, wire in connection.ends.items():
            self._by_end.pop(end, None)
            if wire.target is not but:
                self.after(self._latency(), lambda wire=wire: self._hang_up(wire))  # type: ignore[misc]

    def _hang_up(self, wire: Wire) -> None:
        if wire.target.is_up:
            wire.target.network.lost(self.now, wire.peer)
            self._settle(wire.target)

    def _may_talk(self, one: str, other: str) -> bool:
        return not self._islands or any({one, other} <= island for island in self._islands)

    # -- what must hold after every event

    def _check(self, node: Node) -> None:
        for number in range(self._checked[node.name] + 1, node.chain.irreversible + 1):
            block_id = node.chain.blocks.id_at(number)
            assert self._final.setdefault(number, block_id) == block_id, f"two irreversible blocks {number}"
        self._checked[node.name] = max(self._checked[node.name], node.chain.irreversible)
        node.check_bounds()

    def _note(self, fact: str) -> None:
        self.trace.update(f"{self.now:.6f} {fact}\n".encode())

    # -- what a test asks

    def heads(self) -> set[BlockId]:
        return {node.chain.head_id for node in self.nodes.values() if node.is_up}


def address_of(name: str) -> str:
    """Every node has a public address of its own neighbourhood, which its name says."""
    number = hashlib.sha256(name.encode()).digest()
    return f"62.{number[0]}.{number[1]}.{number[2] | 1}"
