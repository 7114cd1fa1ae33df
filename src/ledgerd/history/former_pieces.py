"""The pieces that earlier versions stored. Their rows have sizes, and no checksums, or one for each operation.

They say nothing about their neighbours: that one is missing is noticed only where an entry refers to it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from zlib import crc32

from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.pieces import (
    INTACT,
    OPERATIONS_A_PIECE,
    OTHER_BYTES,
    PLACE,
    TRANSACTION,
    VIRTUAL,
    OperationRow,
    Piece,
)

_HEAD = struct.Struct("<BBII")
"""How many operations, and of how many transactions; the time before the block and its own time."""

_ROW = struct.Struct("<BBHI2x")
_ROW_WITH_SUM = struct.Struct("<BBHI4x")
"""A row without the size of the operation and the checksum of its bytes, which are seldom needed."""
_SIZE = struct.Struct("<4xIH")
"""Of a row, the offset, which no other row of the piece has, and the size."""
_SIZE_AND_SUM = struct.Struct("<4xII")
"""The same with the checksum above the 16 bits of the size."""
_SIZE_MASK = _SUM_MASK = 0xFFFF

LARGE = 1 << 15
"""From this size on, the size was rounded up to pages, which is precise enough to read the operation."""
_PAGE_BITS = 12


def stored_size(size: int) -> int:
    """The size of an operation in two bytes."""
    return size if size < LARGE else LARGE | size >> _PAGE_BITS


def most_bytes(stored: int) -> int:
    """The largest number of bytes for a stored size."""
    return stored if stored < LARGE else ((stored ^ LARGE) + 1) << _PAGE_BITS


class FormerPiece(Piece):
    """A piece of format 2, or of format 3 with checksums."""

    __slots__ = ("_has_sums", "_sizes")

    def __init__(self, raw: bytes, block: int, *, has_sums: bool) -> None:
        if has_sums and crc32(raw) != INTACT:
            raise HistoryDamaged(f"operations of block {block} have another checksum than when they were recorded")
        self.raw = raw
        self.block = block
        self.previous = 0
        self._has_sums = has_sums
        self._sizes: dict[int, int] = {}
        count, transactions, self.early, self.late = _HEAD.unpack_from(raw)
        self.is_continued = None if count == OPERATIONS_A_PIECE else False
        self.count = count
        self.row = _ROW_WITH_SUM if has_sums else _ROW
        self._transactions = _HEAD.size
        self._first_row = _HEAD.size + transactions * TRANSACTION.size
        self.tail = self._first_row + count * self.row.size

    def extent(self, rows: Sequence[OperationRow]) -> tuple[int, int]:
        real = [row[3] for row in rows if not row[3] & VIRTUAL]
        if not real:
            return 0, 0
        return real[0] & PLACE, (real[-1] & PLACE) + most_bytes(self.sizes[real[-1]] & _SIZE_MASK)

    def require_sound(self, data: bytes, begin: int) -> None:
        """There is nothing to compare with; `fault_of` looks at each operation."""

    def fault_of(self, place: int, data: bytes, where: int, end: int) -> str:
        """What differs between the row of an operation, named by its offset there, and its bytes; empty if nothing."""
        known, size = divmod(self.sizes[place], _SIZE_MASK + 1)
        if stored_size(end - where) != size:
            return f"it has {end - where} bytes"
        is_real = not place & VIRTUAL
        if end > len(data) or (is_real and self._has_sums and crc32(data[where:end]) & _SUM_MASK != known):
            return OTHER_BYTES
        return ""

    @property
    def sizes(self) -> dict[int, int]:
        """The stored sizes of the operations, with checksums if there are any, by the offsets in their rows."""
        if not self._sizes:
            layout = _SIZE_AND_SUM if self._has_sums else _SIZE
            self._sizes = dict(layout.iter_unpack(self.raw[self._first_row : self.tail]))
        return self._sizes
