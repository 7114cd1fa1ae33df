"""The recorded operations of one block, read from their pieces and from the bytes of the block."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ledgerd.chain.events import NO_TRANSACTION
from ledgerd.codec import codec_of
from ledgerd.codec.errors import DecodeError
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.pieces import OPERATIONS_A_PIECE, Piece, Slot
from ledgerd.protocol.identifiers import TransactionId
from ledgerd.protocol.operations import Operation

Bytes = Callable[[int, int], bytes]
"""The bytes of a block from a place on, so many."""


class Row(NamedTuple):
    """A recorded operation."""

    place: int
    """Among the recorded ones of its block, in the order in which they happened."""
    slot: Slot
    transaction_id: TransactionId
    operation: Operation


def read_row(number: int, place: int, piece: Piece, slot: Slot, bytes_of: Bytes) -> Row:
    """The operation of a slot."""
    transaction_id, data = NO_TRANSACTION, b""
    if slot.size:
        data = bytes_of(slot.start, slot.size)
        if len(data) != slot.size:
            raise HistoryDamaged(f"the bytes of block {number} are not in the log")
        transaction_id = TransactionId(hashlib.sha256(data).digest()[:20])
    try:
        if slot.virtual_operation:
            operation = piece.virtual(slot)
        else:
            operation = codec_of(Operation).decode_from(data, slot.where)[0]
    except DecodeError as problem:
        raise HistoryDamaged(f"operation {place} of block {number} cannot be read: {problem}") from problem
    return Row(place, slot, transaction_id, operation)


def rows_of(number: int, pieces: list[Piece], bytes_of: Bytes) -> Iterator[Row]:
    """All operations of a block, in the order in which they happened; its bytes are fetched once."""
    found = [
        (index * OPERATIONS_A_PIECE + at, piece, slot)
        for index, piece in enumerate(pieces)
        for at, slot in enumerate(piece.slots())
    ]
    end = max((slot.start + slot.size for _, _, slot in found), default=0)
    data = bytes_of(0, end) if end else b""

    def part(start: int, size: int) -> bytes:
        return data[start : start + size]

    for place, piece, slot in found:
        yield read_row(number, place, piece, slot, part)
