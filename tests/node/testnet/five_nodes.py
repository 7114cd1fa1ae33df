"""Five nodes and 21 validators through 300 blocks of kills and partitions: `scripts/five_nodes`."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from ledgerd.node.testnet.network import LocalNetworkSettings
from tests.node.testnet.scenario import Ordeal, ordeal

QUIET_BLOCKS = 30
"""At the end, for everybody to come together."""


def main() -> None:
    """Run it, with a seed that decides who is killed when."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("blocks", nargs="?", type=int, default=300)
    arguments.add_argument("--block-time", type=float, default=1.0)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--folder", type=Path)
    chosen = arguments.parse_args()
    began = time.monotonic()

    def tell(text: str) -> None:
        sys.stdout.write(f"{time.monotonic() - began:7.1f} s  {text}\n")
        sys.stdout.flush()

    with tempfile.TemporaryDirectory() as folder:
        settings = LocalNetworkSettings(block_time=chosen.block_time)
        with ordeal(chosen.folder or Path(folder), settings, tell) as hands:
            torment(hands, random.Random(chosen.seed), chosen.blocks, chosen.block_time)  # noqa: S311 - to be repeated
    tell("passed")


def torment(hands: Ordeal, chance: random.Random, blocks: int, block_time: float) -> None:
    """Kills throughout; between them a silent partition, one with resets, and a kill of all nodes at once."""
    watch = hands.network.watch
    first = watch.head
    patience = 60 * block_time + 60
    plagues = iter((silent_partition, broken_partition, blackout))
    while watch.head < first + blocks - QUIET_BLOCKS:
        for _ in range(3):
            victim = chance.choice(hands.numbers)
            hands.kill(victim)
            hands.blocks(chance.randrange(1, 12), patience)
            hands.start(victim)
            hands.blocks(chance.randrange(6, 20), patience)
        plague = next(plagues, None)
        if plague is not None:
            plague(hands, chance, patience)
    hands.blocks(max(1, first + blocks - watch.head), patience * 5)
    hands.all_agree(patience)
    assert len(watch.irreversible) > 1
    assert min(watch.highest) > first + blocks - 2 * QUIET_BLOCKS, "what is irreversible goes on everywhere"


def silent_partition(hands: Ordeal, chance: random.Random, patience: float) -> None:
    """Two groups that no longer hear of one another, and do not know why."""
    numbers = list(hands.numbers)
    chance.shuffle(numbers)
    hands.part(tuple(numbers[:2]), tuple(numbers[2:]))
    hands.blocks(24, patience)
    hands.say("before the healing")
    hands.mend()
    hands.all_agree(patience)


def broken_partition(hands: Ordeal, chance: random.Random, patience: float) -> None:
    """One node whose connections all break, and stay broken for a while."""
    lonely = chance.choice(hands.numbers)
    hands.part((lonely,), tuple(number for number in hands.numbers if number != lonely), silently=False)
    hands.blocks(24, patience)
    hands.say("before the healing")
    hands.mend()
    hands.all_agree(patience * 2)


def blackout(hands: Ordeal, chance: random.Random, patience: float) -> None:
    """Everybody at once, for a few slots."""
    for number in hands.numbers:
        hands.kill(number)
    pause = time.monotonic() + chance.randrange(2, 12)
    while time.monotonic() < pause:
        time.sleep(0.1)
    for number in hands.numbers:
        hands.start(number)
    hands.all_agree(patience)


if __name__ == "__main__":
    main()
