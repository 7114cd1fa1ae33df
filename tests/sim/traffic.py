"""Clients of a world's nodes: what they send is in its blocks, and so undoing those matters."""

from __future__ import annotations

from random import Random

from ledgerd.protocol.blocks.transaction import unsigned_transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.markets.bets import PmRevealBet
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.state.objects.accounts.accounts import AGENT_BY_ACCOUNT
from tests.chain.networks import OTHERS, SEVEN, VIZ, VIZ_KEY
from tests.sim.keys import AGENT, ROLES, agent_key, generation_of, key_of
from tests.sim.node import Node
from tests.sim.sight import Sight
from tests.sim.wishes import wish
from tests.sim.world import World

LONGEST_PAUSE = 1.2
LIFETIME = 60
"""Seconds by the client's clock, not by the head: what a node that is far behind would still take is expired for its
peers, who end up banning it (spec 04, section 14).
"""
GIFTS = 0.1
"""How many of the operations are transfers."""
AGENTS = 0.7
"""How often an agent signs, where one may."""


class Traffic:
    """Sends operations of random kinds through random nodes: transfers, and all that one can do in markets."""

    def __init__(self, world: World, random: Random) -> None:
        self._world = world
        self._random = random
        self._count = 0
        self._secrets: dict[bytes, PmRevealBet] = {}
        self.by_agents: set[TransactionId] = set()
        """Those that an agent has signed, taken or not."""

    def go_on(self) -> None:
        """One operation, and another some time later."""
        world, random = self._world, self._random
        world.after(LONGEST_PAUSE * random.random(), self.go_on)
        node = world.nodes[random.choice(list(world.nodes))]
        if not node.is_up:
            return
        if random.random() < GIFTS:
            operation: Operation | None = self._gift()
        else:
            operation = wish(Sight(node.chain, random, self._secrets))
        if operation is not None:
            self._send(node, operation)

    def _gift(self) -> Transfer:
        self._count += 1
        random = self._random
        return Transfer(VIZ, random.choice(OTHERS), tokens(random.randint(1, 1000)), f"gift {self._count}")

    def _send(self, node: Node, operation: Operation) -> None:
        draft = unsigned_transaction(node.chain.head_id, int(self._world.now) + LIFETIME, [operation])
        agents_key = self._agents_key(node, operation)
        transaction = draft.signed(SEVEN.chain_id, [agents_key or _own_key(node, operation)])
        if agents_key is not None:
            self.by_agents.add(transaction.id)
        try:
            node.broadcast(transaction)
        except RuleViolation:
            return
        self._world.run_actions(node.name)

    def _agents_key(self, node: Node, operation: Operation) -> PrivateKey | None:
        """That of the account's agent, if there is one that may sign this."""
        names = operation.authorities().active
        agent = node.chain.parts.store.lookup(AGENT_BY_ACCOUNT, names[0], AGENT) if names else None
        if agent is None or not agent.may_sign(name_of(type(operation))):
            return None
        may_sign = agent.is_live(node.chain.head_time) and self._random.random() < AGENTS
        return agent_key(agent.account) if may_sign else None


def _own_key(node: Node, operation: Operation) -> PrivateKey:
    """The one that is asked for in this node's state."""
    wanted = operation.authorities()
    ((name, role),) = [(name, role) for role in ROLES for name in getattr(wanted, role)]
    return VIZ_KEY if name == VIZ else key_of(name, generation_of(node.chain.parts.store, name, role))
