"""What the protocol costs: decoding, encoding, JSON, signing and recovery, each also in recoveries of the same run.

A recovery of a signature is work that every node must do and that every machine knows how to do, so figures in
recoveries compare across machines.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from time import perf_counter

from ledgerd.codec import codec_of
from ledgerd.codec.json.legacy import parse
from ledgerd.protocol.blocks.block import Block, BlockHeader, SignedHeader, merkle_root, sign_block
from ledgerd.protocol.blocks.transaction import unsigned_transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.crypto.signatures import recover, sign
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.accounts import AccountCreate
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.operations.accounts.proposals import OperationWrapper, ProposalCreate
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.money.awards import Award
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.operations.validators import VersionedChainPropertiesUpdate
from ledgerd.protocol.properties import default_properties
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.protocol.types.names import NO_NAME, AccountName

KEY = PrivateKey.from_wif("5JabcrvaLnBTCkCVFX5r4rmeGGfuJuVp4NAKRNLTey6pxhRQmf4")
ALICE, BOB = AccountName("alice"), AccountName("bob")
TIME = 1_538_216_670
TRANSFERS = 100

ENOUGH_SECONDS = 0.2


def operations() -> tuple[Operation, ...]:
    """What is often on the chain, and what is large."""
    transfer = Transfer(ALICE, BOB, tokens(1500), "thank you")
    authority = Authority(1, {BOB: 1}, {KEY.public: 1})
    return (
        transfer,
        Award(ALICE, BOB, 1000, 0, "for a good post", ()),
        Custom((), (ALICE,), "V", '{"t":"text","d":{"text":"Hello, world"}}'),
        AccountCreate(
            tokens(1000), shares(0), ALICE, BOB, authority, authority, authority, KEY.public, "", NO_NAME, ()
        ),
        VersionedChainPropertiesUpdate(ALICE, default_properties(MAINNET)),
        ProposalCreate(ALICE, "title", "memo", TIME, (OperationWrapper(transfer),), None, ()),
    )


def block_of_transfers() -> Block:
    """A full block, as wallets make them: each transfer its own transaction, with one signature."""
    transactions = tuple(
        unsigned_transaction(
            NO_BLOCK, TIME + i, [Transfer(AccountName(f"viz{i % 7}"), ALICE, tokens(1500 + i), f"memo number {i}")]
        ).signed(MAINNET.chain_id, [KEY])
        for i in range(TRANSFERS)
    )
    root = merkle_root([transaction.merkle_digest for transaction in transactions])
    return sign_block(BlockHeader(NO_BLOCK, TIME, "viz", root, ()), transactions, KEY)


class Figures:
    """Measures work and a recovery by turns, since a busy machine slows both, and prints what each took at best."""

    def __init__(self, block: Block) -> None:
        self.recovery = partial(recover, block.validator_signature, block.header.digest)
        print(f"{'':40}{'µs':>10}{'recoveries':>12}  target")

    def show(self, title: str, work: Callable[[], object], target: float | None = None) -> None:
        """One line; a target is in recoveries."""
        taken, recovery, spent = inf, inf, 0.0
        work()
        while spent < ENOUGH_SECONDS:
            now, beside = seconds(work), seconds(self.recovery)
            taken, recovery, spent = min(taken, now), min(recovery, beside), spent + now + beside
        multiple = taken / recovery
        wanted = "" if target is None else f"  <= {target:g}{'' if multiple <= target else '  MISSED'}"
        print(f"{title:40}{taken * 1e6:>10.1f}{multiple:>12.3f}{wanted}", flush=True)


def seconds(work: Callable[[], object]) -> float:
    """What the work takes, once."""
    start = perf_counter()
    work()
    return perf_counter() - start


def show_keys(figures: Figures, block: Block) -> None:
    """What the curve costs."""
    figures.show("recover a key", figures.recovery)
    figures.show("sign", partial(sign, KEY, block.header.digest))


def show_block(figures: Figures, block: Block) -> None:
    """The block of a hundred transfers."""
    codec, data, header = codec_of(Block), block.packed, block.header.packed
    text = codec.to_json(block).encode()

    def decode_with_ids() -> None:
        for transaction in codec.decode(data).transactions:
            _ = transaction.id, transaction.signature_digest(MAINNET.chain_id)

    def decode_with_root() -> None:
        decoded = codec.decode(data)
        _ = decoded.id, decoded.merkle_root

    print(f"a block of {TRANSFERS} transfers, {len(data)} bytes")
    figures.show("  decode, with ids and signing digests", decode_with_ids, 25)
    figures.show("  decode", partial(codec.decode, data))
    figures.show("  decode, with its id and merkle root", decode_with_root)
    figures.show("  encode", partial(codec.encode, block), 15)
    figures.show("  JSON out", partial(codec.to_json, block))
    figures.show("  JSON in", lambda: codec.from_json(parse(text)))
    figures.show("  decode the header alone", partial(codec_of(SignedHeader).decode, header), 0.5)


def show_operation(figures: Figures, operation: Operation) -> None:
    """One operation in the four directions."""
    codec = codec_of(Operation)
    data, text = codec.encode(operation), codec.to_json(operation).encode()
    print(f"{name_of(type(operation))}, {len(data)} bytes")
    figures.show("  decode", partial(codec.decode, data))
    figures.show("  encode", partial(codec.encode, operation))
    figures.show("  JSON out", partial(codec.to_json, operation))
    figures.show("  JSON in", lambda: codec.from_json(parse(text)))


def main() -> None:
    """Print every figure."""
    block = block_of_transfers()
    figures = Figures(block)
    show_keys(figures, block)
    show_block(figures, block)
    for operation in operations():
        show_operation(figures, operation)
