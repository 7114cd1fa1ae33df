"""Dead ends of a node, as scenarios of the simulator: each is left without an operator, or the node stops and says so.

Every scenario is a world of three nodes. `ann` gets into the dead end with one of seven validators; the others go on.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.node.parts.watching.recovery.rule import RecoveryStep
from ledgerd.p2p.sync.survey import FAR_BLOCKS
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.operations.money.transfers import TransferToVesting
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.build import build_state
from tests.chain.networks import OTHERS as OTHER_VALIDATORS
from tests.chain.networks import SEVEN, SMALL, STAKE, VIZ, Network, start_seven
from tests.sim.grounds import SECONDS_A_BLOCK, Grounds
from tests.sim.invariants import Broken
from tests.sim.node import Node
from tests.sim.poison import Poison, poisoned
from tests.sim.records import SameRecords
from tests.sim.recovering import Recovering, Served, exported
from tests.sim.wires import Weather
from tests.sim.world import World

WEDGED = "ann"
OTHERS = ("ben", "cid")
LOOK_SECONDS = 15
MOST_SECONDS = 600
"""From the moment at which the network is far ahead, until the node is in step again."""
LONGEST = 3_000
IN_STEP = 2


class WedgeEnding(NamedTuple):
    """How a scenario came out."""

    seconds: float
    """From when the network was far ahead until the node was in step; below zero if it never was."""
    steps: tuple[RecoveryStep, ...]
    said: tuple[str, ...]
    trace: str


class Dead(NamedTuple):
    """A world, and the node that is in a dead end in it."""

    world: World
    node: Recovering


def begin(grounds: Grounds, seed: int, folder: Path, kind: type[Recovering] = Recovering) -> Dead:
    """A network of three nodes; the one that is watched has the keys of one validator.

    With an odd seed the others are far ahead from the beginning; with an even one they come to be so.
    """
    random = Random(seed)  # noqa: S311 - the seed is the point
    weather = Weather(delay=random.choice((0.02, 0.2, 0.5)), losses=random.choice((0.0, 0.01)))
    is_far = seed % 2 == 1
    world = World(seed, grounds.far_now if is_far else grounds.now, weather)
    world.invariants = SameRecords(grounds.head)
    names = sorted(grounds.keys)
    own = random.choice(names)
    rest = [name for name in names if name != own]
    shares = (rest[:3], rest[3:])
    for place, name in enumerate(OTHERS):
        shutil.copytree(grounds.far_folder if is_far else grounds.folder, folder / name)
        world.add(name, folder / name, shared(grounds, shares[place]), OTHERS[:place])
    node = world.add(WEDGED, grounds.copy(folder / WEDGED), shared(grounds, [own]), OTHERS, kind)
    assert isinstance(node, Recovering)
    node.begin_anew = lambda: world.after(0.0, lambda: exchange(world, node))
    return Dead(world, node)


def shared(grounds: Grounds, names: list[AccountName]) -> dict[AccountName, PrivateKey]:
    return {name: grounds.keys[name] for name in names}


def exchange(world: World, node: Recovering) -> None:
    """As the node does it: it stops, puts the state in place that was built, and starts."""
    world.crash(node.name)
    node.put_in_place()
    world.restart(node.name)
    invariants = world.invariants
    assert isinstance(invariants, SameRecords)
    invariants.begun = max(invariants.begun, node.chain.head_number)


def served_by(world: World, *names: str) -> Callable[[], list[Served]]:
    """What trusted peers serve: each its present head."""

    def serve() -> list[Served]:
        chains = [(name, world.nodes[name].chain) for name in names]
        return [Served(name, chain.head_number, exported(chain)) for name, chain in chains]

    return serve


# -- how a scenario is played


def play(dead: Dead) -> WedgeEnding:
    """Let time go by until the node is in step again after it was far behind."""
    world, node = dead
    far_at: float | None = None
    end = world.now + LONGEST
    while world.now < end:
        world.run(LOOK_SECONDS)
        distance = highest(world) - node.chain.head_number
        if far_at is None and distance >= FAR_BLOCKS:
            far_at = world.now
        if far_at is not None and distance <= IN_STEP and node.rule.incident is None:
            return ending(dead, world.now - far_at)
    return ending(dead, -1.0)


def ending(dead: Dead, seconds: float) -> WedgeEnding:
    node = dead.node
    require_nothing_signed_twice(dead.world)
    require_nothing_signed_while_wedged(node)
    return WedgeEnding(seconds, tuple(step for _, step in node.steps), tuple(node.said), dead.world.trace.hexdigest())


def highest(world: World) -> int:
    return max(world.nodes[name].chain.head_number for name in OTHERS)


def require_nothing_signed_twice(world: World) -> None:
    """No validator has signed two blocks for one slot, on whatever branch; and none while the node was wedged."""
    for node in world.nodes.values():
        slots = [(block.validator, block.timestamp) for block in node.made]
        if len(slots) != len(set(slots)):
            raise Broken(f"{node.name} has signed a slot twice")


def require_nothing_signed_while_wedged(node: Recovering) -> None:
    """From the moment at which an incident is noticed until the node is in step again.

    A slot's block is made from a quarter of a second before its beginning to three quarters after it.
    """
    for began, ended in node.held:
        made = [block.number for block in node.made if began + 1 <= block.timestamp <= ended - 1]
        if made:
            raise Broken(f"{node.name} has made blocks {made} while it was wedged")


# -- the scenarios


def bug_that_passes(grounds: Grounds, seed: int, folder: Path) -> Dead:
    """A sound block is refused, and what refused it is gone when the steps begin."""
    dead = begin(grounds, seed, folder)
    number, node = grounds.head + 8, dead.node
    node.refuses = lambda block: block.number == number and not node.steps
    return dead


def bug_that_stays(grounds: Grounds, seed: int, folder: Path) -> Dead:
    """A sound block is refused for good: only a state of others passes it."""
    dead = begin(grounds, seed, folder)
    number = grounds.head + 8
    dead.node.refuses = lambda block: block.number == number
    dead.node.sources = served_by(dead.world, *OTHERS)
    return dead


def poisoned_snapshot(grounds: Grounds, seed: int, folder: Path) -> Dead:
    """The same, and of three trusted peers one serves a forged state, as that of a later block where it can."""
    kind = Random(seed).choice(tuple(Poison))  # noqa: S311 - the seed is the point
    return poisoned_snapshots(grounds, seed, folder, (kind,))


def poisoned_snapshots(grounds: Grounds, seed: int, folder: Path, kinds: Sequence[Poison]) -> Dead:
    """The same with a forger of each of these kinds, which is asked before the next one; it has the kind's name."""
    dead = bug_that_stays(grounds, seed, folder)
    honest = dead.node.sources
    forged: dict[Poison, bytes] = {}

    def serve() -> list[Served]:
        fresh = honest()
        top = max(each.number for each in fresh) + len(kinds)
        served = []
        for place, kind in enumerate(kinds):
            if kind is Poison.MOVED:
                served.append(Served(kind.name, fresh[0].number, poisoned(fresh[0].file, kind)))
            else:
                file = forged[kind] = forged.get(kind) or poisoned(fresh[0].file, kind)
                served.append(Served(kind.name, top - place, file))
        return [*served, *fresh]

    dead.node.sources = serve
    return dead


