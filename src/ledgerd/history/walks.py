"""The blocks that have recorded operations, one after the other, upwards or downwards; none is missed silently."""

from __future__ import annotations

from collections.abc import Iterator

from ledgerd.history.pieces import PIECE_KEY, Piece
from ledgerd.history.tables import Tables, Watermarks, block_behind, missing, require_first
from ledgerd.state.disk import Cursor, LmdbTransaction


def walked_up(
    transaction: LmdbTransaction, tables: Tables, watermarks: Watermarks, first: int, last: int
) -> Iterator[list[Piece]]:
    """The pieces of each block from the first to the last one."""
    cursor, before = transaction.cursor(tables.operations), max(first - 1, watermarks.forgotten)
    cursor.set_range(PIECE_KEY.pack(first, 0))
    while cursor.key():
        block, place = PIECE_KEY.unpack(cursor.key())
        pieces = [_piece_here(cursor)]
        require_first(pieces[0], place, before)
        if block > last:
            return
        while cursor.next() and cursor.key() == PIECE_KEY.pack(block, len(pieces)):
            pieces.append(Piece(cursor.value(), block, len(pieces)))
        yield _whole(pieces)
        before = block
    if watermarks.last > before:
        raise missing(watermarks.last)


def walked_down(
    transaction: LmdbTransaction, tables: Tables, watermarks: Watermarks, first: int, last: int
) -> Iterator[list[Piece]]:
    """The pieces of each block from the first, which is the highest, down to the last one."""
    cursor = transaction.cursor(tables.operations)
    found = cursor.prev() if cursor.set_range(PIECE_KEY.pack(first + 1, 0)) else cursor.last()
    below = _block_of(cursor) if found else 0
    block_behind(transaction, tables, max(below, last - 1), watermarks)  # none between it and the first is missing
    while below >= last:
        block, place = PIECE_KEY.unpack(cursor.key())
        pieces = [_piece_here(cursor)]
        while cursor.prev() and len(pieces) <= place:
            pieces.append(_piece_here(cursor))
        pieces.reverse()
        below = _block_of(cursor) if cursor.key() else 0
        if len(pieces) <= place or pieces[0].block != block:
            raise missing(block)
        require_first(pieces[0], 0, max(below, watermarks.forgotten))
        yield _whole(pieces)


def _block_of(cursor: Cursor) -> int:
    block: int = PIECE_KEY.unpack(cursor.key())[0]
    return block


def _piece_here(cursor: Cursor) -> Piece:
    block, place = PIECE_KEY.unpack(cursor.key())
    return Piece(cursor.value(), block, place)


def _whole(pieces: list[Piece]) -> list[Piece]:
    if pieces[-1].is_continued:
        raise missing(pieces[-1].block)
    return pieces
