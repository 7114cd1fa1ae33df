"""Blocks and transactions in short, and parts of their operations, for readers who show one page of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated

import msgspec

from ledgerd.chain.log.histories import HistoryView, KindCount, RecordedOperation, TransactionPlace
from ledgerd.codec import codec_of
from ledgerd.codec.types.numbers import UInt32
from ledgerd.protocol.blocks.block import Block, HeaderExtensions
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import name_of, tag_of
from ledgerd.protocol.types.identifiers import BlockId, MerkleRoot, TransactionId
from ledgerd.protocol.types.times import Time
from ledgerd.rpc.api.history.filter import OperationName
from ledgerd.rpc.api.shared.kinds import Printed
from ledgerd.rpc.blocks.block_parts import BlockOpening, opening_of, part_at, part_in

OperationTexts = Annotated[str, Printed(tuple[RecordedOperation, ...])]


class OperationCount(msgspec.Struct, frozen=True):
    """How many operations of a kind."""

    name: Annotated[str, OperationName()]
    count: UInt32


class SummedUpBlock(msgspec.Struct, frozen=True):
    """A block without its transactions: its header, and how much is in it."""

    block: UInt32
    block_id: BlockId
    previous: BlockId
    timestamp: Time
    validator: str
    transaction_merkle_root: MerkleRoot
    extensions: HeaderExtensions
    validator_signature: Signature
    transactions: UInt32
    operations: UInt32
    virtual_operations: UInt32
    kinds: tuple[OperationCount, ...]
    """The kinds of its transactions' operations, the most frequent first."""


class BlockOperations(msgspec.Struct, frozen=True):
    """Some of the operations of a block, virtual ones too, and how many there are."""

    count: UInt32
    operations: OperationTexts


class SummedUpTransaction(msgspec.Struct, frozen=True):
    """A transaction in its block, with some of its operations, and the virtual ones that followed from it."""

    transaction_id: TransactionId
    block: UInt32
    trx_in_block: UInt32
    timestamp: Time
    validator: str
    ref_block_num: UInt32
    ref_block_prefix: UInt32
    expiration: Time
    signatures: tuple[Signature, ...]
    count: UInt32
    operations: tuple[Operation, ...]
    virtual_operations: OperationTexts


MOST_BYTES = 1 << 20
"""The most bytes of blocks that are decoded for one answer if the history does not have them; the answer has at least
one block.
"""
MOST_READ = 8 << 20
"""Bytes of all blocks of an answer."""


def block_summaries(view: HistoryView, blocks: Iterable[tuple[int, bytes | None]]) -> tuple[SummedUpBlock, ...]:
    """The summaries of blocks, up to one that is not there, or until enough of them were read or decoded."""
    found: list[SummedUpBlock] = []
    decoded = read = 0
    for number, packed in blocks:
        if packed is None:
            break
        read += len(packed)
        opening, kinds = opening_of(packed), view.kinds_of(number)
        if opening.transactions and all(each.is_virtual for each in kinds):
            block = codec_of(Block).decode_exactly(packed)
            own = Counter(tag_of(type(each)) for one in block.transactions for each in one.operations)
            kinds += [KindCount(tag, is_virtual=False, operations=count) for tag, count in own.items()]
            decoded += len(packed)
        found.append(_summary(number, opening, kinds))
        if decoded > MOST_BYTES or read > MOST_READ:
            break
    return tuple(found)


def _summary(number: int, opening: BlockOpening, kinds: Sequence[KindCount]) -> SummedUpBlock:
    header, transactions, _ = opening
    own = [each for each in kinds if not each.is_virtual]
    if len(own) > 1:
        own.sort(key=lambda each: (-each.operations, each.tag))
    return SummedUpBlock(
        number,
        header.id,
        header.previous,
        header.timestamp,
        header.validator,
        header.transaction_merkle_root,
        header.extensions,
        header.validator_signature,
        transactions,
        _sum(own),
        _sum(kinds) - _sum(own),
        tuple(OperationCount(name_of(OPERATIONS[each.tag]), each.operations) for each in own),
    )


def _sum(kinds: Iterable[KindCount]) -> int:
    return sum([each.operations for each in kinds])


def block_operations(view: HistoryView, number: int, first: int, limit: int) -> BlockOperations:
    return BlockOperations(_sum(view.kinds_of(number)), _texts(view.part_of(number, first, limit)))


def _texts(operations: Iterable[str]) -> str:
    return f"[{','.join(operations)}]"


def transaction_summary(
    view: HistoryView, identifier: TransactionId, place: TransactionPlace, packed: bytes, part: slice
) -> SummedUpTransaction:
    block, number = place
    opening = opening_of(packed)
    found = part_at(packed, identifier, view.offsets_of(place), part)
    if found is None:
        found = part_in(packed, identifier, opening, number, part)
    if found is None:
        raise RuleViolation(
            "transaction ${id} is not at place ${place} of block ${block}",
            id=identifier.hex(),
            place=number,
            block=block,
        )
    return SummedUpTransaction(
        identifier,
        block,
        number,
        opening.header.timestamp,
        opening.header.validator,
        found.reference.ref_block_num,
        found.reference.ref_block_prefix,
        found.reference.expiration,
        found.signatures,
        found.total,
        found.operations,
        _texts(view.followed_from(place, part.stop - part.start)),
    )
