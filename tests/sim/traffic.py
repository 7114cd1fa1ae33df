"""Clients of a world's nodes: transfers now and then, so that not all blocks are empty, and undoing them matters."""

from __future__ import annotations

from random import Random

from ledgerd.protocol.assets import tokens
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.transfers import Transfer
from ledgerd.protocol.transaction import unsigned_transaction
from tests.chain.networks import OTHERS, SEVEN, VIZ, VIZ_KEY
from tests.sim.world import World

LONGEST_PAUSE = 20.0
LIFETIME = 60


class Traffic:
    """Sends transfers of the initiator to random accounts, through random nodes."""

    def __init__(self, world: World, random: Random) -> None:
        self._world = world
        self._random = random
        self._count = 0

    def go_on(self) -> None:
        """One transfer, and another some time later."""
        world, random = self._world, self._random
        world.after(LONGEST_PAUSE * random.random(), self.go_on)
        node = world.nodes[random.choice(list(world.nodes))]
        if not node.is_up:
            return
        self._count += 1
        gift = Transfer(VIZ, random.choice(OTHERS), tokens(random.randint(1, 1000)), f"gift {self._count}")
        draft = unsigned_transaction(node.chain.head_id, node.chain.head_time + LIFETIME, [gift])
        try:
            node.broadcast(draft.signed(SEVEN.chain_id, [VIZ_KEY]))
        except RuleViolation:
            return
        world.run_actions(node.name)