def heavy_branch(grounds: Grounds, seed: int, folder: Path) -> Dead:
    """Two validators with most of the votes stand on a branch that all others have left; so do most peers.

    By its votes it is the better one for ever, however long the other grows (spec 03, section 9.5).
    """
    random = Random(seed)  # noqa: S311 - the seed is the point
    heavy, light = (
        list(OTHER_VALIDATORS[:2]),
        [name for name in sorted(grounds.keys) if name not in OTHER_VALIDATORS[:2]],
    )
    common = start_seven(folder / "common")
    for name in heavy:
        common.send(TransferToVesting(VIZ, name, tokens(4 * STAKE.amount)))
    common.produce(30)
    head = common.chain.head_number
    common.chain.close()
    branch(common, folder / "left", heavy, random.randint(8, 20))
    now = branch(common, folder / "living", light, FAR_BLOCKS + 10)
    world = World(seed, now, Weather(delay=random.choice((0.02, 0.2))))
    world.invariants = SameRecords(head)
    shares: dict[str, list[AccountName]] = {"ben": light[:3], "cid": light[3:], "eve": heavy[:1], WEDGED: heavy[1:]}
    shares["fay"] = []
    for node_name, names in shares.items():
        kind, begins = (Node, "living") if node_name in OTHERS else (Recovering, "left")
        shutil.copytree(folder / begins, folder / node_name)
        world.add(node_name, folder / node_name, shared(grounds, names), tuple(world.nodes), kind)
    node = world.nodes[WEDGED]
    assert isinstance(node, Recovering)
    return Dead(world, node)


