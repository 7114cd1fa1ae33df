"""Blocks as lists and pages show them: what each has, without all of its operations."""

from __future__ import annotations

import msgspec

from ledgerd.chain.log.histories import HistoryView, RecordedOperation
from ledgerd.codec import codec_of
from ledgerd.codec.numbers import UInt32
from ledgerd.protocol.block import SignedHeader
from ledgerd.protocol.identifiers import BlockId
from ledgerd.protocol.operations import OPERATIONS
from ledgerd.protocol.operations.base import name_of, tag_of

NAMES = {tag_of(each): name_of(each) for each in OPERATIONS}


class BlockOperations(msgspec.Struct, frozen=True):
    """Some of the recorded operations of a block."""

    block: UInt32
    count: UInt32
    """All that it has."""
    operations: tuple[RecordedOperation, ...]


class KindCount(msgspec.Struct, frozen=True):
    """How many operations of a kind there are."""

    type: str
    count: UInt32


class CountedBlock(msgspec.Struct, frozen=True):
    """A block without its transactions."""

    block: UInt32
    block_id: BlockId
    header: SignedHeader
    transactions: UInt32
    """Those with a recorded operation."""
    operations: tuple[KindCount, ...]
    """The recorded operations of its transactions: the kinds with the most first."""
    virtual_operations: UInt32


def block_operations(view: HistoryView, block: int, start: int, limit: int) -> str:
    """The text of a `BlockOperations`."""
    contents = view.contents_of(block)
    count = contents.operations.total() + contents.virtual
    found = view.operations_from(block, start, limit)
    return f'{{"block":{block},"count":{count},"operations":[{",".join(found)}]}}'


def summary_of(view: HistoryView, number: int, packed: bytes) -> CountedBlock:
    """What a block has, by its bytes and the history."""
    header, end = codec_of(SignedHeader).decode_from(packed, 0)
    header.remember_packed(packed[:end])
    contents = view.contents_of(number)
    kinds = sorted((-count, NAMES[tag]) for tag, count in contents.operations.items())
    counted = tuple(KindCount(name, -less) for less, name in kinds)
    return CountedBlock(number, header.id, header, contents.transactions, counted, contents.virtual)
