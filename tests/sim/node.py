"""A node of the simulator: a chain, the state machine of its peers, and the keys that it makes blocks with."""

from __future__ import annotations

from pathlib import Path
from random import Random

from ledgerd.chain.chain import Chain
from ledgerd.chain.slots import scheduled_validator, slot_at, slot_time
from ledgerd.p2p.chain_access import ChainPeers
from ledgerd.p2p.frames import HEADER, MAX_PAYLOAD
from ledgerd.p2p.mempool import REMEMBERED
from ledgerd.p2p.messages import NodeId
from ledgerd.p2p.modes import Mode
from ledgerd.p2p.network_state import NetworkState
from ledgerd.p2p.pause import MOST_BLOCKS
from ledgerd.p2p.settings import Settings
from ledgerd.protocol.block import Block
from ledgerd.protocol.keys import PrivateKey
from ledgerd.protocol.names import AccountName
from tests.chain.networks import SEVEN, SMALL

MOST_PIECES = 64


class Node:
    """Everything that one process would hold."""

    def __init__(
        self,
        name: str,
        folder: Path,
        keys: dict[AccountName, PrivateKey],
        settings: Settings,
        node_id: NodeId,
        random: Random,
        now: float,
    ) -> None:
        self.name = name
        self.keys = keys
        self._folder = folder
        self._settings = settings
        self._node_id = node_id
        self._random = random
        self.is_up = False
        self.start(now)

    def start(self, now: float) -> None:
        """As a new process on the same data."""
        self.chain = Chain.open(self._folder, SEVEN, clock=lambda: 0.0, genesis_time=1_800_000_000, space=SMALL)
        access = ChainPeers(self.chain, now)
        self.network = NetworkState(access, self._settings, self._node_id, self._random, now)
        self.is_up, self.is_working = True, False

    def crash(self) -> None:
        """What was not committed is lost."""
        self.chain.close()
        self.is_up = False

    def produce(self, now: float) -> Block | None:
        """Make the block of this slot, if it is ours and we are in step with the others."""
        ledger = self.chain.ledger
        slot = slot_at(ledger, int(now))
        if not self.keys or slot == 0 or self.network.core.mode is not Mode.FORWARD:
            return None
        name = scheduled_validator(ledger, slot)
        if name not in self.keys:
            return None
        block = self.chain.generate_block(slot_time(ledger, slot), name, self.keys[name])
        assert self.chain.push_block(block)
        return block

    def check_bounds(self) -> None:
        """Nothing that peers can fill grows without an end."""
        network = self.network
        assert network.core.connections <= network.core.settings.max_connections
        assert len(network.contacts) <= 200
        assert len(network.intake.ranges) <= MOST_PIECES
        assert len(network.intake.paused) <= MOST_BLOCKS
        assert len(network.intake.admission) <= 64
        assert network.intake.mempool.remembered <= REMEMBERED
        for peer in network.core.peers():
            assert peer.buffered <= HEADER.size + MAX_PAYLOAD
