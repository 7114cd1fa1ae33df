"""Whether a history is what was recorded: every piece, every operation that it names, every entry (`ledgerd check`).

Nothing is decoded twice that need not be, but all of it once: on a large history, that takes its time.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from ledgerd.history.account_rows import AccountRows
from ledgerd.history.block_rows import BlockPart
from ledgerd.history.errors import REMEDY, HistoryDamaged
from ledgerd.history.pieces import OPERATIONS_A_PIECE, PIECE_KEY, Piece
from ledgerd.history.tables import BLOCK_KEY, Tables, Watermarks, block_behind, read_watermarks, transaction_entry
from ledgerd.history.touched import touched
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.operations import Operation
from ledgerd.state.disk import LmdbTransaction

ReadLoggedBlock = Callable[[int], bytes | None]

UNREADABLE = (OperatorError, struct.error, IndexError)
"""What comes of reading rows that have rotted."""


class Soundness:
    """One walk over a history."""

    def __init__(self, transaction: LmdbTransaction, tables: Tables, logged: ReadLoggedBlock) -> None:
        self._transaction = transaction
        self._tables = tables
        self._logged = logged
        self._watermarks = read_watermarks(transaction, tables) or Watermarks()
        self._last: tuple[int, BlockPart] = (0, BlockPart(0))
        """A block, and its bytes: operations that are looked at follow one another mostly."""

    def faults(self) -> Iterator[str]:
        """What is wrong; each with the remedy."""
        for fault in (*self._faults_of_operations(), *self._faults_of_accounts()):
            yield f"the history is damaged ({fault}): {REMEDY}"

    # -- operations

    def _faults_of_operations(self) -> Iterator[str]:
        entries, expected = 0, (0, 0)
        for key, raw in self._transaction.cursor(self._tables.operations):
            block, place = PIECE_KEY.unpack(key)
            if place and (block, place) != expected:
                yield f"operations of block {block} are missing"
            try:
                piece = self._piece(raw, block)
                for row in piece.rows():
                    self._part(block).operation(piece, row)
                entries += len(piece.transactions())
                yield from self._missing_transactions(piece, block)
                expected = (block, place + 1) if piece.count == OPERATIONS_A_PIECE else (0, 0)
            except HistoryDamaged as problem:
                yield problem.what
            except UNREADABLE as problem:
                yield f"operations of block {block} cannot be read: {problem}"

    def _missing_transactions(self, piece: Piece, block: int) -> Iterator[str]:
        cursor = self._transaction.cursor(self._tables.transactions)
        for _, identifier in piece.transactions():
            if not cursor.set_key_dup(*transaction_entry(identifier, block)):
                yield f"transaction {identifier.hex()} of block {block} is not found by its id"

    def _piece(self, raw: bytes, block: int) -> Piece:
        return Piece(raw, block, block >= self._watermarks.sums_from)

    def _part(self, block: int) -> BlockPart:
        if self._last[0] != block:
            kept = self._transaction.get(BLOCK_KEY.pack(block), db=self._tables.blocks)
            self._last = block, BlockPart(block, (self._logged(block) if kept is None else kept) or b"")
        return self._last[1]

    # -- accounts

    def _faults_of_accounts(self) -> Iterator[str]:
        rows = AccountRows(self._transaction, self._tables.ranges, self._tables.chunks)
        first = block_behind(self._transaction, self._tables, 0) or 0
        for key in self._transaction.cursor(self._tables.ranges).iternext(keys=True, values=False):
            name = key[:-1].decode("utf-8", "surrogateescape")
            try:
                yield from self._faults_of(rows, name, first)
            except HistoryDamaged as problem:
                yield problem.what
            except UNREADABLE as problem:
                yield f"the entries of {name} cannot be read: {problem}"

    def _faults_of(self, rows: AccountRows, name: str, first: int) -> Iterator[str]:
        entries = rows.range_of(name)
        if entries is None:
            return
        count, before = 0, (0, 0, 0)
        for each in rows.references(name, entries.first, entries.last):
            count += 1
            if each <= before:
                yield f"the entries of {name} are out of order at block {each[0]}"
            elif each[0] >= first and name not in {*touched(self._operation(each))}:
                yield f"an entry of {name} at block {each[0]} is of somebody else"
            before = each
        if count != entries.last - entries.first + 1:
            yield f"{name} has {entries.last - entries.first + 1} entries, but {count} are there"

    def _operation(self, reference: tuple[int, int, int]) -> Operation:
        block, high, low = reference
        number, place = divmod((high << 16) + low, OPERATIONS_A_PIECE)
        raw = self._transaction.get(PIECE_KEY.pack(block, number), db=self._tables.operations)
        if raw is None:
            raise HistoryDamaged(f"operations of block {block} are missing")
        piece = self._piece(raw, block)
        return self._part(block).operation(piece, piece.rows_at([place])[0])
