"""The chains that nodes catch up on in `bench network`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random
from typing import NamedTuple

from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import Network, elect, key_of
from tests.chain.recorded_chains import network_of
from tests.recorded import FOLDER, recorded_blocks


class ChainToSync(NamedTuple):
    """A chain, and what `--chain` is for it."""

    title: str
    option: str
    packed: tuple[bytes, ...]
    """Its blocks, the first one first."""


def recorded_chain(name: str) -> ChainToSync:
    """One of the test network that was recorded."""
    return ChainToSync(name, "testnet", recorded_blocks(name))


BLOCKS, TRANSFERS, USERS, VALIDATORS, AT_ONCE = 4_059, 2, 200, 20, 20


def chain_of_transfers() -> ChainToSync:
    """Mainnet's constants, all hardforks in the first 336 blocks by the votes of 21 validators, and two transfers in
    each block.
    """
    random = Random(7)  # noqa: S311 - traffic
    users = [AccountName(f"user-{number}") for number in range(USERS)]
    with tempfile.TemporaryDirectory() as folder:
        network = Network(Path(folder), network_of("open-main15"))
        elect(network, [AccountName(f"validator-{number}") for number in range(VALIDATORS)])
        network.produce()
        for begun in range(0, USERS, AT_ONCE):
            for name in users[begun : begun + AT_ONCE]:
                network.create_account(name, key_of(name))
            network.produce()
        while network.chain.head_number < BLOCKS:
            for _ in range(TRANSFERS):
                sender, recipient = random.sample(users, 2)
                amount, memo = tokens(random.randrange(1, 20)), "m" * random.randrange(20)
                network.send(Transfer(sender, recipient, amount, memo), key=key_of(sender))
            network.produce()
        blocks = tuple(block.packed for block in network.blocks())
        network.chain.close()
    return ChainToSync(f"{TRANSFERS} transfers a block", str(FOLDER.parent / "open-main.toml"), blocks)
