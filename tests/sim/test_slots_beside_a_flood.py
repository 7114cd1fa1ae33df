"""Producers whose peers keep them busy: with old blocks by the thousand, or with another branch that is longer."""

from __future__ import annotations

from pathlib import Path
from random import Random

from ledgerd.p2p.wire.messages import BlockReply
from tests.sim.conftest import Build
from tests.sim.grounds import NAMES, SECONDS_A_BLOCK, Grounds
from tests.sim.node import Node
from tests.sim.strangers import Stranger

SLOTS = 20


class Historian(Stranger):
    """Pushes all the blocks that it knows, again and again, those of the dead branch too."""

    sent = 0

    def act(self, peer: int) -> None:
        blocks = (*self.lore.trunk, *self.lore.dead)
        self.sent += len(blocks)
        self.say(peer, *(BlockReply(block, 0, True) for block in blocks))


def missed(node: Node) -> int:
    """The slots without a block, from the beginning of its chain on."""
    return node.chain.globals.current_aslot - node.chain.head_number


def test_thousands_of_old_blocks_cost_no_slot(build: Build, grounds: Grounds) -> None:
    world = build(1, 2)
    historian = Historian("historian", NAMES[:2], grounds.lore, Random(1))  # noqa: S311 - the same in every run
    world.calm(30)
    world.join(historian)
    before = {name: (missed(node), node.chain.head_number) for name, node in world.nodes.items()}

    world.calm(SLOTS * SECONDS_A_BLOCK)

    assert historian.sent > 2_000
    for name, node in world.nodes.items():
        slots_missed, head = before[name]
        assert node.chain.head_number >= head + SLOTS
        assert missed(node) == slots_missed
    world.check_states()


def test_a_fresh_peer_that_fetches_everything_costs_its_servers_no_slot(build: Build, tmp_path: Path) -> None:
    world = build(2, 2)
    world.calm(30)
    before = {name: missed(node) for name, node in world.nodes.items()}
    fresh = [world.add(name, tmp_path / name, {}, NAMES[:2]) for name in ("xara", "yan", "zoe")]

    world.calm(SLOTS * SECONDS_A_BLOCK)

    assert {node.chain.head_id for node in fresh} == world.heads()
    assert {name: missed(world.nodes[name]) for name in before} == before


def test_a_producer_that_goes_over_to_a_longer_branch_misses_no_slot_from_there_on(build: Build) -> None:
    world = build(3, 3)
    world.calm(30)
    world.split({"ann"}, {"ben", "cid"})
    world.calm(40 * SECONDS_A_BLOCK)
    ann = world.nodes["ann"]
    parted = ann.chain.head_id
    world.heal()
    while len(world.heads()) > 1:
        world.calm(SECONDS_A_BLOCK)
    assert ann.chain.head_id != parted
    assert ann.chain.parts.trunk.pops >= 5  # a producer that is alone stops after a few blocks
    before, head = missed(ann), ann.chain.head_number

    world.calm(SLOTS * SECONDS_A_BLOCK)

    assert (missed(ann), ann.chain.head_number >= head + SLOTS) == (before, True)
    assert {block.validator for block in ann.made[-SLOTS:]} & set(ann.keys)
    world.check_states()
