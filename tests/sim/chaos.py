"""Worlds in which anything may happen for a while, and then nothing: in the end all must agree.

`scripts/simulate 1000` runs a thousand of them; a seed that fails is printed with how to run it again.
"""

from __future__ import annotations

import argparse
import logging
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.sim.grounds import NAMES, SECONDS_A_BLOCK, Grounds
from tests.sim.hostiles import HOSTILES
from tests.sim.invariants import Broken
from tests.sim.node import Node
from tests.sim.traffic import Traffic
from tests.sim.wires import Weather
from tests.sim.world import World

CALM_SECONDS, LONGEST_CALM = 30, 1800
"""When it is looked whether all agree, and when at last they must: of two branches the one with more votes behind it
wins, even while it is shorter, and must first grow longer than the other (spec 03, section 9)."""
PATIENCE = 120
"""Seconds after which operators look again whether blocks are made."""
BY_AGENTS = "signed by an agent"
CLOCK_ERROR, CLOCK_DRIFT = 1.0, 2e-4


class Ending(NamedTuple):
    """How a world came out."""

    slots: int
    """After the healing, until all agreed; below zero if they never did."""
    switches: int
    compared: int
    trace: str
    applied: Counter[str]
    """The operations that all agree on, by their types, since the world began; and how many an agent has signed."""
    strangers: int
    """Hostile peers."""

    @property
    def is_good(self) -> bool:
        return self.slots >= 0


def chaos(grounds: Grounds, seed: int, folder: Path) -> Ending:
    """A few minutes of splits, crashes, bad weather, wrong clocks and bad company, then calm."""
    random = Random(seed)  # noqa: S311 - the seed is the point
    world, traffic = _begin(grounds, seed, folder, random)
    try:
        mishaps = [random.choice((_crash, _restart, _set_clock)) for _ in range(random.randint(1, 5))]
        mishaps.insert(random.randrange(len(mishaps)), _split)
        for mishap in mishaps:
            mishap(world, random)
            world.run(random.uniform(5, 60))
        slots = _heal(world, grounds)
        world.check_states()
        found = world.invariants
        applied, strangers = _applied(world, traffic, grounds), len(world.stations) - len(world.nodes)
        return Ending(slots, found.switches, found.compared, world.trace.hexdigest(), applied, strangers)
    finally:
        world.close()


def _begin(grounds: Grounds, seed: int, folder: Path, random: Random) -> tuple[World, Traffic]:
    weather = Weather(
        delay=random.choice((0.02, 0.2, 0.8)),
        resets=random.choice((0.0, 0.005, 0.02)),
        losses=random.choice((0.0, 0.01, 0.05)),
        silences=random.choice((0.0, 0.0, 0.001)),
    )
    count = random.randint(2, 5)
    world = grounds.world(seed, folder, count, weather)
    names = NAMES[:count]
    for place, kind in enumerate(random.sample(HOSTILES, random.choice((0, 0, 1, 2)))):
        world.join(kind(f"stranger {place}", names, grounds.lore, Random(random.random())))  # noqa: S311 - as above
    traffic = Traffic(world, Random(random.random()))  # noqa: S311 - as above
    world.after(0.0, traffic.go_on)
    return world, traffic


def _applied(world: World, traffic: Traffic, grounds: Grounds) -> Counter[str]:
    """What came to be in the blocks of the first node, which some node must have had as its head."""
    seen = {block: operations for node in world.nodes.values() for block, operations in node.applied.items()}
    chain, counts = world.nodes[NAMES[0]].chain, Counter[str]()
    for number in range(grounds.head + 1, chain.head_number + 1):
        for each in seen[chain.id_at(number)]:
            counts[type(each.operation).__name__] += 1
            counts[BY_AGENTS] += each.transaction_id in traffic.by_agents
    return counts


def _await_agreement(world: World, grounds: Grounds) -> int:
    """The slots until all who can hear each other agree; below zero when they never do."""
    began, interventions = world.now, 0
    while world.now - began < LONGEST_CALM:
        world.calm(CALM_SECONDS)
        if all(len(world.heads(island)) == 1 for island in world.islands):
            return int(world.now - began) // SECONDS_A_BLOCK
        if int(world.now - began) // PATIENCE > interventions:
            interventions += 1
            see_to_producers(world, grounds)
    return -1


