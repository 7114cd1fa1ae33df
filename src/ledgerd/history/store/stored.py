"""The history as one transaction sees it: the blocks with recorded operations, of which none is missed silently."""

from __future__ import annotations

from collections.abc import Iterator

from ledgerd.chain.log.histories import KindCount
from ledgerd.history.store.account_rows import AccountRows
from ledgerd.history.store.balances import Balances
from ledgerd.history.store.checksums import BLOCK_KEY
from ledgerd.history.store.journal import AccountJournal
from ledgerd.history.store.missed import MissedSlots
from ledgerd.history.store.pieces import PIECE_KEY, Piece, counted_kinds, stored_rows
from ledgerd.history.store.tables import TRANSACTION_VALUE, Tables, Watermarks, missing, read_watermarks, require_first
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.state.files.disk import Cursor, LmdbTransaction


class StoredHistory:
    """The tables in a transaction, with the watermarks; `HistoryDamaged` where pieces are missing or another's."""

    def __init__(self, transaction: LmdbTransaction, tables: Tables, watermarks: Watermarks | None = None) -> None:
        self.transaction = transaction
        self.tables = tables
        self.watermarks = watermarks or read_watermarks(transaction, tables) or Watermarks()
        self.accounts = AccountRows(transaction, tables.ranges, tables.chunks)
        self.missed = MissedSlots(transaction, tables.header, tables.missed)
        self.balances = Balances(transaction, tables.header, tables.balances)
        self.journal = AccountJournal(transaction, tables.header, tables.images, tables.changed)

    def packed(self, number: int) -> bytes | None:
        found: bytes | None = self.transaction.get(BLOCK_KEY.pack(number), db=self.tables.blocks)
        return found

    @property
    def first_block(self) -> int:
        cursor = self._cursor()
        return _block_of(cursor) if cursor.first() else 0

    @property
    def last_block(self) -> int:
        cursor = self._cursor()
        return _block_of(cursor) if cursor.last() else 0

    def pieces_at(self, block: int) -> list[Piece]:
        """The pieces of a block, in order; none if nothing of it is recorded."""
        found: list[Piece] = []
        cursor = self._cursor()
        if cursor.set_key(PIECE_KEY.pack(block, 0)):
            for key, raw in cursor.iternext():  # faster than to look for each; large blocks have many
                if key != PIECE_KEY.pack(block, len(found)):
                    break
                found.append(Piece(raw, block, len(found)))
                if not found[-1].is_continued:
                    return found
        if found:
            raise missing(block)
        self.block_behind(block - 1)  # it would be named there
        return found

    def kinds_at(self, block: int) -> list[KindCount]:
        cursor = self._cursor()
        if not cursor.set_key(PIECE_KEY.pack(block, 0)):
            self.block_behind(block - 1)  # it would be named there
            return []
        rows, is_whole = stored_rows(cursor.iternext(), block)
        if not is_whole:
            raise missing(block)
        return counted_kinds(rows)

    def possible_blocks(self, wanted: TransactionId) -> list[int]:
        cursor = self.transaction.cursor(self.tables.transactions)
        found: list[int] = []
        if not cursor.set_range_dup(wanted[:1], wanted[1:3]):
            return found
        for value in cursor.iternext_dup():
            part, block = TRANSACTION_VALUE.unpack(value)
            if part != wanted[1:3]:
                break
            found.append(block)
        return found

    def block_behind(self, number: int) -> int | None:
        cursor, known = self._cursor(), max(number, self.watermarks.forgotten)
        if not cursor.set_range(PIECE_KEY.pack(number + 1, 0)):
            if self.watermarks.last > known:
                raise missing(self.watermarks.last)
            return None
        block, place = PIECE_KEY.unpack(cursor.key())
        require_first(_piece_here(cursor), place, known)
        return int(block)

    def upwards(self, first: int, last: int) -> Iterator[list[Piece]]:
        cursor, before = self._cursor(), max(first - 1, self.watermarks.forgotten)
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
        if self.watermarks.last > before:
            raise missing(self.watermarks.last)

    def downwards(self, first: int, last: int) -> Iterator[list[Piece]]:
        """The pieces of each block from the first, which is the highest, down to the last one."""
        cursor = self._cursor()
        found = cursor.prev() if cursor.set_range(PIECE_KEY.pack(first + 1, 0)) else cursor.last()
        below = _block_of(cursor) if found else 0
        self.block_behind(max(below, last - 1))  # none between it and the first is missing
        while below >= last:
            block, place = PIECE_KEY.unpack(cursor.key())
            pieces = [_piece_here(cursor)]
            while cursor.prev() and len(pieces) <= place:
                pieces.append(_piece_here(cursor))
            pieces.reverse()
            below = _block_of(cursor) if cursor.key() else 0
            if len(pieces) <= place or pieces[0].block != block:
                raise missing(block)
            require_first(pieces[0], 0, max(below, self.watermarks.forgotten))
            yield _whole(pieces)

    def _cursor(self) -> Cursor:
        return self.transaction.cursor(self.tables.operations)


def _block_of(cursor: Cursor) -> int:
    return int(PIECE_KEY.unpack(cursor.key())[0])


def _piece_here(cursor: Cursor) -> Piece:
    return Piece(cursor.value(), *PIECE_KEY.unpack(cursor.key()))


def _whole(pieces: list[Piece]) -> list[Piece]:
    if pieces[-1].is_continued:
        raise missing(pieces[-1].block)
    return pieces
