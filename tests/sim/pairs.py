"""Worlds of two nodes with one signer: split, restarted, restored from backups, then left in peace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from ledgerd.producer.signing.signing_frames import SigningVerdict
from ledgerd.signer.rule import ROUND_SECONDS
from tests.chain.networks import SEVEN
from tests.sim.chaos import PATIENCE, see_to_producers
from tests.sim.grounds import NAMES, SECONDS_A_BLOCK, Grounds
from tests.sim.invariants import Broken
from tests.sim.signers import Asked, SignedNode, SignerHost
from tests.sim.wires import Weather
from tests.sim.world import World

ONE, OTHER, MANY, FEW = NAMES[:4]
PAIR = (ONE, OTHER)
ROUND = SEVEN.max_validators * SECONDS_A_BLOCK
UNSETTLED = 6.0
"""Seconds around a mishap in which a block may be lost on its way, to or from whoever it has befallen."""
MOST_MISHAPS = 5
LONGEST_CALM = 900


class PairEnding(NamedTuple):
    """How a world came out."""

    signed: int
    """Slots that have a signature."""
    owed: int
    """Slots for which a node in touch with signer and majority was the first to ask; each of them has its block."""
    missed: Counter[str]
    """All other slots of the pair without a block, by their causes."""
    back_after: float
    """Seconds after the split was over and all agreed in which a slot of the pair has no block."""
    trace: str


class PairWorld:
    """Four nodes: one holds the keys of most validators, one of a single one, and two share a signer."""

    def __init__(self, grounds: Grounds, seed: int, folder: Path) -> None:
        self.random = Random(seed)  # noqa: S311 - the seed is the point
        self.folder, self._grounds = folder, grounds
        self.world = world = World(seed, grounds.now, Weather(delay=self.random.choice((0.02, 0.1, 0.2))))
        names = sorted(grounds.keys)
        shared, single, most = names[:2], names[2:3], names[3:]
        keys = {MANY: most, FEW: single, ONE: shared, OTHER: shared}
        for place, name in enumerate((MANY, FEW, ONE, OTHER)):
            kind = SignedNode if name in PAIR else None
            own = {each: grounds.keys[each] for each in keys[name]}
            friends = (MANY, FEW, ONE, OTHER)[:place]
            data = grounds.copy(folder / name)
            node = world.add(name, data, own, friends) if kind is None else world.add(name, data, own, friends, kind)
            if isinstance(node, SignedNode):
                node.world = world
        self.shared = frozenset(shared)
        self.host = SignerHost(world, folder / "signer", {each: grounds.keys[each] for each in shared})
        for name in PAIR:
            node = world.nodes[name]
            assert isinstance(node, SignedNode)
            node.host = self.host
        self.mishaps: list[float] = []
        self.agreed = 0.0
        """When all were one again after the split, and the signer would sign."""
        self._backups: dict[str, Path] = {}
        self._was_wrong = False
        """Whether the signer's clock was set by hours."""
        self.began = world.now

    # -- what may happen

    def happen(self, what: Callable[[], None]) -> None:
        """One mishap, and a while with it."""
        self.mishaps.append(self.world.now)
        what()
        self.world.run(self.random.uniform(4, 40))

    def split(self) -> None:
        """Two islands; the node with most validators is on one of them."""
        names = [*self.world.nodes]
        self.random.shuffle(names)
        cut = self.random.randrange(1, len(names))
        self.world.split(set(names[:cut]), set(names[cut:]))

    def part_the_pair(self) -> None:
        """A split between the two, the spare with few others: both ask for every slot."""
        minority = self.random.choice(PAIR)
        self.world.split({minority, FEW}, {*self.world.nodes} - {minority, FEW})

    def crash(self) -> None:
        name = self.random.choice(PAIR)
        if self.world.nodes[name].is_up:
            self.world.crash(name)

    def restart(self) -> None:
        for name in PAIR:
            if not self.world.nodes[name].is_up:
                self.world.restart(name)

    def restore(self) -> None:
        """A node gets the data of a minute ago, or of the beginning."""
        name = self.random.choice(PAIR)
        node = self.world.nodes[name]
        if node.is_up:
            self.world.crash(name)
        node.restore(self._backup(name, node.folder))
        self.world.restart(name)

    def kill_signer(self) -> None:
        if self.host.is_up:
            self.host.stop(is_clean=False)

    def restart_signer(self) -> None:
        if self.host.is_up:
            self.host.stop(is_clean=True)
        self.host.start()

    def restore_signer(self) -> None:
        """It gets an old record, and what says that it was stopped cleanly then."""
        if self.host.is_up:
            self.host.stop(is_clean=True)
        if "signer" not in self._backups:
            self._backups["signer"] = self.folder / "backup of signer"
            self.host.back_up(self._backups["signer"])
            self.host.start()
            self.world.run(self.random.uniform(1, ROUND))
            self.host.stop(is_clean=self.random.random() < 0.5)
        self.host.restore(self._backups["signer"])
        self.host.start()

    def set_signer_clock(self) -> None:
        """By a little, which is what a clock may be wrong, or by hours."""
        error = self.random.choice((-0.9, -0.3, 0.3, 0.9, 3_600.0))
        self._was_wrong |= error > 1
        self.host.clock.set_wrong(error, 0.0)

    def cut_wire(self) -> None:
        self.host.cut ^= {self.random.choice(PAIR)}

    def spoil_wire(self) -> None:
        self.host.delay, self.host.losses = self.random.choice(((0.01, 0.3), (0.15, 0.0), (0.3, 0.1)))

    def _backup(self, name: str, data: Path) -> Path:
        """What was kept of a node when it was first down."""
        if name not in self._backups:
            self._backups[name] = self.folder / f"backup of {name}"
            self.world.nodes[name].copy_to(self._backups[name])
            self.world.restart(name)
            self.world.run(self.random.uniform(5, 60))
            self.world.crash(name)
        assert data.exists()
        return self._backups[name]

    # -- afterwards

    def heal(self) -> None:
        """Everything is well again; then all agree, and the signer has waited.

        Where by the rules producers have stopped for good, an operator tells them to go on, as in other worlds.
        """
        self.mishaps.append(self.world.now)
        self.world.heal()
        self.host.cut, self.host.delay, self.host.losses = set(), 0.01, 0.0
        self._set_clock_right()
        if not self.host.is_up:
            self.host.start()
        self.restart()
        began, interventions = self.world.now, 0
        while len(self.world.heads()) > 1 or self.host.problem:
            if self.world.now - began > LONGEST_CALM:
                raise Broken(f"no agreement after {LONGEST_CALM} s: {self.host.problem}")
            if self.world.now - began > PATIENCE * (interventions + 1):
                interventions += 1
                see_to_producers(self.world, self._grounds)
            self.world.calm(3 if self.world.now - began > ROUND_SECONDS else 9)
        self.agreed = self.world.now
        self.world.run(2 * ROUND)

    def _set_clock_right(self) -> None:
        """Where it was wrong by hours, the signer is started again: it may have begun to wait by the wrong time."""
        if self._was_wrong and self.host.is_up:
            self.host.stop(is_clean=False)
        self.host.clock.set_wrong(0.0, 0.0)

    def is_settled(self, asked: Asked) -> bool:
        """Whether nothing befell anybody around a slot."""
        return all(abs(asked.slot - when) > UNSETTLED for when in self.mishaps)