def see_to_producers(world: World, grounds: Grounds) -> None:
    """An operator's part: where by the rules a producer has stopped for good, somebody must tell it to go on.

    Where fewer than a third of the slots have blocks, that is the leave to be stale (spec 06, section 10.5, step 4),
    but not where somebody is ahead on another branch: stale, the node would lengthen its own, which can be too heavy to
    be left and too short to be looked at (see `_heal`), if those who made its first blocks were cut off since. Such a
    node begins again.

    Halves of a network that have each made a whole round of blocks alone all stop too (step 6), and go on only when
    blocks of others come; but no branch grows any more, so none wins against another (spec 03, section 8: only a higher
    block moves the head; section 9.5: a branch below our head is not looked at). The leave to be stale does not help,
    which is taken away while participation is healthy; so one begins again, to follow another. It does so with a state
    that its operator trusts: by signatures alone nobody can tell a branch that died long ago from the living one.
    """
    for island in world.islands:
        producers = [node for node in world.nodes.values() if node.keys and node.name in island]
        few = [node for node in producers if node.misses_others]
        for node in few:
            if any(_is_ahead_elsewhere(world.nodes[name], node) for name in island):
                _begin_anew(world, grounds, node)
                continue
            world.crash(node.name)
            node.allows_stale = True
            world.restart(node.name)
        if not few and len(producers) > 1 and all(node.waits_for_others for node in producers):
            _begin_anew(world, grounds, min(producers, key=lambda node: node.chain.head_time))


def _is_ahead_elsewhere(other: Node, node: Node) -> bool:
    """Whether another node is up and higher, on a branch without this one's head."""
    number = node.chain.head_number
    return other.is_up and other.chain.head_number > number and other.chain.id_at(number) != node.chain.head_id


def _begin_anew(world: World, grounds: Grounds, node: Node) -> None:
    world.crash(node.name)
    node.take_state_of(grounds.folder)
    world.restart(node.name)


def _heal(world: World, grounds: Grounds) -> int:
    """Everybody is up, every clock right, the weather good; then the halves meet, each of which agrees by then.

    A branch has the votes of all who ever made a block of it behind it, also of those who have left it since (spec 03,
    section 9.5). So one that its validators have left in part, to build on another, can be the heavier one and yet
    grow more slowly than that: then it is too heavy to be left by those who are on it, and too short to be looked at by
    the others, for ever. That is a limit of the chain's rules, and the one thing that is kept from happening here: when
    halves meet, whoever made blocks in one is still there.
    """
    world.weather.clear_up()
    for name, node in world.nodes.items():
        node.clock.set_wrong(0.0, 0.0)
        if not node.is_up:
            world.restart(name)
    if _await_agreement(world, grounds) < 0:
        return -1
    world.heal()
    return _await_agreement(world, grounds)


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


def _set_clock(world: World, random: Random) -> None:
    node = world.nodes[random.choice(list(world.nodes))]
    node.clock.set_wrong(random.uniform(-CLOCK_ERROR, CLOCK_ERROR), random.uniform(-CLOCK_DRIFT, CLOCK_DRIFT))


def main() -> None:
    arguments = argparse.ArgumentParser(prog="scripts/simulate", description="Runs simulated networks, a seed each.")
    arguments.add_argument("count", type=int, nargs="?", default=100, help="how many (default: 100)")
    arguments.add_argument("first", type=int, nargs="?", default=1, metavar="first_seed", help="(default: 1)")
    chosen = arguments.parse_args()
    count, first = chosen.count, chosen.first
    logging.disable()
    failed, longest, switches, applied, started = [], 0, 0, Counter[str](), time.monotonic()
    with tempfile.TemporaryDirectory() as base:
        grounds = Grounds(Path(base) / "grounds")
        for seed in range(first, first + count):
            folder = Path(base) / "world"
            try:
                ending = chaos(grounds, seed, folder)
                is_good, longest = ending.is_good, max(longest, ending.slots)
                switches += ending.switches
                applied += ending.applied
            except Broken as broken:
                is_good = False
                sys.stdout.write(f"seed {seed}: {broken}\n")
            if not is_good:
                failed.append(seed)
                sys.stdout.write(f"seed {seed} fails: run it again with scripts/simulate 1 {seed}\n")
            shutil.rmtree(folder)
    took = time.monotonic() - started
    sys.stdout.write(
        f"{count} seeds in {took:.0f} s, {len(failed)} failed; {switches} changes of branch; at most {longest} slots "
        "until all agreed\n"
    )
    sys.stdout.write("".join(f"{count:8} {what}\n" for what, count in sorted(applied.items())))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
