"""Blocks without transactions, for the steps that look at the block itself: who made it, when, what it tells."""

from __future__ import annotations

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip, SkipFlags
from ledgerd.protocol.blocks.block import Block, BlockHeader, HeaderExtensions, sign_block
from ledgerd.protocol.crypto.hashing import sha256
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.types.identifiers import BlockId, MerkleRoot
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.chain.ledgers import HEAD, NOW, change


def block_id(number: int) -> BlockId:
    """The id of some block of this number."""
    return BlockId(number.to_bytes(4, "big") + bytes(16))


def schedule(ledger: Ledger, *names: str) -> None:
    """Make these the round; the slot after the head is that of the second one."""
    places = ledger.network.max_validators
    change(ledger, ledger.globals, head_block_id=block_id(ledger.head_number))
    change(
        ledger,
        ledger.schedule,
        current_shuffled_validators=(*map(AccountName, names), *(NO_NAME,) * (places - len(names))),
        num_scheduled_validators=len(names),
    )


def block_after(
    producer: str,
    time: int = NOW + 3,
    *,
    head: int = HEAD,
    extensions: HeaderExtensions = (),
    signer: str | None = None,
) -> Block:
    """A block on the head that `block_id` names, signed by its producer unless told otherwise."""
    header = BlockHeader(block_id(head), time, producer, MerkleRoot(bytes(20)), extensions)
    return sign_block(header, (), PrivateKey(sha256((producer if signer is None else signer).encode())))


def on_its_way(ledger: Ledger, block: Block, skip: SkipFlags = Skip.NOTHING) -> BlockContext:
    """A block whose header was checked."""
    context = BlockContext(block, skip)
    context.producer = ledger.validator(AccountName(block.validator))
    return context
