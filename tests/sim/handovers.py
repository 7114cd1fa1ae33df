"""Worlds in which a validator is handed over from one node to another and back, by whoever does what the walk says.

The walk is the real one; it asks the simulated nodes through the real APIs. Only the `vizd` is one of our own nodes.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from random import Random
from typing import IO, NamedTuple

from ledgerd.adopt.handover import Handover, HandoverPlan, HandoverStep, Stage
from ledgerd.adopt.handover_facts import OtherNode, OurNode
from ledgerd.adopt.handover_walk import HandoverWalk
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.compare.node import ComparedNode, NobodyListens, NodeAnswer, Pace
from ledgerd.producer.settings import LOADED_KEYS, ProducerSettings, keyring
from ledgerd.protocol.blocks.transaction import unsigned_transaction
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.protocol.operations.validators import ValidatorUpdate
from ledgerd.rpc.api import APIS
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.call import view as api
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.state.files.lock import lock_writer
from ledgerd.state.objects.validators import VALIDATOR_BY_NAME
from tests.chain.networks import OTHERS, SEVEN, key_of
from tests.rpc.api.serving import NoMain
from tests.sim.grounds import NAMES, SECONDS_A_BLOCK, Grounds
from tests.sim.invariants import Broken
from tests.sim.node import Node
from tests.sim.wires import Weather
from tests.sim.world import World

MANY, FEW, VIZD, OURS = NAMES[:4]
ROUND = SEVEN.max_validators * SECONDS_A_BLOCK
LONGEST_LEG = 1_200.0
AWHILE = 6.0
"""Seconds until a slot that was missed is told by the block after it."""


class OperatedNode(Node):
    """A node whose operator gives it keys, and takes them away."""

    loaded: tuple[PrivateKey, ...] = ()
    _lock: IO[bytes] | None = None

    def start(self) -> None:
        self._lock = lock_writer(self.folder)
        super().start()
        self.tell_keys()

    def stop(self) -> None:
        super().stop()
        if self._lock is not None:
            self._lock.close()

    def production_settings(self) -> ProducerSettings:
        names = tuple(self.keys) if self.loaded else ()
        return ProducerSettings(names=names, keys=keyring(self.loaded), checks_doppelganger=self.checks_doppelganger)

    def tell_keys(self) -> None:
        """As the real one writes down what it has loaded."""
        texts = [public_key_text(key.public) for key in self.loaded]
        (self.folder / LOADED_KEYS).write_text("".join(f"{each}\n" for each in texts), encoding="ascii")


class CarefulNode(OperatedNode):
    """Ours, as the template for validators configures it."""

    checks_doppelganger = True


def _operated(node: Node) -> OperatedNode:
    assert isinstance(node, OperatedNode)
    return node


class InProcessNode(ComparedNode):
    """The JSON-RPC of a simulated node, without the sockets."""

    def __init__(self, node: Node) -> None:
        super().__init__("http://127.0.0.1:1", Pace(1e9))
        self._node = node

    def ask(self, api_name: str, method: str, arguments: Sequence[object]) -> NodeAnswer:
        self.is_listening = self._node.is_up
        if not self._node.is_up:
            raise NobodyListens(f"{self._node.name} is down")
        chain = self._node.chain
        log = BlockLogReader.open(self._node.folder / STATE_FOLDER)
        try:
            services: dict[type, object] = {KeptBlocks: KeptBlocks(log)}
            served = api.Node(SEVEN, lambda: nullcontext(chain.parts.ledger.store), NoMain(), services)
            dispatcher = Dispatcher(APIS, served, lambda: 0.0, cache=AnswerCache(0), limits=Limits())
            request = {"jsonrpc": "2.0", "id": 1, "method": "call", "params": [api_name, method, list(arguments)]}
            answer = dispatcher.answer(json.dumps(request).encode())
        finally:
            log.close()
        assert isinstance(answer, bytes)
        envelope = json.loads(answer)
        return NodeAnswer(envelope.get("result"), envelope.get("error", {}).get("message", ""))


class Leg(NamedTuple):
    """One hand-over that is over."""

    name: str
    seconds: float
    missed: int
    """Slots of the validator without a block, from its first step to a while after its last."""


class HandoverEnding(NamedTuple):
    """How a world came out."""

    legs: tuple[Leg, ...]
    made: int
    """Blocks of the validator, by either node."""
    trace: str


class HandoverWorld:
    """Four nodes: two hold the keys of all other validators, one is the `vizd`, and one is ours."""

    def __init__(self, grounds: Grounds, seed: int, folder: Path) -> None:
        self.random = Random(seed)  # noqa: S311 - the seed is the point
        weather = Weather(self.random.choice((0.02, 0.1, 0.3)), resets=self.random.choice((0.0, 0.0005, 0.002)))
        self.world = world = World(seed, grounds.now, weather)
        self.name = name = self.random.choice(OTHERS)
        others = sorted(set(grounds.keys) - {name})
        shares = {MANY: others[:4], FEW: others[4:]}
        for place, node in enumerate((MANY, FEW)):
            keys = {each: grounds.keys[each] for each in shares[node]}
            world.add(node, grounds.copy(folder / node), keys, NAMES[:place])
        own = {name: grounds.keys[name]}
        self.vizd = _operated(world.add(VIZD, grounds.copy(folder / VIZD), own, NAMES[:2], OperatedNode))
        self.ours = _operated(world.add(OURS, grounds.copy(folder / OURS), own, NAMES[:3], CarefulNode))
        self.key = grounds.keys[name]
        """What the chain knows, or will know at the end of this leg."""
        self._keys_made = 0
        self._operating: set[Stage] = set()
        self.give(self.vizd, self.key)
        world.run(ROUND)

    # -- what the operator does

    def give(self, node: OperatedNode, *keys: PrivateKey) -> None:
        """Configure a node with keys, or without, and start it again."""
        node.loaded = keys
        self.down(node)
        self.up(node)

    def down(self, node: Node) -> None:
        if node.is_up:
            self.world.crash(node.name)

    def up(self, node: Node) -> None:
        if not node.is_up:
            self.world.restart(node.name)

    def declare(self, key: PrivateKey) -> None:
        """Change the key on the chain, as a wallet does."""
        chain = self.world.nodes[MANY].chain
        operation = ValidatorUpdate(self.name, "https://example.test", key.public)
        draft = unsigned_transaction(chain.head_id, chain.head_time + 60, [operation])
        self.world.nodes[MANY].broadcast(draft.signed(SEVEN.chain_id, [key_of(self.name)]))

    def obey(self, step: HandoverStep, plan: HandoverPlan) -> None:
        """Do what a step says, some seconds later; once for each time that it is said."""
        deeds: dict[Stage, Callable[[], None]] = {
            Stage.STOP: (lambda: self.give(self.ours)) if plan.is_back else self._stop_vizd,
            Stage.RECORD: lambda: self.down(self.ours),
            Stage.START: lambda: self.give(self.vizd if plan.is_back else self.ours, self.key),
            Stage.LOAD: lambda: self.give(self.vizd if plan.is_back else self.ours, self.key),
            Stage.DECLARE: lambda: self.declare(self.key),
        }
        if not plan.key:
            deeds[Stage.SILENCE] = self.disturb
        if step.stage is Stage.DANGER:
            raise Broken(f"a walk that is obeyed leads to: {step.words}")
        if step.stage is Stage.IN_STEP and not self.ours.is_up and Stage.RECORD not in self._operating:
            deeds[Stage.IN_STEP] = lambda: self.up(self.ours)
        if step.stage not in deeds or step.stage in self._operating:
            return
        stage, deed = step.stage, deeds[step.stage]
        self._operating.add(stage)
        most = 2.0 if stage is Stage.DECLARE else 9.0

        def done() -> None:
            deed()
            self.world.after(AWHILE, lambda: self._operating.discard(stage))

        self.world.after(self.random.uniform(0.3, most), done)

    def _stop_vizd(self) -> None:
        """Now and then something starts it again."""
        self.down(self.vizd)
        if self.random.random() < 0.3:
            self.world.after(self.random.uniform(2, 12), lambda: self.up(self.vizd))

    def disturb(self) -> None:
        """Now and then our node crashes while the walk waits."""
        if self.random.random() < 0.3:
            self.down(self.ours)

    # -- one hand-over

    def hand_over(self, *, is_back: bool, is_other_key: bool) -> Leg:
        """Walk to the end."""
        if is_other_key:
            self._keys_made += 1
            self.key = PrivateKey.from_password(self.name, "signing", str(self._keys_made))
            if is_back:
                self.give(self.vizd, self.key)
        key = public_key_text(self.key.public) if is_other_key else ""
        plan = HandoverPlan(self.name, self.ours.folder, key, is_back)
        began, missed = self.world.now, self.missed()
        walk, step = self._walk(plan), None
        while step is None or step.stage is not Stage.DONE:
            if self.world.now - began > LONGEST_LEG:
                raise Broken(f"stuck for {LONGEST_LEG:.0f} s at: {step.words if step else 'nothing'}")
            if self.random.random() < 0.01:
                walk = self._walk(plan)  # Ctrl-C, and the same command again
            step = walk.advance()
            self.obey(step, plan)
            self.world.run(1.0)
            self._require_one_holder()
        self.world.run(ROUND + AWHILE)
        if is_other_key:  # what the other side has left is of no use any more
            self.give(self.ours if is_back else self.vizd)
            self.world.run(AWHILE)
        name = f"{'back' if is_back else 'forth'}, {'another key' if is_other_key else 'the same key'}"
        return Leg(name, self.world.now - began, self.missed() - missed)

    def _walk(self, plan: HandoverPlan) -> HandoverWalk:
        names = frozenset({self.name})

        def settings() -> ProducerSettings:
            return ProducerSettings(names=tuple(names), keys={})

        node = InProcessNode(self.ours)
        ours = OurNode(self.ours.folder, SEVEN.chain_id, node, settings, lambda: self.world.now)
        return HandoverWalk(Handover(plan), ours, OtherNode(InProcessNode(self.vizd), None), lambda _: None)

    def _require_one_holder(self) -> None:
        """With a key that both have, both may sign for one slot."""
        if self.ours.is_up and self.vizd.is_up and set(self.ours.loaded) & set(self.vizd.loaded):
            raise Broken("both nodes run with the same key")

    # -- what came of it

    def missed(self) -> int:
        """Slots of the validator that nobody has made a block for, by the chain of the majority."""
        chain = self.world.nodes[MANY].chain
        return chain.parts.ledger.store.at(VALIDATOR_BY_NAME, self.name).total_missed

    def blocks(self) -> int:
        """Blocks of the validator; a slot has one."""
        digests: dict[int, set[bytes]] = {}
        for node in (self.ours, self.vizd):
            for block in node.made:
                if block.validator == self.name:
                    digests.setdefault(block.timestamp, set()).add(block.header.digest)
        twice = [slot for slot, found in digests.items() if len(found) > 1]
        if twice:
            raise Broken(f"slots signed twice: {twice}")
        return len(digests)


def hand_over_and_back(grounds: Grounds, seed: int, folder: Path) -> HandoverEnding:
    """A world of this seed: forth and back by another key, then forth and back with the same one."""
    each = HandoverWorld(grounds, seed, folder)
    try:
        ways = itertools.product((True, False), (False, True))
        legs = [each.hand_over(is_back=is_back, is_other_key=is_other_key) for is_other_key, is_back in ways]
        for leg in legs[:2]:
            if leg.missed:
                raise Broken(f"{leg.name}: {leg.missed} slots are missed")
        if len(each.world.heads()) > 1:
            each.world.calm(9)
        return HandoverEnding(tuple(legs), each.blocks(), each.world.trace.hexdigest())
    finally:
        each.world.close()
