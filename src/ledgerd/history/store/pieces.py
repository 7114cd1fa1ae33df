"""A block's operations as they are stored: pieces of up to 16, in the order in which clients see them. A row says of
which kind an operation is and where in the block it begins; virtual ones follow the rows. A piece has checksums of
itself and of its part of the block, and names the block before that has operations.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import NamedTuple, cast
from zlib import crc32

from ledgerd.chain.ledger.events import AFTER_TRANSACTIONS, NO_TRANSACTION, AppliedOperation
from ledgerd.chain.log.histories import KindCount, OperationPlace
from ledgerd.codec import codec_of
from ledgerd.codec.partial import bytes_before
from ledgerd.codec.types.varint import pack_varint
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.store.checksums import INTACT, SUM
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import tag_of
from ledgerd.protocol.types.identifiers import TransactionId

OPERATIONS_A_PIECE = 16
"""So that a piece of operations of transactions fills a seventh of a page, and little space is lost."""

PIECE_KEY = struct.Struct(">IH")

_HEAD = struct.Struct("<BBIIIIII")
"""How many operations, with a flag, and of how many transactions; the time before the block and its own time; the block
before that has operations; begin, end and checksum of the part of the block in which the operations stand.
"""
_CONTINUED = 1 << 7
"""A flag of the number of operations: another piece of the block follows."""

TRANSACTION = struct.Struct("<H20s")
"""The index of a transaction in the block, and its id."""

_ROW = struct.Struct("<BBHI")
"""Tag; which of the transactions; place in it; where the operation begins, with two flags."""
_HEAD_SIZE, _TRANSACTION_SIZE, _ROW_SIZE = _HEAD.size, TRANSACTION.size, _ROW.size

NO_OWNER = 255
LATE = 1 << 31
"""A flag of the offset: the operation has the block's own time."""
VIRTUAL = 1 << 30
"""A flag of the offset: the operation is virtual, and after the rows, after its virtual number."""
PLACE = VIRTUAL - 1
_FLAGS = 7
"""The place in a row of the byte with the flags."""
_ARE_VIRTUAL = bytes(bool(each << 24 & VIRTUAL) for each in range(256))
_NUMBER = struct.Struct("<I")
_NOBODY = NO_TRANSACTION.hex()
OTHER_BYTES = "their bytes are not those that were recorded"
_BEFORE_OPERATIONS = bytes_before(Transaction, "operations")
"""Bytes of a transaction before the count of its operations: reference and expiration."""


class OperationRow(NamedTuple):
    """A recorded operation as it is stored, but for itself."""

    tag: int
    owner: int
    """The index among the transactions of the piece."""
    number: int
    place: int
    """The offset in the bytes of the block, of a virtual operation in those after the rows; with flags."""


