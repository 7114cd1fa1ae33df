"""The checks of the simulator find what they are for."""

from __future__ import annotations

import pytest

from ledgerd.protocol.types.identifiers import BlockId
from tests.sim.conftest import Build
from tests.sim.invariants import LOOKS, Broken
from tests.sim.world import World


@pytest.fixture
def world(build: Build) -> World:
    world = build(1, 2)
    world.run(30)
    return world


def test_two_irreversible_blocks_of_a_number_are_found(world: World) -> None:
    ann = world.nodes["ann"]
    world.invariants._final[ann.chain.irreversible] = BlockId(bytes(20))  # noqa: SLF001 - the planted fault
    world.invariants._checked["ann"] = ann.chain.irreversible - 1  # noqa: SLF001 - as above
    with pytest.raises(Broken, match="two irreversible blocks"):
        world.invariants.check(ann)


def test_a_state_that_is_not_that_of_its_head_is_found(world: World) -> None:
    ann, ben = world.nodes["ann"], world.nodes["ben"]
    assert ann.chain.head_id == ben.chain.head_id
    world.check_states()
    with ben.chain.parts.ledger.editing(ben.chain.globals):
        ben.chain.globals.committee_fund += 1
    with pytest.raises(Broken, match="another state at block"):
        world.check_states()


def test_sums_that_do_not_add_up_are_found(world: World) -> None:
    ann = world.nodes["ann"]
    world.invariants.audit(ann)
    with ann.chain.parts.ledger.editing(ann.chain.globals):
        ann.chain.globals.committee_fund += 1
    with pytest.raises(Broken, match="the supply is"):
        world.invariants.audit(ann)


def test_what_grows_beyond_its_bounds_is_found(world: World) -> None:
    ann = world.nodes["ann"]
    ann.network.core.settings = type(ann.network.core.settings)(max_connections=0)
    world.invariants.looks = LOOKS - 1  # the next one counts
    with pytest.raises(Broken, match="connections"):
        world.invariants.check(ann)
