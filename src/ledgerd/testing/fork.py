"""A fork on demand: two nodes that go on from one chain, each with blocks of its own until they are joined.

A chain of one validator can have no fork, as each of its blocks is irreversible at once. So both nodes let twenty more
validators take part, with keys that both have: the block that is irreversible is then as far behind as on a network.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from ledgerd.basics.closing import Closing
from ledgerd.node.dev.founding import market_times
from ledgerd.node.testnet.founding import copy_chain
from ledgerd.producer.testnet_start import ABOUT
from ledgerd.protocol.constants import BLOCK_INTERVAL, BLOCKS_PER_YEAR, INITIATOR_ACCOUNT
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.operations.base import Operation
from ledgerd.protocol.operations.validators import (
    AccountValidatorVote,
    ValidatorUpdate,
    VersionedChainPropertiesUpdate,
)
from ledgerd.protocol.types.names import AccountName
from ledgerd.testing.accounts import KeyedAccount, creation
from ledgerd.testing.errors import NoJoin, RequestRefused
from ledgerd.testing.node import ChainNode
from ledgerd.testing.running.process import NodeProcess, new_folder
from ledgerd.testing.running.settings import NodeSettings

PLACES = 21
VALIDATORS = tuple(f"validator-{number}" for number in range(1, PLACES))
"""Every validator of the network but the one that the chain already has."""
ROUNDS = 4
"""Rounds until the last irreversible block is as far behind the head as it will stay."""
NETWORK_FILE = "network.toml"
NETWORK = f"""\
# A testnet with room for more validators than one. Its chain is the same.
base = "testnet"
name = "VIZTEST"
max_top_validators = {PLACES}
"""
STAKE, DECLARATION = "1000.000 VIZ", "10.000 VIZ"
AHEAD = 50 * BLOCKS_PER_YEAR * BLOCK_INTERVAL * 1_000_000
"""Microseconds: a node takes no block from the future, and either side may travel as far as it likes."""


class Fork(Closing):
    """Two nodes with the same blocks, which hear of each other's only when they are joined.

    Time passes as on a network: who has a slot that is travelled over has missed it, and after twenty minutes without a
    block an emergency begins, in which these nodes make none.
    """

    def __init__(self, left: ChainNode, right: ChainNode) -> None:
        self.left, self.right = left, right

    @property
    def is_split(self) -> bool:
        """Whether the two have different heads."""
        return self.left.head.id != self.right.head.id

    def produce(self, blocks: int = 1) -> None:
        """Make blocks that both have; for a fork that is not split."""
        self.left.produce(blocks)
        self.join()

    def join(self) -> None:
        """Let each side hear of the other's blocks: the one whose branch is shorter undoes its own, and follows.

        Its transactions wait there for the next block. `NoJoin`: neither is longer, or the blocks of the shorter one
        cannot be undone any more, as more than fifteen cannot.
        """
        sides = sorted((self.left, self.right), key=lambda side: side.head.number)
        shorter, longer = sides
        common = self._common()
        with suppress(RequestRefused):  # what came of it is seen by the heads
            for number in range(common + 1, longer.head.number + 1):
                block = longer.call("database_api", "get_block", number)
                shorter.call("network_broadcast_api", "broadcast_block", block)
        if self.is_split:
            raise NoJoin(
                f"{shorter!r} stays at block {shorter.head.number}, {longer!r} at block {longer.head.number}, and they "
                f"last had block {common} in common: the longer branch wins, by a block or more, while none of "
                f"the other's blocks is irreversible (the last that is there: {shorter.irreversible})"
            )

    def _common(self) -> int:
        """The number of the last block that both have."""
        number = min(self.left.head.number, self.right.head.number)
        while self.left.block_id(number) != self.right.block_id(number):
            number -= 1
        return number

    def close(self) -> None:
        self.left.close()
        self.right.close()

    @classmethod
    def of(cls, chain: ChainNode) -> Self:
        """Two nodes that go on from where a chain is."""
        with ExitStack() as failing:
            processes = [NodeProcess.start(_copied(chain.folder)) for _ in range(2)]
            for process in processes:
                failing.callback(process.close)
            left, right = (ChainNode(process, chain.accounts.copy()) for process in processes)
            _let_validators_in(left)
            fork = cls(left, right)
            fork.join()
            failing.pop_all()
        return fork


def _copied(source: Path) -> NodeSettings:
    """The settings of a node on a copy of another one's chain, which is made between two of its commits."""
    folder = new_folder()
    copy_chain(source, folder)
    (folder / NETWORK_FILE).write_text(NETWORK, encoding="utf-8")
    return NodeSettings(str(folder), network=str(folder / NETWORK_FILE), validators=VALIDATORS, ahead=AHEAD)


def _let_validators_in(node: ChainNode) -> None:
    """Declare as many validators as have a place, all with one key, and make blocks until each has made some."""
    key = node.accounts[INITIATOR_ACCOUNT].active
    names = [AccountName(name) for name in VALIDATORS]
    node.send(*(made for name in names for made in creation(KeyedAccount.of(name, *[key] * 4), DECLARATION, STAKE)))
    operations: list[Operation] = []
    public = PrivateKey.from_wif(key).public
    for name in names:
        vote = AccountValidatorVote(name, name, approve=True)
        properties = VersionedChainPropertiesUpdate(name, market_times(TESTNET))
        operations += (ValidatorUpdate(name, ABOUT, public), properties, vote)
    node.send(*operations, by=key)
    node.produce(ROUNDS * PLACES)
