"""The storage of a block's operations: pieces of up to 16, in the order in which clients see them.

A row says where in the bytes of its block an operation stands, of which kind it is, and what its checksum is. A virtual
operation is in no block: its bytes stand in the piece, behind the rows. What is asked of a piece most is answered
without decoding it. A piece ends with a checksum of its own; those of earlier versions have none, nor have their rows.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast
from zlib import crc32

from ledgerd.chain.events import AFTER_TRANSACTIONS, NO_TRANSACTION, AppliedOperation
from ledgerd.chain.log.histories import OperationPlace
from ledgerd.codec import codec_of
from ledgerd.codec.varint import pack_varint
from ledgerd.history.errors import HistoryDamaged
from ledgerd.protocol.block import Block
from ledgerd.protocol.identifiers import TransactionId
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import tag_of

OPERATIONS_A_PIECE = 16
"""So that a piece of operations of transactions fills a seventh of a page, and little space is lost."""

PIECE_KEY = struct.Struct(">IH")
"""Block and place of the piece."""

_HEAD = struct.Struct("<BBII")
"""How many operations, and of how many transactions; the time before the block and its own time."""

_TRANSACTION = struct.Struct("<H20s")
"""Its index in the block, and its id."""

_ROW = struct.Struct("<BBHIHH")
"""Tag; which of the transactions; place in it; where the operation stands, with two flags; its size, as stored; the
checksum of its bytes, of a real one.
"""
_FORMER_ROW = struct.Struct("<BBHIH")
"""The same without a checksum."""
_SUM = struct.Struct("<I")
_INTACT = 0x2144DF1C
"""The checksum of whatever ends with its own."""
NO_SUM = -1

NO_OWNER = 255
LATE = 1 << 31
"""A flag of the offset: the operation has the block's own time."""
VIRTUAL = 1 << 30
"""A flag of the offset: the operation is virtual, and after the rows, behind its virtual number."""
PLACE = VIRTUAL - 1
_NUMBER = struct.Struct("<I")
_NOBODY = NO_TRANSACTION.hex()
_BEFORE_OPERATIONS = 10
"""Bytes of a transaction before the count of its operations: reference and expiration."""


LARGE = 1 << 15
"""From this size on, the size is rounded up to pages, which is precise enough to read the operation."""
_PAGE_BITS = 12


def stored_size(size: int) -> int:
    """The size of an operation in two bytes."""
    return size if size < LARGE else LARGE | size >> _PAGE_BITS


def most_bytes(stored: int) -> int:
    """The largest number of bytes for a stored size."""
    return stored if stored < LARGE else ((stored ^ LARGE) + 1) << _PAGE_BITS


def sum_of(operation: bytes) -> int:
    """The checksum of an operation in two bytes."""
    return crc32(operation) & 0xFFFF


class OperationRow(NamedTuple):
    """A recorded operation as it is stored, but for itself."""

    tag: int
    owner: int
    """The index among the transactions of the piece."""
    number: int
    """The index in its transaction."""
    place: int
    """The offset in the bytes of the block, of a virtual operation in those after the rows; with flags."""
    size: int
    """As `stored_size` has it."""
    sum: int
    """As `sum_of` has it; `NO_SUM` in pieces of earlier versions."""


