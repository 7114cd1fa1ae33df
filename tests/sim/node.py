"""A node of the simulator: a chain, the state machine of its peers, and a producer; all of it the real thing.

Only the sockets and the clock are the world's.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.events import AppliedOperation, BlockApplied, Event
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.rules.validators.slots import participation
from ledgerd.p2p.network_state import NetworkState
from ledgerd.p2p.shared.actions import Action
from ledgerd.p2p.shared.chain_access import ChainAccess
from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.wire.messages import NodeId
from ledgerd.producer.decision import HEALTHY_PARTICIPATION
from ledgerd.producer.doppelganger import Doppelganger, is_doppelganger_checked
from ledgerd.producer.loop import Producer
from ledgerd.producer.settings import ProducerSettings, keyring
from ledgerd.producer.signing.double_sign import LastSigned
from ledgerd.producer.time.clock import SECOND, TICK, SteadyClock
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import GENESIS, SEVEN, SMALL, put_genesis
from tests.chain.observing import observe
from tests.p2p.receiving import receive_all
from tests.sim.clocks import NodeClock

FEW_PEERS = 2
"""With fewer, a producer looks for more (spec 06, section 10.5)."""


class Node:
    """Everything that one process would hold."""

    parameters: ChainParameters = SEVEN
    """The network that it is of, as its program knows it."""
    genesis_time = GENESIS
    checks_doppelganger = False
    """Whether it looks out for another node with its keys."""

    def __init__(
        self,
        name: str,
        folder: Path,
        keys: dict[AccountName, PrivateKey],
        settings: Settings,
        node_id: NodeId,
        random: Random,
        clock: NodeClock,
    ) -> None:
        self.name = name
        self.clock = clock
        self.made: list[Block] = []
        """Blocks of its own, by all its runs."""
        self.applied: dict[BlockId, tuple[AppliedOperation, ...]] = {}
        """What happened in each block that was ever its head, virtual operations too."""
        self.keys = keys
        self.folder = folder
        self._settings = settings
        self._node_id = node_id
        self._random = random
        self.allows_stale = False
        """Whether its operator has it go on although few take part."""
        self.is_up = False
        self.runs = 0
        self.start()

    def start(self) -> None:
        """As a new process on the same data."""
        began = self.genesis_time
        put_genesis(self.folder, self.parameters, began)
        self.chain = Chain.open(self.folder, self.parameters, clock=lambda: 0.0, genesis_time=began, space=SMALL)
        observe(self.chain, self._note)
        access = ChainAccess(self.chain, self.clock())
        self.network = NetworkState(access, self._settings, self._node_id, self._random, self.clock())
        production = self.production_settings()
        signed = LastSigned(self.folder, self.parameters.chain_id)
        steady = SteadyClock(self.clock.monotonic, self.clock.wall)
        self.doppelganger: Doppelganger | None = None
        if is_doppelganger_checked(production, self.parameters):
            slots = self.parameters.max_validators
            self.doppelganger = Doppelganger(production, signed.latest, slots, steady)
        self.producer = Producer(self.chain, production, signed, steady, peers=self, doppelganger=self.doppelganger)
        self.is_up = True
        self.runs += 1
        if self.keys:
            self.producer.begin()

    def production_settings(self) -> ProducerSettings:
        """As its operator has configured it."""
        return ProducerSettings(
            names=tuple(sorted(self.keys)),
            keys=keyring(self.keys.values()),
            allows_stale=self.allows_stale,
            checks_doppelganger=self.checks_doppelganger,
        )

    def _note(self, event: Event) -> None:
        if isinstance(event, BlockApplied):
            self.applied[event.block.id] = event.operations

    def take_state_of(self, folder: Path) -> None:
        """As when its operator puts an old state in, that he trusts; the record of what was signed stays."""
        shutil.rmtree(self.folder / STATE_FOLDER)
        shutil.copytree(folder / STATE_FOLDER, self.folder / STATE_FOLDER)

    def copy_to(self, backup: Path) -> None:
        """A backup of the data directory, of a node that is down."""
        shutil.copytree(self.folder, backup)

    def restore(self, backup: Path) -> None:
        """As when its operator puts a backup of the whole data directory in."""
        shutil.rmtree(self.folder)
        shutil.copytree(backup, self.folder)

    def stop(self) -> None:
        """What was not committed is lost."""
        self.chain.close()
        self.is_up = False

    @property
    def waits_for_others(self) -> bool:
        """Whether it has stopped producing: all of the latest blocks are its own (spec 06, section 10.5, step 6)."""
        return self.producer.streaks.left_minority

    @property
    def misses_others(self) -> bool:
        """Whether it has stopped producing, since too few take part (spec 06, section 10.5, step 4)."""
        filled = self.chain.globals.recent_slots_filled
        return not self.allows_stale and participation(filled) < HEALTHY_PARTICIPATION

    # -- as a station

    def accepted(self, endpoint: Endpoint) -> int | None:
        return self.network.accepted(self.clock(), endpoint)

    def connected(self, peer: int, address: str) -> bool:
        return self.network.connected(self.clock(), peer, address)

    def lost(self, peer: int) -> None:
        self.network.lost(self.clock(), peer)

    def received(self, peer: int, data: bytes) -> None:
        receive_all(self.network, self.clock(), peer, data)

    def tick(self) -> None:
        self.network.tick(self.clock())

    def look(self) -> float | None:
        """As the producer wants it, but not while nothing can come of it (spec 06, section 10.5, step 13).

        A look costs as much as the work on a block, and of twelve in a slot eight find that it is too late or too soon.
        """
        if not self.keys:
            return None
        pause = self.producer.tick()
        until = (self.clock.wall() + pause + TICK) // SECOND
        return (pause + -until % BLOCK_INTERVAL * SECOND) / SECOND

    def work(self) -> bool:
        return self.network.work(self.clock())

    def actions(self) -> list[Action]:
        return self.network.actions()

    # -- as the producer's peers

    @property
    def count(self) -> int:
        return self.network.core.connections

    def broadcast_block(self, block: Block) -> None:
        self.made.append(block)
        self.network.broadcast_block(self.clock(), block)
        if self.count < FEW_PEERS:
            self.network.reconnect_seeds(self.clock())

    def resync(self) -> None:
        self.network.resync_from_lib(self.clock())

    # -- as a client's

    def broadcast(self, transaction: Transaction) -> None:
        """A transaction of a client of this node."""
        self.chain.push_transaction(transaction)
        self.network.broadcast_transaction(self.clock(), transaction)
