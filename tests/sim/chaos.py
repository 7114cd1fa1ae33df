"""Worlds in which anything may happen for a while, and then nothing: in the end all must agree.

`scripts/simulate 1000` runs a thousand of them; a seed that fails is printed with how to run it again.
"""

from __future__ import annotations

import logging
import shutil
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from ledgerd.protocol.identifiers import BlockId
from ledgerd.protocol.keys import PrivateKey
from ledgerd.protocol.names import AccountName
from tests.chain.networks import start_seven
from tests.sim.world import World

SECONDS_A_BLOCK = 3
NAMES = ("ann", "ben", "cid", "dora", "eve")
CALM_SECONDS, LONGEST_CALM = 120, 1800
"""When all should agree, and when at last they must: of two branches the one with more votes behind it wins, even
while it is shorter, and must first grow longer than the other (spec 03, section 9)."""


class Grounds:
    """A network's first blocks, to begin worlds with."""

    def __init__(self, folder: Path) -> None:
        network = start_seven(folder)
        self.folder = folder
        self.keys = {name: key for name, key in network.keys.items() if name != "committee"}
        self.head = network.chain.head_number
        self.now = float(network.chain.ledger.now + SECONDS_A_BLOCK)
        network.chain.close()

    def share(self, number: int, of: int) -> dict[AccountName, PrivateKey]:
        """The keys of one of so many nodes."""
        return {name: key for place, (name, key) in enumerate(sorted(self.keys.items())) if place % of == number}

    def world(self, seed: int, folder: Path, count: int, **bad: float) -> World:
        """Nodes that all know the first blocks, and share the validators' keys; each dials those before it."""
        world = World(seed, self.now, **bad)
        for number, name in enumerate(NAMES[:count]):
            shutil.copytree(self.folder, folder / name)
            world.add(name, folder / name, self.share(number, count), NAMES[:number])
        return world


def chaos(grounds: Grounds, seed: int, folder: Path) -> set[BlockId]:
    """A few minutes of splits, crashes, broken connections and slow lines, then calm; the heads in the end."""
    random = Random(seed)  # noqa: S311 - the seed is the point
    count = random.randint(2, 5)
    delay, resets = random.choice((0.02, 0.2, 0.8)), random.choice((0.0, 0.005, 0.02))
    world = grounds.world(seed, folder, count, delay=delay, resets=resets)
    try:
        mishaps = [random.choice((_crash, _restart)) for _ in range(random.randint(1, 5))]
        mishaps.insert(random.randrange(len(mishaps)), _split)
        for mishap in mishaps:
            mishap(world, random)
            world.run(random.uniform(5, 60))
        world.heal()
        world.resets = 0.0
        world.delay = min(world.delay, 0.2)
        for name, node in world.nodes.items():
            if not node.is_up:
                world.restart(name)
        for _ in range(LONGEST_CALM // CALM_SECONDS):
            world.calm(CALM_SECONDS)
            if len(world.heads()) == 1:
                break
        return world.heads()
    finally:
        world.close()


def _split(world: World, random: Random) -> None:
    """Once a world: nothing holds validators to the branch that they were on, so that after several splits, one on
    the heels of the other, even irreversible blocks may differ. That is a limit of the chain's rules.
    """
    names = list(world.nodes)
    random.shuffle(names)
    cut = random.randrange(1, len(names))
    world.split(set(names[:cut]), set(names[cut:]))


def _crash(world: World, random: Random) -> None:
    name = random.choice(list(world.nodes))
    if world.nodes[name].is_up:
        world.crash(name)


def _restart(world: World, _: Random) -> None:
    for name, node in world.nodes.items():
        if not node.is_up:
            world.restart(name)


def main() -> None:
    """Run as many seeds as the first argument says, from the second on."""
    logging.disable()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    failed, started = [], time.monotonic()
    with tempfile.TemporaryDirectory() as base:
        grounds = Grounds(Path(base) / "grounds")
        for seed in range(first, first + count):
            folder = Path(base) / "world"
            try:
                is_one = len(chaos(grounds, seed, folder)) == 1
            except AssertionError as broken:
                is_one = False
                sys.stdout.write(f"seed {seed}: {broken}\n")
            if not is_one:
                failed.append(seed)
                sys.stdout.write(f"seed {seed} fails: run it again with scripts/simulate 1 {seed}\n")
            shutil.rmtree(folder)
    sys.stdout.write(f"{count} seeds in {time.monotonic() - started:.0f} s, {len(failed)} failed\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
