"""Two nodes with the same key, a node that comes back after a crash, and a peer that replays what was once signed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

from ledgerd.p2p.wire.messages import BlockReply
from ledgerd.producer.doppelganger import OLDEST, Doppelganger
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import unsigned_transaction
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from tests.chain.networks import SEVEN, VIZ, VIZ_KEY
from tests.sim.conftest import Build
from tests.sim.grounds import NAMES, SECONDS_A_BLOCK, Grounds
from tests.sim.node import Node
from tests.sim.strangers import Stranger
from tests.sim.world import World

ROUND = 21 * SECONDS_A_BLOCK
"""A round of the main network, which is three of this one."""
COUNT = 4


class Careful(Node):
    """Looks out for another node with its keys."""

    checks_doppelganger = True

    @property
    def check(self) -> Doppelganger:
        assert self.doppelganger is not None
        return self.doppelganger


class Twin(Node):
    """A copy with a client of its own, so that its blocks differ: of the same transactions both would sign the same."""

    def look(self) -> float | None:
        if not self.chain.waiting:
            gift = Transfer(VIZ, VIZ, tokens(1), f"of {self.chain.head_number}")
            draft = unsigned_transaction(self.chain.head_id, self.chain.head_time + 60, [gift])
            self.chain.push_transaction(draft.signed(self.parameters.chain_id, [VIZ_KEY]))
        return super().look()


def add_with_keys_of(world: World, grounds: Grounds, folder: Path, place: int, name: str, kind: type[Node]) -> Node:
    """One more node, with the keys of the one at this place."""
    data = grounds.copy(folder / name)
    return world.add(name, data, grounds.share(place, COUNT), NAMES[:COUNT], kind)


def careful(world: World, grounds: Grounds, folder: Path, pause: float = 0) -> Careful:
    """A node with keys that no other node has: it takes the place of the last one."""
    world.crash(NAMES[COUNT - 1])
    world.run(pause)
    node = add_with_keys_of(world, grounds, folder, COUNT - 1, "careful", Careful)
    assert isinstance(node, Careful)
    return node


def signing(build: Build, seed: int, grounds: Grounds, folder: Path) -> tuple[World, Careful]:
    """A world with such a node, which has begun to sign."""
    world = build(seed, COUNT)
    node = careful(world, grounds, folder)
    world.run(4 * ROUND)
    assert node.made
    return world, node


def doubly_signed(*nodes: Node) -> list[int]:
    """The slots that were signed more than once."""
    made = Counter((block.timestamp, block.validator) for node in nodes for block in node.made)
    return sorted(time for (time, _), count in made.items() if count > 1)


def test_a_node_that_starts_beside_another_with_its_key_signs_nothing(
    build: Build, grounds: Grounds, tmp_path: Path
) -> None:
    world = build(11, COUNT)
    world.run(2 * ROUND)
    first = world.nodes[NAMES[1]]
    twin = add_with_keys_of(world, grounds, tmp_path, 1, "twin", Careful)
    before = len(first.made)

    world.run(4 * ROUND)

    assert twin.chain.head_number > grounds.head + 100
    assert twin.made == []
    assert isinstance(twin, Careful)
    assert "another node signs with the key of" in twin.check.stopped
    assert len(first.made) > before + 5
    assert doubly_signed(first, twin) == []


def test_a_node_stops_signing_when_another_one_begins_to_sign_with_its_key(
    build: Build, grounds: Grounds, tmp_path: Path
) -> None:
    world, node = signing(build, 12, grounds, tmp_path)
    assert not node.check.stopped

    twin = add_with_keys_of(world, grounds, tmp_path, COUNT - 1, "twin", Twin)
    world.run(2 * ROUND)
    assert node.check.stopped
    made = len(node.made)
    world.run(2 * ROUND)

    assert len(node.made) == made
    assert len(twin.made) > 5


def test_a_node_that_nobody_copies_signs_after_a_round(build: Build, grounds: Grounds, tmp_path: Path) -> None:
    world = build(13, COUNT)
    node = careful(world, grounds, tmp_path)
    began = world.now

    world.run(4 * ROUND)

    assert not node.check.stopped
    assert began + SEVEN.max_validators * SECONDS_A_BLOCK <= node.made[0].timestamp < began + ROUND
    assert len(node.made) > 5


def test_a_node_that_crashed_goes_on_with_its_own_blocks_in_the_chain(
    build: Build, grounds: Grounds, tmp_path: Path
) -> None:
    world = build(14, COUNT)
    node = careful(world, grounds, tmp_path)
    for pause in (1, ROUND + 10):
        world.run(2 * ROUND)
        made = len(node.made)
        world.crash("careful")
        world.run(pause)
        world.restart("careful")
        world.run(2 * ROUND)

        assert not node.check.stopped, pause
        assert len(node.made) > made, pause
    assert doubly_signed(node) == []


def test_a_node_that_lost_its_state_goes_on_with_its_own_blocks_in_the_chain(
    build: Build, grounds: Grounds, tmp_path: Path
) -> None:
    """The young blocks of its earlier run come from peers, as new to it."""
    world, node = signing(build, 15, grounds, tmp_path)
    made = len(node.made)

    world.crash("careful")
    node.take_state_of(grounds.folder)
    world.restart("careful")
    world.run(4 * ROUND)

    assert not node.check.stopped
    assert len(node.made) > made
    assert doubly_signed(node) == []


class Replayer(Stranger):
    """Sends what it was handed, again and again."""

    blocks: tuple[Block, ...] = ()

    def act(self, peer: int) -> None:
        self.say(peer, *(BlockReply(block, 0, True) for block in self.blocks[-5:]))


def test_what_a_peer_replays_from_the_past_stops_nobody(build: Build, grounds: Grounds, tmp_path: Path) -> None:
    """Also what the node has signed itself, and has lost with its state and its record."""
    world = build(16, COUNT)
    old = world.nodes[NAMES[COUNT - 1]]
    world.run(3 * ROUND)
    node = careful(world, grounds, tmp_path, pause=OLDEST + 10)
    replayer = Replayer("replayer", ("careful",), grounds.lore, Random(16))  # noqa: S311 - the same in every run
    replayer.blocks = tuple(old.made)
    assert replayer.blocks
    world.join(replayer)

    world.run(5 * ROUND)

    assert not node.check.stopped
    assert node.made
