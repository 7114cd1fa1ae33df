"""The form in which the operations of a block are stored: pieces of a few dozen, each operation in a slot of its own.

A slot says where in the bytes of its block an operation stands. A virtual operation is in no block: its bytes stand
in the piece, behind the slots.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ledgerd.chain.events import AFTER_TRANSACTIONS, AppliedOperation
from ledgerd.codec import codec_of
from ledgerd.codec.varint import pack_varint
from ledgerd.protocol.block import Block
from ledgerd.protocol.operations import Operation

OPERATIONS_A_PIECE = 62
"""So that a piece of real operations fills a quarter of a page, and no page is left half empty."""

PIECE_KEY = struct.Struct(">IH")
"""Block and place of the piece."""

_HEAD = struct.Struct("<HII")
"""How many operations; the time before the block and its own time."""

EMPTY_PIECE = bytes(_HEAD.size)

_SLOT = struct.Struct("<IIHHI")
_LATE = 1 << 31
"""With the start of the transaction: the operation has the block's own time."""
_VIRTUAL = 1 << 31
"""With its size: the operation stands behind the slots, after its virtual number."""
_NUMBER = struct.Struct("<I")
_BEFORE_OPERATIONS = 10
"""Bytes of a transaction before the count of its operations: reference and expiration."""


class Slot(NamedTuple):
    """An operation: its transaction's place in the bytes of the block, its numbers, and where it stands itself."""

    start: int
    size: int
    """Of the transaction without its signatures, which is what its id is made of; zero without a transaction."""
    transaction_in_block: int
    operation_in_transaction: int
    virtual_operation: int
    where: int
    """In the transaction; of a virtual operation, in the piece."""
    timestamp: int


class Piece:
    """A stored piece, read in part."""

    __slots__ = ("_times", "count", "raw")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.count, *self._times = _HEAD.unpack_from(raw)

    def slot(self, place: int) -> Slot:
        """The slot of an operation, by its place in the piece."""
        at = _HEAD.size + place * _SLOT.size
        start, size, transaction, operation, where = _SLOT.unpack_from(self.raw, at)
        virtual = 0
        if size >= _VIRTUAL:
            size -= _VIRTUAL
            where += _HEAD.size + self.count * _SLOT.size
            virtual = _NUMBER.unpack_from(self.raw, where)[0]
        return Slot(start & ~_LATE, size, transaction, operation, virtual, where, self._times[start >= _LATE])

    def slots(self) -> list[Slot]:
        """All slots."""
        return [self.slot(place) for place in range(self.count)]

    def virtual(self, slot: Slot) -> Operation:
        """The virtual operation of a slot."""
        return codec_of(Operation).decode_from(self.raw, slot.where + _NUMBER.size)[0]


def pieces_of(block: Block, operations: Sequence[AppliedOperation]) -> Iterator[bytes]:
    """The pieces of a block, in their order."""
    if not operations:
        return
    times = sorted({each.timestamp for each in operations} | {block.timestamp})
    if len(times) > 2 or times[-1] != block.timestamp:
        raise ValueError(f"operations of block {block.number} are dated {times}, the block {block.timestamp}")
    places = _Places(block)
    for first in range(0, len(operations), OPERATIONS_A_PIECE):
        part = operations[first : first + OPERATIONS_A_PIECE]
        slots, tail = [], b""
        for applied in part:
            start, size = places.transaction(applied.transaction_in_block)
            if applied.virtual_operation:
                where, size = len(tail), size | _VIRTUAL
                tail += _NUMBER.pack(applied.virtual_operation) + codec_of(Operation).encode(applied.operation)
            else:
                where = places.operation(applied.transaction_in_block, applied.operation_in_transaction)
            if applied.timestamp == block.timestamp:
                start |= _LATE
            numbers = applied.transaction_in_block, applied.operation_in_transaction
            slots.append(_SLOT.pack(start, size, *numbers, where))
        yield _HEAD.pack(len(part), times[0], block.timestamp) + b"".join(slots) + tail


class _Places:
    """Where the transactions and operations of a block stand in its bytes."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._starts: list[int] = []
        start = len(block.packed) - sum(len(each.packed) for each in block.transactions)
        for transaction in block.transactions:
            self._starts.append(start)
            start += len(transaction.packed)

    def transaction(self, number: int) -> tuple[int, int]:
        """Start and size of a transaction without its signatures."""
        if number == AFTER_TRANSACTIONS:
            return 0, 0
        return self._starts[number], len(self._block.transactions[number].unsigned)

    def operation(self, transaction: int, number: int) -> int:
        """Where in its transaction an operation starts."""
        operations = self._block.transactions[transaction].operations
        encode = codec_of(Operation).encode
        before = sum(len(encode(each)) for each in operations[:number])
        return _BEFORE_OPERATIONS + len(pack_varint(len(operations))) + before