class Piece:
    """A stored piece, decoded where needed."""

    __slots__ = (
        "_first_row",
        "_transactions",
        "begin",
        "block",
        "count",
        "early",
        "end",
        "is_continued",
        "late",
        "log_sum",
        "previous",
        "raw",
        "tail",
    )

    def __init__(self, raw: bytes, block: int, place: int) -> None:
        if crc32(raw, _seed(block, place)) != INTACT:
            raise _other_sum(block)
        self.block = block
        self.raw = raw
        self.early: int
        self.late: int
        self.previous: int
        self.begin: int
        self.end: int
        self.log_sum: int
        count, transactions, self.early, self.late, self.previous, self.begin, self.end, self.log_sum = (
            _HEAD.unpack_from(raw)
        )
        self.is_continued = count >= _CONTINUED
        self.count = count = count & ~_CONTINUED
        self._transactions = _HEAD.size
        self._first_row = first_row = _HEAD.size + transactions * TRANSACTION.size
        self.tail = first_row + count * _ROW.size
        """The offset of the virtual operations."""

    def rows(self) -> list[OperationRow]:
        return cast("list[OperationRow]", list(_ROW.iter_unpack(self.raw[self._first_row : self.tail])))

    def rows_at(self, places: Sequence[int]) -> list[OperationRow]:
        """The rows of some operations, by their index in the piece, ascending; an `IndexError` for a missing one."""
        low, high, size = places[0], places[-1] + 1, _ROW_SIZE
        if high > self.count:
            raise IndexError(high - 1)
        first = self._first_row
        if high - low == len(places):
            part = self.raw[first + low * size : first + high * size]
            return cast("list[OperationRow]", list(_ROW.iter_unpack(part)))
        raw, unpack = self.raw, _ROW.unpack_from
        return cast("list[OperationRow]", [unpack(raw, first + place * size) for place in places])

    def transactions(self) -> list[tuple[int, TransactionId]]:
        return list(TRANSACTION.iter_unpack(self.raw[self._transactions : self._first_row]))

    def openings(self, first: int, last: int) -> list[str]:
        begin, end = (self._transactions + index * TRANSACTION.size for index in (first, last + 1))
        members = f'","block":{self.block},"trx_in_block":'
        return [
            f'{{"trx_id":"{identifier.hex()}{members}{number},"op_in_trx":'
            for number, identifier in TRANSACTION.iter_unpack(self.raw[begin : min(end, self._first_row)])
        ]

    def opening_of_nobody(self) -> str:
        return f'{{"trx_id":"{_NOBODY}","block":{self.block},"trx_in_block":{AFTER_TRANSACTIONS},"op_in_trx":'

    def position(self, row: OperationRow) -> OperationPlace:
        _, owner, number, place = row
        transaction = AFTER_TRANSACTIONS
        if owner != NO_OWNER:
            transaction = TRANSACTION.unpack_from(self.raw, self._transactions + owner * TRANSACTION.size)[0]
        return OperationPlace(self.block, transaction, number, self.virtual(place)[0] if place & VIRTUAL else 0)

    def timestamp(self, row: OperationRow) -> int:
        return self.late if row[3] >= LATE else self.early

    def virtual(self, place: int) -> tuple[int, int]:
        where = self.tail + (place & PLACE)
        return _NUMBER.unpack_from(self.raw, where)[0], where + _NUMBER.size

    def extent(self, rows: Sequence[OperationRow]) -> tuple[int, int]:
        """The part of the block that is read for some operations, that of the checksum; empty if all are virtual."""
        if rows[0][3] & rows[-1][3] & VIRTUAL and all(row[3] & VIRTUAL for row in rows):
            return 0, 0
        return self.begin, self.end

    def require_sound(self, data: bytes, begin: int) -> None:
        if crc32(data[self.begin - begin : self.end - begin]) != self.log_sum:
            raise HistoryDamaged(f"operations of block {self.block} cannot be read: {OTHER_BYTES}")


def stored_rows(stored: Iterable[tuple[bytes, bytes]], block: int) -> tuple[bytes, bool]:
    """The rows of a block from its stored pieces, with their keys, and whether its last piece is among them. Called
    for thousands of blocks, so nothing else of a piece is read.
    """
    found, key_of, is_whole = list[bytes](), PIECE_KEY.pack, False
    for place, (key, raw) in enumerate(stored):
        if key != key_of(block, place):
            break
        if crc32(raw, block ^ place << 16) != INTACT:
            raise _other_sum(block)
        count, first = raw[0], _HEAD_SIZE + raw[1] * _TRANSACTION_SIZE
        is_whole = count < _CONTINUED
        found.append(raw[first : first + (count & ~_CONTINUED) * _ROW_SIZE])
        if is_whole:
            break
    return b"".join(found), is_whole


def counted_kinds(rows: bytes) -> list[KindCount]:
    """The number of operations of each kind in rows, counted in place, since a list of blocks needs very many."""
    tags, flags = rows[::_ROW_SIZE], rows[_FLAGS::_ROW_SIZE].translate(_ARE_VIRTUAL)
    first = flags.find(1)  # most are at the end
    virtual = Counter(compress(tags[first:], flags[first:])) if first >= 0 else Counter[int]()
    all_ = {tag: tags.count(tag) for tag in set(tags)}
    found = [KindCount(tag, is_virtual=True, operations=count) for tag, count in virtual.items()]
    own = ((tag, count - virtual[tag]) for tag, count in all_.items())
    return found + [KindCount(tag, is_virtual=False, operations=count) for tag, count in own if count]


