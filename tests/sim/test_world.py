"""Networks of nodes in virtual time: whatever the seed does to them, they find the same chain again.

A usual run plays some of the seeds; `EVERY_SEED=1 scripts/test tests/sim` plays all, here and beside this file.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

import pytest

from ledgerd.codec import kind_of
from ledgerd.codec.types.variants import NamedVariant
from ledgerd.p2p.shared.modes import Mode
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.accounts import AccountUpdate
from ledgerd.protocol.operations.money.transfers import Transfer
from tests.sim.chaos import BY_AGENTS, Ending, chaos
from tests.sim.conftest import Build
from tests.sim.grounds import NAMES, SECONDS_A_BLOCK, Grounds
from tests.sim.traffic import Traffic
from tests.sim.world import World

SEEDS = (1, 2, 6, 23, 330, 104, 1117) if "EVERY_SEED" in os.environ else (1, 2, 6, 23, 330)
OPERATIONS = kind_of(Operation)
assert isinstance(OPERATIONS, NamedVariant)
OF_MARKETS_AND_AGENTS = tuple(OPERATIONS.kinds[tag].record.__name__ for tag in range(66, 106))
"""Those that people send, and those that the chain adds."""


def lowest_head(world: World) -> int:
    return min(node.chain.head_number for node in world.nodes.values())


def test_a_fresh_node_syncs_from_the_others(build: Build, grounds: Grounds, tmp_path: Path) -> None:
    world = build(1, 3)
    world.run(30 * SECONDS_A_BLOCK)
    fresh = world.add("zoe", tmp_path / "zoe", {}, NAMES[:3])
    assert fresh.chain.head_number == 0

    world.calm(60)

    assert fresh.network.core.mode is Mode.FORWARD
    assert world.heads() == {fresh.chain.head_id}
    assert fresh.chain.head_number > grounds.head + 30
    world.check_states()


@pytest.mark.parametrize("seed", [1, 2])
def test_an_undisturbed_network_makes_a_block_a_slot(build: Build, seed: int) -> None:
    world = build(seed, 5)
    world.run(20)
    first = lowest_head(world)

    world.calm(40 * SECONDS_A_BLOCK)

    assert len(world.heads()) == 1
    assert lowest_head(world) >= first + 39
    assert all(peer.strikes == 0 for node in world.nodes.values() for peer in node.network.core.peers())


def test_clocks_that_are_half_a_second_wrong_cost_no_slot(build: Build) -> None:
    world = build(3, 5)
    for number, node in enumerate(world.nodes.values()):
        node.clock.set_wrong(0.25 * number - 0.5, 1e-4 * (number - 2))
    world.run(20)
    first = lowest_head(world)

    world.calm(40 * SECONDS_A_BLOCK)

    assert len(world.heads()) == 1
    assert lowest_head(world) >= first + 38


@pytest.mark.parametrize("seed", [1, 2])
def test_a_network_that_was_split_is_one_again(build: Build, seed: int) -> None:
    world = build(seed, 5)
    world.run(20 * SECONDS_A_BLOCK)
    world.split({"ann", "ben", "cid"}, {"dora", "eve"})
    world.run(30 * SECONDS_A_BLOCK)
    assert len(world.heads()) > 1

    world.heal()
    world.calm(180)

    assert len(world.heads()) == 1
    assert world.invariants.switches > 0
    world.check_states()


@pytest.mark.parametrize(
    "weather",
    [
        {"resets": 0.01, "delay": 0.4},
        {"losses": 0.05},
        {"silences": 0.002},
    ],
)
def test_bad_weather_loses_nothing(build: Build, weather: dict[str, float]) -> None:
    world = build(1, 4, **weather)
    world.run(60 * SECONDS_A_BLOCK)
    world.weather.clear_up()

    world.calm(150)

    assert len(world.heads()) == 1
    world.check_states()


def test_a_crashed_node_goes_on_from_what_it_had(build: Build) -> None:
    world = build(5, 4)
    world.run(60)
    world.crash("ben")
    world.run(60)
    world.restart("ben")
    assert 0 < world.nodes["ben"].chain.head_number < world.nodes["ann"].chain.head_number

    world.calm(90)

    assert len(world.heads()) == 1
    made = [block.timestamp for block in world.nodes["ben"].made]
    assert len(made) == len(set(made)), "no slot is signed twice"


@pytest.fixture(scope="module")
def ending_of(grounds: Grounds, tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Ending]:
    """How the world of a seed ends; each is run once."""
    return cache(lambda seed: chaos(grounds, seed, tmp_path_factory.mktemp("world")))


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_happens_in_a_while_all_agree_again(ending_of: Callable[[int], Ending], seed: int) -> None:
    """Most are seeds that once did not: a forger stopped production (1), a sync began again for ever (2), a branch of
    equal height was never asked for (23), halves grew beside each other (104) or stood still (330), an operator
    allowed stale production on a branch of which half was cut off (1117). Another one has what no other does (6).
    """
    assert ending_of(seed).is_good


def test_everything_that_one_may_do_in_markets_is_done_in_these_worlds(ending_of: Callable[[int], Ending]) -> None:
    """And all that comes of it: payouts, refunds, forfeits, penalties, bans that end."""
    applied = sum((ending_of(seed).applied for seed in SEEDS), Counter[str]())

    assert not [each for each in OF_MARKETS_AND_AGENTS if not applied[each]]
    assert applied[BY_AGENTS] > 0
    assert applied[AccountUpdate.__name__] > 0
    assert applied[Transfer.__name__] > 0


def test_the_sums_of_every_block_are_added_up(build: Build, grounds: Grounds) -> None:
    world = build(6, 3)
    world.after(0.0, Traffic(world, Random(6)).go_on)  # noqa: S311 - the same in every run
    world.run(60)
    chain = world.nodes["ann"].chain
    made = {chain.id_at(number) for number in range(grounds.head + 1, chain.head_number + 1)}
    assert len(made) > 10
    assert made <= world.invariants.audited


def test_the_same_seed_gives_the_same_run_to_the_byte(
    ending_of: Callable[[int], Ending], grounds: Grounds, tmp_path: Path
) -> None:
    one, other = SEEDS[:2]
    assert chaos(grounds, one, tmp_path / "again") == ending_of(one)
    assert ending_of(one).trace != ending_of(other).trace
