"""Bad company: each kind beside correct nodes, which go on making a block a slot, and owe nobody anything."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.sim.conftest import Build
from tests.sim.grounds import NAMES, SECONDS_A_BLOCK, Grounds
from tests.sim.hostiles import HOSTILES, Brancher, Equivocator, Forger
from tests.sim.strangers import Stranger
from tests.sim.world import World


def let_in(world: World, grounds: Grounds, kind: type[Stranger], victims: tuple[str, ...]) -> Stranger:
    stranger = kind("stranger", victims, grounds.lore, Random(1))  # noqa: S311 - the same in every run
    world.join(stranger)
    return stranger


@pytest.mark.parametrize("kind", HOSTILES)
def test_a_hostile_peer_costs_no_slot_and_no_connection_of_others(
    build: Build, grounds: Grounds, kind: type[Stranger]
) -> None:
    world = build(1, 3)
    let_in(world, grounds, kind, NAMES[:3])
    world.run(30)
    first = min(node.chain.head_number for node in world.nodes.values())

    world.calm(25 * SECONDS_A_BLOCK)

    assert len(world.heads()) == 1
    assert min(node.chain.head_number for node in world.nodes.values()) >= first + 23
    for node in world.nodes.values():
        others = {peer.address for peer in node.network.core.peers() if peer.is_live}
        assert len(others) >= 2
    world.check_states()


@pytest.mark.parametrize("kind", HOSTILES)
def test_a_node_that_was_away_finds_its_way_past_a_hostile_peer(
    build: Build, grounds: Grounds, kind: type[Stranger]
) -> None:
    world = build(2, 3)
    let_in(world, grounds, kind, NAMES[:1])
    world.run(20)
    world.crash("ann")
    world.run(90)
    world.restart("ann")

    world.calm(120)

    assert len(world.heads()) == 1
    world.check_states()


def test_no_own_block_is_undone_for_branches_that_nobody_signed(build: Build, grounds: Grounds) -> None:
    world = build(4, 2)
    world.run(30)  # two nodes that have not met yet may both make a block for one slot, which undoes one of the two
    before = [node.chain.parts.trunk.pops for node in world.nodes.values()]
    stranger = let_in(world, grounds, Brancher, NAMES[:2])
    world.run(120)
    assert isinstance(stranger, Brancher)
    assert stranger.sent >= 20
    assert [node.chain.parts.trunk.pops for node in world.nodes.values()] == before
    assert min(node.chain.head_number for node in world.nodes.values()) >= grounds.head + 48


def test_what_a_forger_sends_is_kept_in_small_number(build: Build, grounds: Grounds) -> None:
    world = build(3, 2)
    let_in(world, grounds, Forger, NAMES[:2])
    world.run(200)
    assert max(len(node.chain.parts.forks) for node in world.nodes.values()) < 400


def test_a_validator_that_signs_two_blocks_a_slot_splits_nobody(grounds: Grounds, tmp_path: Path) -> None:
    """Those who got the one and those who got the other agree again on the next block."""
    world = World(5, grounds.now)
    keys = dict(sorted(grounds.keys.items()))
    name, key = keys.popitem()
    for number, node in enumerate(NAMES[:3]):
        share = {each: keys[each] for place, each in enumerate(keys) if place % 3 == number}
        world.add(node, grounds.copy(tmp_path / node), share, NAMES[:number])
    liar = world.add("mal", grounds.copy(tmp_path / "mal"), {name: key}, NAMES[:3], kind=Equivocator)
    try:
        world.run(30)
        first = min(node.chain.head_number for node in world.nodes.values())
        world.calm(60 * SECONDS_A_BLOCK)
        if len(world.heads()) > 1:
            world.run(SECONDS_A_BLOCK)
        assert len(liar.made) > 3
        assert len(world.heads()) == 1
        assert min(node.chain.head_number for node in world.nodes.values()) >= first + 50
        assert world.invariants.switches > 0
        world.check_states()
    finally:
        world.close()
