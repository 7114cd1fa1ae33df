"""A world of nodes in virtual time: real chains, producers and peer state machines, and a network as bad as its seed.

The same seed gives the same run, to the byte: time, delays, resets and every node's own generator come from it.
"""

from __future__ import annotations

import hashlib
import heapq
import itertools
from collections.abc import Callable
from pathlib import Path
from random import Random

from ledgerd.p2p.network_state import TICK_SECONDS
from ledgerd.p2p.shared.actions import Close, Dial, Send
from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.wire.messages import NodeId
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName
from tests.sim.clocks import NodeClock
from tests.sim.invariants import Invariants
from tests.sim.node import Node
from tests.sim.station import Station, address_of, endpoint_of
from tests.sim.wires import SILENCE_SECONDS, Connection, Weather, Wire

APPLY_SECONDS = 0.002
"""What the work on one block takes."""


class World:
    """Stations, the connections between them, and everything that is going to happen."""

    def __init__(self, seed: int, now: float, weather: Weather | None = None) -> None:
        self.random = Random(seed)  # noqa: S311 - the seed is the point
        self.now = now
        self.weather = weather or Weather()
        self.nodes: dict[str, Node] = {}
        self.stations: dict[str, Station] = {}
        self.invariants = Invariants()
        self.trace = hashlib.sha256()
        self._happening: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._connections: dict[Connection, None] = {}
        self._by_end: dict[tuple[str, int], Connection] = {}
        self._islands: list[frozenset[str]] = []
        self._working: set[str] = set()

    # -- building

    def add(
        self,
        name: str,
        folder: Path,
        keys: dict[AccountName, PrivateKey],
        friends: tuple[str, ...] = (),
        kind: type[Node] = Node,
    ) -> Node:
        """A node that has the data of a folder, produces with these keys, and dials these friends."""
        settings = Settings(seeds=tuple(endpoint_of(friend) for friend in friends))
        node_id = NodeId(b"\2" + hashlib.sha256(name.encode()).digest())
        random = Random(self.random.random())  # noqa: S311 - the seed is the point
        node = kind(name, folder, keys, settings, node_id, random, NodeClock(lambda: self.now))
        self.nodes[name] = node
        self.invariants.joined(node)
        self.join(node)
        return node

    def join(self, station: Station) -> None:
        """Somebody new, whom everybody can reach."""
        self.stations[station.name] = station
        self.after(self.random.random() * TICK_SECONDS, lambda: self._tick(station))
        self.after(0.0, lambda: self._look(station))

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
        station = self.stations[name]
        station.stop()
        for connection in [each for each in self._connections if name in each.nodes]:
            self._break(connection, but=station)

    def restart(self, name: str) -> None:
        """It comes back with what it had committed."""
        node = self.nodes[name]
        node.start()
        self.invariants.joined(node)
        self._run_actions(node)

    def close(self) -> None:
        for station in self.stations.values():
            if station.is_up:
                station.stop()

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

    def _tick(self, station: Station) -> None:
        if station.is_up:
            station.tick()
            self._run_actions(station)
        self.after(TICK_SECONDS, lambda: self._tick(station))

    def _look(self, station: Station) -> None:
        """Whoever's turn it is makes a block; a producer says itself when it wants to look again."""
        pause: float | None = TICK_SECONDS
        if station.is_up:
            pause = station.look()
            self._run_actions(station)
        if pause is not None:
            self.after(pause, lambda: self._look(station))

    # -- the network

    def run_actions(self, name: str) -> None:
        """Carry out what a station asks for after something was done to it from outside."""
        self._run_actions(self.stations[name])

    def _run_actions(self, station: Station) -> None:
        """Carry out what a station asks for, and let it work on if it has blocks to apply."""
        for action in station.actions():
            match action:
                case Dial(peer, endpoint):
                    self._dial(station, peer, endpoint)
                case Send(peer, _, frame):
                    self._send(station, peer, frame)
                case Close(peer, _):
                    connection = self._by_end.get((station.name, peer))
                    if connection is not None:
                        self._break(connection, but=station)
        if isinstance(station, Node):
            self.invariants.check(station)
            if station.network.intake.is_busy and station.name not in self._working:
                self._working.add(station.name)
                self.after(APPLY_SECONDS, lambda: self._work(station))

    def _work(self, station: Station) -> None:
        self._working.discard(station.name)
        if station.is_up:
            station.work()
            self._run_actions(station)

    def _dial(self, dialer: Station, peer: int, endpoint: Endpoint) -> None:
        listener = next((each for each in self.stations.values() if address_of(each.name) == endpoint.host), None)
        is_lost, run = self.random.random() < self.weather.losses, dialer.runs

        def arrive() -> None:
            found = None
            if not dialer.is_up or dialer.runs != run:
                return
            is_there = listener is not None and listener is not dialer and listener.is_up and not is_lost
            if listener is not None and is_there and self._may_talk(dialer.name, listener.name):
                found = listener.accepted(Endpoint(address_of(dialer.name), 40_000 + peer % 20_000))
            if listener is None or found is None:
                dialer.lost(peer)
                return
            connection = Connection(dialer, peer, listener, found)
            self._connections[connection] = None
            self._by_end |= dict.fromkeys(connection.ends, connection)
            if not dialer.connected(peer, endpoint.host):
                self._break(connection)
            self._run_actions(dialer)
            self._run_actions(listener)

        self.after(self.weather.latency(self.random), arrive)

    def _send(self, station: Station, peer: int, frame: bytes) -> None:
        connection = self._by_end.get((station.name, peer))
        if connection is None:
            return
        if self.random.random() < self.weather.resets:
            self._break(connection)
            return
        if self.random.random() < self.weather.silences and not connection.is_silent:
            connection.is_silent = True
            self.after(SILENCE_SECONDS * self.random.random(), lambda: self._break(connection))
        wire = connection.ends[station.name, peer]
        wire.arrives = max(wire.arrives, self.now + self.weather.latency(self.random))
        self.after(wire.arrives - self.now, lambda: self._arrive(connection, wire, frame))

    def _arrive(self, connection: Connection, wire: Wire, frame: bytes) -> None:
        if not connection.is_open or connection.is_silent:
            return
        self.note(f"{wire.target.name} hears {frame[:8].hex()} {hashlib.sha256(frame).hexdigest()}")
        cut = self.random.randrange(len(frame) + 1)
        for piece in (frame[:cut], frame[cut:]):
            wire.target.received(wire.peer, piece)
        self._run_actions(wire.target)

    def _break(self, connection: Connection, but: Station | None = None) -> None:
        """What is under way is lost, and both sides notice, but for the one that has closed it."""
        connection.is_open = False
        self._connections.pop(connection, None)
        for end, wire in connection.ends.items():
            if self._by_end.get(end) is connection:
                del self._by_end[end]
                if wire.target is not but:
                    self.after(self.weather.latency(self.random), lambda wire=wire: self._hang_up(wire))  # type: ignore[misc]

    def _hang_up(self, wire: Wire) -> None:
        if wire.target.is_up and wire.target.runs == wire.run:
            wire.target.lost(wire.peer)
            self._run_actions(wire.target)

    def _may_talk(self, one: str, other: str) -> bool:
        if not self._islands:
            return True
        return any({one, other} <= island for island in self._islands) or not self._is_on_island(one, other)

    def _is_on_island(self, *names: str) -> bool:
        """Strangers live nowhere, and reach everybody."""
        return all(any(name in island for island in self._islands) for name in names)

    def note(self, fact: str) -> None:
        self.trace.update(f"{self.now:.6f} {fact}\n".encode())

    # -- what a test asks

    @property
    def islands(self) -> list[frozenset[str]]:
        """Those who can hear each other."""
        return self._islands or [frozenset(self.nodes)]

    def heads(self, island: frozenset[str] | None = None) -> set[BlockId]:
        """Of all nodes, or of those of an island."""
        named = self.nodes if island is None else island
        return {node.chain.head_id for name, node in self.nodes.items() if node.is_up and name in named}

    def check_states(self) -> None:
        """Whoever has the same head has the same state."""
        for node in self.nodes.values():
            if node.is_up:
                self.invariants.check_state(node)
