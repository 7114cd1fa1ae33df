"""A node of the reference on the simulated network: its peer protocol as spec 04 has it, over a chain with validators.

It dials a node of ours again after each block that it makes, as the reference does while it has fewer than two peers,
also where a connection of that node stands already; ours closes the new one as a duplicate.
"""

from __future__ import annotations

import itertools
from pathlib import Path

from ledgerd.chain.chain import Chain
from ledgerd.chain.rules.validators.slots import scheduled_validator, slot_at, slot_time
from ledgerd.p2p.shared.actions import Action, Close, Dial, Send
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import SEVEN, SMALL
from tests.p2p.reference import ReferencePeers
from tests.sim.grounds import SECONDS_A_BLOCK
from tests.sim.station import endpoint_of
from tests.sim.world import World

FEW_PEERS = 2


class ReferenceStation:
    """One reference node, which makes the blocks of its validators."""

    def __init__(self, world: World, name: str, folder: Path, keys: dict[AccountName, PrivateKey], friend: str) -> None:
        self.name = name
        self.is_up = True
        self.runs = 1
        self.chain = Chain.open(folder, SEVEN, clock=lambda: 0.0, space=SMALL)
        self.network = ReferencePeers(self.chain, name.encode(), world.now, serves_log=True)
        self.dials = 0
        self.redials = False
        """Whether it dials after each block of its own."""
        self._world, self._keys, self._friend = world, keys, friend
        self._dialled: dict[int, int] = {}
        """The records of connections that it has dialled, by the numbers of the dials."""
        self._numbers: dict[int, int] = {}
        """The other way round."""
        self._next = itertools.count(-1, -1)
        self._actions: list[Action] = []

    # -- what a test does to it

    def say_sync(self) -> None:
        """It syncs for a moment, which its statuses tell."""
        self.network.fall_back()

    def say_forward(self) -> None:
        """It has caught up."""
        self.network.catch_up()

    def restart(self) -> None:
        """A new process on the same chain: nothing of what was not in a block is left."""
        self.chain.parts.pending.clear()
        for number in list(self.network.records):
            self._actions.append(Close(self._numbers.get(number, number), "restarted"))
        self.network = ReferencePeers(
            self.chain, f"{self.name} {self.dials}".encode(), self._world.now, serves_log=True
        )
        self._dialled.clear()
        self._numbers.clear()

    # -- as a station

    def accepted(self, _endpoint: Endpoint) -> int | None:
        return self.network.opened(self._world.now)

    def connected(self, peer: int, _address: str) -> bool:
        number = self.network.opened(self._world.now, is_dialled=True)
        self._dialled[peer], self._numbers[number] = number, peer
        return True

    def lost(self, peer: int) -> None:
        number = self._dialled.pop(peer, peer)
        self._numbers.pop(number, None)
        self.network.lost(number)

    def received(self, peer: int, data: bytes) -> None:
        self.network.received(self._world.now, self._dialled.get(peer, peer), data)

    def tick(self) -> None:
        self.network.tick(self._world.now)

    def look(self) -> float | None:
        """Make the block of its slot, then dial."""
        ledger, now = self.chain.parts.ledger, int(self._world.now)
        slot = slot_at(ledger, now)
        if slot > 0:
            name, when = scheduled_validator(ledger, slot), slot_time(ledger, slot)
            if name in self._keys:
                block = self.chain.generate_block(when, name, self._keys[name])
                self.chain.push_block(block).or_raise()
                self.network.now = self._world.now
                self.network.push(block)
                if self.redials and len(self.network.live()) < FEW_PEERS:
                    self.dial()
        return SECONDS_A_BLOCK - self._world.now % SECONDS_A_BLOCK

    def dial(self) -> None:
        """Dial its friend, unless a connection that it has dialled stands."""
        if not self._dialled:
            self.dials += 1
            self._actions.append(Dial(next(self._next), endpoint_of(self._friend)))

    def work(self) -> bool:
        return False

    def actions(self) -> list[Action]:
        sent, self.network.out = self.network.out, []
        closed, self.network.closed = self.network.closed, []
        actions, self._actions = self._actions, []
        for number, frame in sent:
            peer = self._numbers.get(number, number)
            actions.append(Send(peer, int.from_bytes(frame[4:8], "little"), frame))
        for number, reason in closed:
            peer = self._numbers.pop(number, number)
            self._dialled.pop(peer, None)
            actions.append(Close(peer, reason))
        return actions

    def stop(self) -> None:
        self.is_up = False
        self.chain.close()
