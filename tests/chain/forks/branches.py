"""Branches for a test to give to a chain, and blocks that no chain takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ledgerd.chain.forks.outcome import (
    Outcome,
)
from ledgerd.chain.ledger.skip import Skip
from ledgerd.protocol.blocks.block import Block, BlockHeader, merkle_root, sign_block
from ledgerd.protocol.blocks.transaction import unsigned_transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import BlockId, MerkleRoot
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import ALICE, VIZ, VIZ_KEY, Network
from tests.chain.senders import Sender, directly

Fresh = Callable[[], Network]
"""Another node that stands at the same block as those before."""


class Branches:
    """Makes blocks on any block that it has made before, by standing its chain there."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.trunk = network.chain.parts.trunk
        self.root = network.chain.head_id
        self.paths: dict[bytes, list[Block]] = {self.root: []}

    def grow(self, parent: bytes, skipped: int = 0, memo: str = "", acting: Callable[[], None] = lambda: None) -> Block:
        chain = self.network.chain
        while self.trunk.head_id != self.root:
            self.trunk.pop()
        for block in self.paths[parent]:
            self.trunk.apply(block, Skip.NOTHING)
        if memo:
            self.network.send(Transfer(VIZ, ALICE, tokens(1), memo))
        acting()
        block = self.network.make(skipped)
        chain.parts.pending.drop_session()
        chain.parts.pending.transactions.clear()
        self.paths[block.id] = [*self.paths[parent], block]
        return block

    def line(self, parent: bytes, length: int, skipped: int = 0, memo: str = "") -> list[Block]:
        """A branch, whose first block skips so many slots."""
        blocks = [self.grow(parent, skipped, memo)]
        for _ in range(length - 1):
            blocks.append(self.grow(blocks[-1].id, 0, memo))
        return blocks


def push_all(network: Network, blocks: list[Block], send: Sender = directly) -> None:
    for block in blocks:
        send(network, block)


def outcome(network: Network, block: Block) -> Outcome:
    return network.chain.push_block(block)


def unknown(node: Network) -> Block:
    """A block below the head whose parent nobody has."""
    return Block(
        (node.chain.head_number - 3).to_bytes(4, "big") + bytes(16),  # type: ignore[arg-type]
        node.chain.head_time,
        "viz",
        MerkleRoot(bytes(20)),
        (),
        bytes(65),  # type: ignore[arg-type]
        (),
    )


def spoiled(network: Network, block: Block) -> Block:
    """The same block with a transaction root that is not its transactions', signed again by its producer."""
    header = BlockHeader(block.previous, block.timestamp, block.validator, MerkleRoot(bytes([7] * 20)), ())
    return sign_block(header, (), network.keys[block.validator])  # type: ignore[index]


def overdrawn(network: Network, block: Block, *more: Operation) -> Block:
    """The same block with a transaction that nobody with a right to it has signed, made by its producer."""
    gift = Transfer(ALICE, VIZ, tokens(1), "")
    draft = unsigned_transaction(block.previous, block.timestamp + 60, [gift, *more])
    transactions = (draft.signed(network.chain.network.chain_id, [VIZ_KEY]),)
    root = merkle_root([each.merkle_digest for each in transactions])
    header = BlockHeader(block.previous, block.timestamp, block.validator, root, block.extensions)
    return sign_block(header, transactions, network.keys[AccountName(block.validator)])


def forged(previous: BlockId, when: int, name: str, salt: int = 0, key: PrivateKey | None = None) -> Block:
    """A block in the name of a validator, signed by somebody else."""
    key = key or PrivateKey.from_password(AccountName("nobody"), "active", str(salt))
    return sign_block(BlockHeader(previous, when, name, MerkleRoot(bytes(20)), ()), (), key)


def forged_line(previous: BlockId, when: int, names: Sequence[str], salt: int = 0) -> list[Block]:
    """A branch of such blocks."""
    blocks: list[Block] = []
    for place, name in enumerate(names):
        blocks.append(forged(blocks[-1].id if blocks else previous, when + 3 * place, name, salt))
    return blocks
