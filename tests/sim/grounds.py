"""What worlds begin with: the first blocks of a network of seven validators, and a branch of it that died."""

from __future__ import annotations

import shutil
from pathlib import Path

from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import SEVEN, Network, start_seven
from tests.sim.market_grounds import prepare_markets
from tests.sim.strangers import Lore
from tests.sim.wires import Weather
from tests.sim.world import World

SECONDS_A_BLOCK = 3
NAMES = ("ann", "ben", "cid", "dora", "eve")
FAR_BLOCKS = 210
PARTED_AT, DEAD_BLOCKS = 95, 15
"""Where the dead branch parted: below what is irreversible for everybody from the beginning."""


class Grounds:
    """A folder with a chain, to be copied for every node."""

    def __init__(self, folder: Path) -> None:
        network = start_seven(folder)
        prepare_markets(network)
        chain = network.chain
        self.folder = folder
        self.keys = {name: key for name, key in network.keys.items() if name != "committee"}
        self.head = chain.head_number
        self.now = float(chain.head_time + SECONDS_A_BLOCK)
        trunk = [block for number in range(1, self.head + 1) if (block := chain.block_at(number)) is not None]
        chain.close()
        self.far_folder = folder.with_name("far")
        """The same chain, further on."""
        self._go_far()
        self.lore = Lore(tuple(trunk), tuple(_dead_branch(folder.with_name("dead"))))

    def _go_far(self) -> None:
        shutil.copytree(self.folder, self.far_folder)
        far = Network(self.far_folder, SEVEN)
        far.keys |= self.keys
        far.produce(FAR_BLOCKS)
        self.far = far.chain.head_number
        self.far_now = float(far.chain.head_time + SECONDS_A_BLOCK)
        far.chain.close()

    def share(self, number: int, of: int) -> dict[AccountName, PrivateKey]:
        """The keys of one of so many nodes."""
        return {name: key for place, (name, key) in enumerate(sorted(self.keys.items())) if place % of == number}

    def world(self, seed: int, folder: Path, count: int, weather: Weather | None = None) -> World:
        """Nodes that all know the first blocks, and share the validators' keys; each dials those before it."""
        world = World(seed, self.now, weather)
        for number, name in enumerate(NAMES[:count]):
            world.add(name, self.copy(folder / name), self.share(number, count), NAMES[:number])
        return world

    def copy(self, folder: Path) -> Path:
        """The data of one more node."""
        shutil.copytree(self.folder, folder)
        return folder


def _dead_branch(folder: Path) -> list[Block]:
    """Signed by those who had the right to, but from an early block on another way than the trunk has gone."""
    network = start_seven(folder, blocks=PARTED_AT)
    blocks = network.produce(1, skipped=1) + network.produce(DEAD_BLOCKS)
    network.chain.close()
    return blocks