def shown_order(applied: AppliedOperation) -> tuple[int, int, int]:
    """The order in which clients see the operations of a block (spec 05, section 12.3)."""
    return applied.transaction_in_block, applied.operation_in_transaction, applied.virtual_operation


def pieces_of(block: Block, operations: Sequence[AppliedOperation], previous: int) -> Iterator[bytes]:
    if not operations:
        return
    times = sorted({each.timestamp for each in operations} | {block.timestamp})
    if len(times) > 2 or times[-1] != block.timestamp:
        raise ValueError(f"operations of block {block.number} are dated {times}, the block {block.timestamp}")
    places, early = _Places(block), times[0]
    for place, first in enumerate(range(0, len(operations), OPERATIONS_A_PIECE)):
        end = first + OPERATIONS_A_PIECE
        piece = _piece(
            operations[first:end], places, (early, block.timestamp, previous), is_last=end >= len(operations)
        )
        yield piece + SUM.pack(crc32(piece, _seed(block.number, place)))


def _other_sum(block: int) -> HistoryDamaged:
    return HistoryDamaged(f"operations of block {block} have another checksum than when they were recorded")


def _seed(block: int, place: int) -> int:
    """The initial value of the checksum of a piece, so that a piece in another place is wrong too."""
    return block ^ place << 16


def _piece(
    operations: Sequence[AppliedOperation], places: _Places, common: tuple[int, int, int], *, is_last: bool
) -> bytes:
    owners: dict[int, bytes] = {}
    rows, tail, begin, end = [], b"", 0, 0
    for applied in operations:
        number, owner = applied.transaction_in_block, NO_OWNER
        if number != AFTER_TRANSACTIONS:
            owners.setdefault(number, TRANSACTION.pack(number, applied.transaction_id))
            owner = len(owners) - 1
        if applied.virtual_operation:
            where = len(tail) | VIRTUAL
            tail += _NUMBER.pack(applied.virtual_operation) + codec_of(Operation).encode(applied.operation)
        else:
            where, end = places.operation(number, applied.operation_in_transaction)
            begin = begin or where
        if applied.timestamp == common[1]:
            where |= LATE
        rows.append(_ROW.pack(tag_of(type(applied.operation)), owner, applied.operation_in_transaction, where))
    count = len(rows) if is_last else len(rows) | _CONTINUED
    head = _HEAD.pack(count, len(owners), *common, begin, end, crc32(places.packed[begin:end]))
    return head + b"".join((*owners.values(), *rows)) + tail


class _Places:
    """The offsets of operations in the bytes of a block, and the offset after the last one."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self.packed = block.packed
        self._starts: list[int] = []
        """The offsets of transactions, and the end of the last one."""
        self._known: tuple[int, list[int]] = (-1, [])
        """A transaction, and the offsets of its operations."""
        start = len(block.packed) - sum(len(each.packed) for each in block.transactions)
        for transaction in block.transactions:
            self._starts.append(start)
            start += len(transaction.packed)
        self._starts.append(start)

    def operation(self, transaction: int, number: int) -> tuple[int, int]:
        """Start and end of an operation: the last one of a transaction ends with it, which spares its encoding."""
        if self._known[0] != transaction:
            self._known = transaction, self._operations_of(transaction)
        starts = self._known[1]
        return starts[number], starts[number + 1]

    def _operations_of(self, transaction: int) -> list[int]:
        operations = self._block.transactions[transaction].operations
        encode = codec_of(Operation).encode
        start = self._starts[transaction] + _BEFORE_OPERATIONS + len(pack_varint(len(operations)))
        found = [start]
        for each in operations[:-1]:
            start += len(encode(each))
            found.append(start)
        found.append(self._starts[transaction + 1])
        return found
