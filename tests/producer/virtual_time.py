"""A producer on a testnet of its own, and a world whose time moves only when a test lets it."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.events import BlockApplied, Event
from ledgerd.producer.loop import Producer
from ledgerd.producer.settings import ProducerSettings, keyring
from ledgerd.producer.signing.double_sign import LastSigned
from ledgerd.producer.time.clock import SECOND, SteadyClock
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.parameters import TESTNET, ChainParameters
from tests.chain.networks import COMMITTEE, COMMITTEE_KEY, GENESIS, SMALL, put_genesis
from tests.chain.observing import CommitObserver, observe

SETTINGS = ProducerSettings(
    names=(COMMITTEE,), keys=keyring([COMMITTEE_KEY]), allows_stale=True, required_participation=0
)
START = GENESIS * SECOND


class World:
    """True time, and a wall clock that can be set wrong; a disk that may stop."""

    def __init__(self) -> None:
        self.true = START
        self.wall_error = 0
        self.disk_stops_at = 0
        self.disk_goes_on_at = 0

    def monotonic(self) -> int:
        return self.true - START

    def wall(self) -> int:
        return self.true + self.wall_error

    def stop_disk(self, after: int, duration: int) -> None:
        self.disk_stops_at = self.true + after
        self.disk_goes_on_at = self.disk_stops_at + duration

    def write(self) -> None:
        """As long as the disk stands still, whoever writes waits: the record of what was signed, and each commit."""
        if self.disk_stops_at <= self.true < self.disk_goes_on_at:
            self.true = self.disk_goes_on_at


class Disk(LastSigned):
    """The record of signed blocks, on the disk of the world."""

    def __init__(self, world: World, folder: Path) -> None:
        super().__init__(folder, TESTNET.chain_id)
        self.world = world

    def record(self, block: Block) -> None:
        self.world.write()
        super().record(block)


class Station:
    """A node's producer, run by hand."""

    def __init__(self, folder: Path, world: World, settings: ProducerSettings = SETTINGS) -> None:
        self.folder = folder
        self.world = world
        self.settings = settings
        self.made: list[tuple[int, int]] = []
        """The time of each block, and the microseconds of the producer's own clock at which it was told of."""
        self.network: ChainParameters = TESTNET
        self.start()

    def start(self) -> None:
        world = self.world
        self.clock = SteadyClock(world.monotonic, world.wall)
        put_genesis(self.folder, self.network)
        self.chain = Chain.open(self.folder, self.network, clock=lambda: world.true / SECOND, space=SMALL)
        observe(self.chain, self._note)
        self.chain.observe(CommitObserver(lambda _: world.write()))
        self.signed = Disk(world, self.folder)
        self.producer = Producer(self.chain, self.settings, self.signed, self.clock)
        self.producer.begin()

    def restart(self, pause: int) -> None:
        """Stop, and come back after a while."""
        self.chain.close()
        self.world.true += pause
        self.start()

    def _note(self, event: Event) -> None:
        if isinstance(event, BlockApplied):
            self.made.append((event.block.timestamp, self.clock()))

    def run(self, seconds: float) -> None:
        """Let time pass, tick by tick."""
        end = self.world.true + int(seconds * SECOND)
        while self.world.true < end:
            self.world.true += self.producer.tick()

    def run_until_block(self, number: int) -> None:
        while self.chain.head_number < number:
            self.world.true += self.producer.tick()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.chain.close()

    @property
    def times(self) -> list[int]:
        return [time for time, _ in self.made]