def branch(common: Network, folder: Path, names: list[AccountName], count: int) -> float:
    """A copy of a chain that only some validators have gone on with; the time of the slot after it."""
    shutil.copytree(common.folder, folder)
    network = Network(folder, SEVEN)
    network.keys |= common.keys
    for _ in range(count):
        skipped = next(n for n in range(20) if network.chain.scheduled_at(1 + n) in names)
        network.produce(1, skipped=skipped)
    then = float(network.chain.head_time + SECONDS_A_BLOCK)
    network.chain.close()
    return then


def below_everybody(grounds: Grounds, seed: int, folder: Path) -> Dead:
    """The others have begun with a snapshot of a later block, and have none of those that the node lacks."""
    ahead = Network(grounds.copy(folder / "ahead"), SEVEN)
    ahead.keys |= grounds.keys
    ahead.produce(60 + FAR_BLOCKS)
    file, now = exported(ahead.chain), float(ahead.chain.head_time + SECONDS_A_BLOCK)
    ahead.chain.close()
    world = World(seed, now, Weather(delay=Random(seed).choice((0.02, 0.2, 0.5))))  # noqa: S311 - the seed is the point
    world.invariants = SameRecords(Snapshot.from_bytes(file).head_number)
    names = sorted(grounds.keys)
    for place, name in enumerate(OTHERS):
        state = folder / name / STATE_FOLDER
        state.mkdir(parents=True)
        build_state(state, Snapshot.from_bytes(file), SEVEN, SMALL)
        world.add(name, folder / name, shared(grounds, names[1 + 3 * place : 4 + 3 * place]), OTHERS[:place])
    node = world.add(WEDGED, grounds.copy(folder / WEDGED), shared(grounds, names[:1]), OTHERS, Recovering)
    assert isinstance(node, Recovering)
    node.begin_anew = lambda: world.after(0.0, lambda: exchange(world, node))
    node.sources = served_by(world, *OTHERS)
    return Dead(world, node)


SCENARIOS: dict[str, Callable[[Grounds, int, Path], Dead]] = {
    "a bug that passes": bug_that_passes,
    "a bug that stays": bug_that_stays,
    "a poisoned snapshot": poisoned_snapshot,
    "a heavy branch": heavy_branch,
    "below everybody": below_everybody,
}


def wedge(grounds: Grounds, seed: int, folder: Path, name: str = "") -> WedgeEnding:
    """Play a scenario: the one that is named, or that of the seed."""
    names = sorted(SCENARIOS)
    dead = SCENARIOS[name or names[seed % len(names)]](grounds, seed, folder)
    try:
        return play(dead)
    finally:
        dead.world.close()