class Piece:
    """A stored piece, decoded where needed."""

    __slots__ = ("_has_sums", "_row", "_rows", "count", "early", "late", "raw", "tail")

    def __init__(self, raw: bytes, block: int, has_sums: bool) -> None:
        if has_sums and crc32(raw) != _INTACT:
            raise HistoryDamaged(f"operations of block {block} have another checksum than when they were recorded")
        self.raw = raw
        self.count: int
        self.early: int
        self.late: int
        self.count, transactions, self.early, self.late = _HEAD.unpack_from(raw)
        self._has_sums = has_sums
        self._row = _ROW if has_sums else _FORMER_ROW
        self._rows = _HEAD.size + transactions * _TRANSACTION.size
        self.tail = self._rows + self.count * self._row.size
        """Where the virtual operations begin."""

    def rows(self) -> list[OperationRow]:
        """All rows, as plain tuples in the form of one: they are many."""
        rows = list(self._row.iter_unpack(self.raw[self._rows : self.tail]))
        return cast("list[OperationRow]", rows if self._has_sums else [(*row, NO_SUM) for row in rows])

    def rows_at(self, places: Sequence[int]) -> list[OperationRow]:
        """The rows of some operations, by their index in the piece; an `IndexError` for a missing one."""
        if len(places) == self.count:
            return self.rows()
        if places[-1] >= self.count:
            raise IndexError(places[-1])
        raw, first, size, unpack = self.raw, self._rows, self._row.size, self._row.unpack_from
        rows = [unpack(raw, first + place * size) for place in places]
        return cast("list[OperationRow]", rows if self._has_sums else [(*row, NO_SUM) for row in rows])

    def transactions(self) -> list[tuple[int, TransactionId]]:
        """The transactions with operations in this piece: index in the block, and id."""
        return list(_TRANSACTION.iter_unpack(self.raw[_HEAD.size : self._rows]))

    def owner_text(self, owner: int, block: int) -> str:
        """The beginning of the JSON of operations, of a transaction or of none."""
        if owner == NO_OWNER:
            return f'{{"trx_id":"{_NOBODY}","block":{block},"trx_in_block":{AFTER_TRANSACTIONS},"op_in_trx":'
        number, identifier = _TRANSACTION.unpack_from(self.raw, _HEAD.size + owner * _TRANSACTION.size)
        return f'{{"trx_id":"{identifier.hex()}","block":{block},"trx_in_block":{number},"op_in_trx":'

    def position(self, row: OperationRow, block: int) -> OperationPlace:
        """Where an operation stands."""
        _, owner, number, place, *_ = row
        transaction = AFTER_TRANSACTIONS
        if owner != NO_OWNER:
            transaction = _TRANSACTION.unpack_from(self.raw, _HEAD.size + owner * _TRANSACTION.size)[0]
        return OperationPlace(block, transaction, number, self.virtual(place)[0] if place & VIRTUAL else 0)

    def timestamp(self, row: OperationRow) -> int:
        """When an operation happened."""
        return self.late if row[3] >= LATE else self.early

    def virtual(self, place: int) -> tuple[int, int]:
        """The number of the virtual operation at an offset, and the offset of its bytes in the piece."""
        where = self.tail + (place & PLACE)
        return _NUMBER.unpack_from(self.raw, where)[0], where + _NUMBER.size


def shown_order(applied: AppliedOperation) -> tuple[int, int, int]:
    """The order in which clients see the operations of a block (spec 05, section 12.3)."""
    return applied.transaction_in_block, applied.operation_in_transaction, applied.virtual_operation


def pieces_of(block: Block, operations: Sequence[AppliedOperation]) -> Iterator[bytes]:
    """The pieces of a block, in order, from its operations in the order in which clients see them."""
    if not operations:
        return
    times = sorted({each.timestamp for each in operations} | {block.timestamp})
    if len(times) > 2 or times[-1] != block.timestamp:
        raise ValueError(f"operations of block {block.number} are dated {times}, the block {block.timestamp}")
    places = _Places(block)
    for first in range(0, len(operations), OPERATIONS_A_PIECE):
        yield _piece(operations[first : first + OPERATIONS_A_PIECE], places, (times[0], block.timestamp))


def _piece(operations: Sequence[AppliedOperation], places: _Places, times: tuple[int, int]) -> bytes:
    owners: dict[int, bytes] = {}
    rows, tail, packed = [], b"", places.packed
    for applied in operations:
        number, owner = applied.transaction_in_block, NO_OWNER
        if number != AFTER_TRANSACTIONS:
            owners.setdefault(number, _TRANSACTION.pack(number, applied.transaction_id))
            owner = len(owners) - 1
        if applied.virtual_operation:
            encoded = codec_of(Operation).encode(applied.operation)
            where, size, checksum = len(tail) | VIRTUAL, len(encoded), 0
            tail += _NUMBER.pack(applied.virtual_operation) + encoded
        else:
            where, size = places.operation(number, applied.operation_in_transaction)
            checksum = crc32(packed[where : where + size]) & 0xFFFF  # as `sum_of` has it
        if applied.timestamp == times[1]:
            where |= LATE
        tag, number = tag_of(type(applied.operation)), applied.operation_in_transaction
        rows.append(_ROW.pack(tag, owner, number, where, stored_size(size), checksum))
    piece = _HEAD.pack(len(rows), len(owners), *times) + b"".join((*owners.values(), *rows)) + tail
    return piece + _SUM.pack(crc32(piece))


class _Places:
    """The offsets of the operations in the bytes of a block."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self.packed = block.packed
        self._starts: list[int] = []
        self._known: tuple[int, list[tuple[int, int]]] = (-1, [])
        """A transaction, and the offsets of its operations."""
        start = len(block.packed) - sum(len(each.packed) for each in block.transactions)
        for transaction in block.transactions:
            self._starts.append(start)
            start += len(transaction.packed)

    def operation(self, transaction: int, number: int) -> tuple[int, int]:
        """Start and size of an operation."""
        if self._known[0] != transaction:
            self._known = transaction, self._operations_of(transaction)
        return self._known[1][number]

    def _operations_of(self, transaction: int) -> list[tuple[int, int]]:
        operations = self._block.transactions[transaction].operations
        encode = codec_of(Operation).encode
        start = self._starts[transaction] + _BEFORE_OPERATIONS + len(pack_varint(len(operations)))
        found = []
        for each in operations:
            found.append((start, len(encode(each))))
            start += found[-1][1]
        return found
