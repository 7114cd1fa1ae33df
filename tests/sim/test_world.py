"""Networks of nodes in virtual time: whatever the seed does to them, they find the same chain again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ledgerd.p2p.modes import Mode
from tests.sim.chaos import NAMES, SECONDS_A_BLOCK, Grounds, chaos
from tests.sim.world import World


@pytest.fixture(scope="session")
def grounds(tmp_path_factory: pytest.TempPathFactory) -> Grounds:
    return Grounds(tmp_path_factory.mktemp("grounds"))


Build = Callable[..., World]


@pytest.fixture
def build(tmp_path: Path, grounds: Grounds) -> Iterator[Build]:
    """Worlds of nodes that all know the first blocks, and share the validators' keys; each dials those before it."""
    worlds: list[World] = []

    def world(seed: int, count: int, **bad: float) -> World:
        worlds.append(grounds.world(seed, tmp_path / str(len(worlds)), count, **bad))
        return worlds[-1]

    yield world
    for each in worlds:
        each.close()


@pytest.mark.parametrize("seed", [1, 2])
def test_a_fresh_node_syncs_from_the_others(build: Build, grounds: Grounds, tmp_path: Path, seed: int) -> None:
    world = build(seed, 3)
    world.run(30 * SECONDS_A_BLOCK)
    fresh = world.add("zoe", tmp_path / "zoe", {}, NAMES[:3])
    assert fresh.chain.head_number == 0

    world.calm(60)

    assert fresh.network.core.mode is Mode.FORWARD
    assert world.heads() == {fresh.chain.head_id}
    assert fresh.chain.head_number > grounds.head + 30


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_undisturbed_network_makes_a_block_a_slot(build: Build, seed: int) -> None:
    world = build(seed, 5)
    world.run(20)
    first = max(node.chain.head_number for node in world.nodes.values())

    world.calm(40 * SECONDS_A_BLOCK)

    assert len(world.heads()) == 1
    assert min(node.chain.head_number for node in world.nodes.values()) >= first + 39
    assert all(peer.strikes == 0 for node in world.nodes.values() for peer in node.network.core.peers())


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_network_that_was_split_is_one_again(build: Build, seed: int) -> None:
    world = build(seed, 5)
    world.run(20 * SECONDS_A_BLOCK)
    world.split({"ann", "ben", "cid"}, {"dora", "eve"})
    world.run(30 * SECONDS_A_BLOCK)
    assert len(world.heads()) > 1

    world.heal()
    world.calm(180)

    assert len(world.heads()) == 1


@pytest.mark.parametrize("seed", [1, 2])
def test_connections_that_break_again_and_again_lose_nothing(build: Build, seed: int) -> None:
    world = build(seed, 5, resets=0.01, delay=0.4)
    world.run(60 * SECONDS_A_BLOCK)
    world.resets = 0.0

    world.calm(150)

    assert len(world.heads()) == 1


def test_the_same_seed_gives_the_same_run_to_the_byte(build: Build) -> None:
    traces = []
    for _ in range(2):
        world = build(7, 4, resets=0.01)
        world.run(60)
        traces.append(world.trace.hexdigest())
    assert traces[0] == traces[1]


@pytest.mark.parametrize("seed", range(1, 7))
def test_whatever_happens_in_a_while_all_agree_again(grounds: Grounds, tmp_path: Path, seed: int) -> None:
    assert len(chaos(grounds, seed, tmp_path)) == 1


def test_a_crashed_node_goes_on_from_what_it_had(build: Build) -> None:
    world = build(5, 4)
    world.run(60)
    world.crash("ben")
    world.run(60)
    world.restart("ben")
    assert 0 < world.nodes["ben"].chain.head_number < world.nodes["ann"].chain.head_number

    world.calm(90)

    assert len(world.heads()) == 1