def pair(grounds: Grounds, seed: int, folder: Path) -> PairEnding:
    """A world of this seed: a split and other mishaps, peace, and what is to be said of its slots."""
    each = PairWorld(grounds, seed, folder)
    try:
        kinds = (
            each.crash,
            each.restart,
            each.restore,
            each.kill_signer,
            each.restart_signer,
            each.restore_signer,
            each.set_signer_clock,
            each.cut_wire,
            each.spoil_wire,
        )
        watch = Watch(each)
        each.world.run(ROUND_SECONDS + each.random.uniform(0, ROUND / 2))
        plan = [each.random.choice(kinds) for _ in range(each.random.randint(0, MOST_MISHAPS))]
        splitting = each.random.choice((each.part_the_pair, each.split))
        plan.insert(each.random.randrange(len(plan) + 1), splitting)
        for what in plan:
            each.happen(what)
        each.heal()
        return watch.judge()
    finally:
        each.world.close()
        if each.host.is_up:
            each.host.stop(is_clean=False)


class Watch:
    """What is noted at the moment of each first question, and judged at the end by the chain of the majority."""

    def __init__(self, pair_world: PairWorld) -> None:
        self._of = pair_world
        self._in_touch: dict[int, bool] = {}
        pair_world.host.look_on = self._note

    def _note(self, asked: Asked) -> None:
        self._in_touch[asked.slot] = self._is_in_touch(asked)

    def _is_in_touch(self, asked: Asked) -> bool:
        """Whether its node hears the majority, and builds on its head."""
        world = self._of.world
        island = next(each for each in world.islands if asked.node in each)
        return MANY in island and world.nodes[MANY].chain.head_id == asked.parent

    def judge(self) -> PairEnding:
        """Compare what was signed with what is in the chain."""
        of = self._of
        self._check_slots()
        chain = of.world.nodes[MANY].chain
        blocks = {}
        for number in range(chain.head_number, 0, -1):
            block = chain.block_at(number)
            if block is None or block.timestamp <= of.began:
                break
            blocks[block.timestamp] = block
        missed, owed = Counter[str](), 0
        for slot in range(int(of.began) // 3 * 3 + 3, chain.head_time, SECONDS_A_BLOCK):
            asked = of.host.first.get(slot)
            is_there = slot in blocks
            if asked is not None and self._is_owed(asked):
                owed += 1
                if not is_there or blocks[slot].header.digest != asked.digest:
                    raise Broken(f"slot {slot}, which {asked.node} has asked for first, has no block of it")
            elif not is_there:
                missed[self._cause(slot, asked)] += 1
        after = range(int(of.agreed) // 3 * 3 + 3, chain.head_time, SECONDS_A_BLOCK)
        late = [slot for slot in after if slot not in blocks and self._is_due(slot)]
        back_after = max(late, default=of.agreed) - of.agreed
        if back_after > ROUND:
            raise Broken(f"slots are missed {back_after:.0f} s after all agreed")
        signed = len({given.slot for given in of.host.given})
        return PairEnding(signed, owed, missed, back_after, of.world.trace.hexdigest())

    def _is_due(self, slot: int) -> bool:
        """Whether a node of the pair has seen a slot of its own there."""
        own = [node for node in self._of.world.nodes.values() if isinstance(node, SignedNode)]
        return slot in self._of.host.first or any(slot in node.outcomes for node in own)

    def _is_owed(self, asked: Asked) -> bool:
        is_signed = asked.verdict is SigningVerdict.SIGNED
        return is_signed and self._in_touch[asked.slot] and self._of.is_settled(asked) and self._is_answered(asked)

    def _is_answered(self, asked: Asked) -> bool:
        """Whether the answer came back in time."""
        node = self._of.world.nodes[asked.node]
        return any(block.timestamp == asked.slot for block in node.made)

    def _check_slots(self) -> None:
        digests: dict[int, set[bytes]] = {}
        for given in self._of.host.given:
            digests.setdefault(given.slot, set()).add(given.digest)
        twice = [slot for slot, found in digests.items() if len(found) > 1]
        if twice:
            raise Broken(f"slots signed twice: {twice}")

    def _cause(self, slot: int, asked: Asked | None) -> str:
        """Why a slot has no block; most of these are of validators that the pair does not have."""
        if asked is None:
            outcomes = {
                node.outcomes[slot].name
                for node in self._of.world.nodes.values()
                if isinstance(node, SignedNode) and slot in node.outcomes
            }
            return f"not asked: {'/'.join(sorted(outcomes))}" if outcomes else "of others, or both nodes were down"
        if asked.verdict is not SigningVerdict.SIGNED:
            return "the signer was down" if asked.verdict is None else f"the signer: {asked.verdict.name}"
        if not self._in_touch[slot]:
            return "asked first by a node of the minority, or behind"
        return "the answer was lost" if self._of.is_settled(asked) else "a mishap in the same moment"
