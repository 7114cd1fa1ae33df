"""What clients of a node send reaches the only peer that makes blocks, whatever that peer is doing at the time.

A usual run plays three seeds of mishaps; `EVERY_SEED=1 scripts/test tests/sim/test_relay.py` plays eight.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from ledgerd.protocol.blocks.transaction import unsigned_transaction
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import TransactionId
from tests.chain.networks import OTHERS, SEVEN, VIZ, VIZ_KEY
from tests.sim.grounds import SECONDS_A_BLOCK, Grounds
from tests.sim.reference_station import ReferenceStation
from tests.sim.wires import Weather
from tests.sim.world import World

LIFETIME = 300
SEEDS = range(1, 9) if "EVERY_SEED" in os.environ else range(1, 4)


class Pair:
    """A node of ours without validators, and the reference node that makes all blocks."""

    def __init__(self, grounds: Grounds, seed: int, folder: Path) -> None:
        self.world = world = World(seed, grounds.now, Weather(delay=0.05))
        self.random = Random(seed)  # noqa: S311 - the seed is the point
        self.ours = world.add("ann", grounds.copy(folder / "ann"), {}, ("vic",))
        keys = grounds.keys
        self.theirs = ReferenceStation(world, "vic", grounds.copy(folder / "vic"), keys, "ann")
        world.join(self.theirs)
        self.accepted: list[TransactionId] = []

    def send(self, count: int = 1) -> None:
        """Clients send so many transactions at once."""
        for _ in range(count):
            number = len(self.accepted)
            gift = Transfer(VIZ, OTHERS[number % len(OTHERS)], tokens(1), f"gift {number}")
            draft = unsigned_transaction(self.ours.chain.head_id, int(self.world.now) + LIFETIME, [gift])
            transaction = draft.signed(SEVEN.chain_id, [VIZ_KEY])
            self.ours.broadcast(transaction)
            self.accepted.append(transaction.id)
        self.world.run_actions("ann")

    def missing(self) -> set[TransactionId]:
        """What was accepted and is in no block of theirs."""
        chain = self.theirs.chain
        blocks = (chain.block_at(number) for number in range(1, chain.head_number + 1))
        included = {transaction.id for block in blocks if block is not None for transaction in block.transactions}
        return set(self.accepted) - included


Start = Callable[[int], Pair]


@pytest.fixture
def start(grounds: Grounds, tmp_path: Path) -> Iterator[Start]:
    """Both in step; ours has dialled, and theirs dials every few seconds and is closed as a duplicate."""
    pairs: list[Pair] = []

    def begin(seed: int) -> Pair:
        pair = Pair(grounds, seed, tmp_path / str(seed))
        pairs.append(pair)
        pair.world.run(16)
        pair.theirs.redials = True
        pair.world.run(15)
        assert pair.theirs.chain.head_number == pair.ours.chain.head_number > grounds.head + 5
        assert pair.theirs.dials > 2
        assert pair.ours.network.live_count == 1
        return pair

    yield begin
    for each in pairs:
        each.world.close()


@pytest.fixture
def pair(start: Start) -> Pair:
    return start(1)


def test_what_is_sent_to_a_node_in_step_is_in_the_next_blocks(pair: Pair) -> None:
    pair.send(20)
    pair.world.run(2 * SECONDS_A_BLOCK)
    assert pair.missing() == set()


def test_what_was_sent_while_the_peer_syncs_is_sent_when_it_has_caught_up(pair: Pair) -> None:
    pair.theirs.say_sync()
    pair.world.run_actions("vic")
    pair.world.run(0.5)
    pair.send(5)
    pair.theirs.say_forward()
    pair.world.run_actions("vic")
    pair.world.run(3 * SECONDS_A_BLOCK)
    assert pair.missing() == set()


def test_what_was_sent_while_the_peer_discarded_it_is_sent_again(pair: Pair) -> None:
    pair.theirs.network.is_paused = True
    pair.send(5)
    pair.world.run(1)
    pair.theirs.network.is_paused = False
    pair.world.run(13 * SECONDS_A_BLOCK)
    assert pair.missing() == set()


def test_what_was_sent_before_a_connection_broke_is_sent_over_the_next(pair: Pair) -> None:
    pair.send(5)
    pair.theirs.restart()
    pair.world.run_actions("vic")
    pair.world.run(60)
    assert pair.missing() == set()


def test_what_was_sent_without_a_connection_is_sent_when_there_is_one(pair: Pair) -> None:
    pair.world.split({"ann"}, {"vic"})
    pair.world.run(4)
    pair.send(5)
    pair.world.heal()
    pair.world.run(90)
    assert pair.missing() == set()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_peer_that_redials_and_does_all_of_that_gets_every_transaction(start: Start, seed: int) -> None:
    pair = start(seed)
    theirs, random = pair.theirs, pair.random

    def pause() -> None:
        theirs.network.is_paused = not theirs.network.is_paused

    for _ in range(40):
        mishap = random.choice((theirs.say_sync, theirs.say_forward, theirs.dial, theirs.restart, pause, None, None))
        if mishap is not None:
            mishap()
            pair.world.run_actions("vic")
        pair.world.run(random.random())
        pair.send(random.randrange(8))
        pair.world.run(random.random() * SECONDS_A_BLOCK)
    theirs.network.is_paused = False
    pair.world.run(90)
    assert pair.missing() == set()
