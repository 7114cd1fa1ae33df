"""Whether a history is what was recorded: every piece, every operation that it names, every entry (`ledgerd check`)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial

from ledgerd.chain.log.soundness import fault_in
from ledgerd.history.embedded.kept_facts import ReadLoggedBlock
from ledgerd.history.errors import REMEDY, HistoryDamaged
from ledgerd.history.store.account_rows import AccountRows, key_of, name_of_chunk
from ledgerd.history.store.balances import Balances
from ledgerd.history.store.block_rows import BlockPart
from ledgerd.history.store.checksums import BLOCK_KEY
from ledgerd.history.store.journal import AccountJournal
from ledgerd.history.store.pieces import OPERATIONS_A_PIECE, PIECE_KEY, Piece
from ledgerd.history.store.stored import StoredHistory
from ledgerd.history.store.tables import missing, require_first, transaction_entry
from ledgerd.protocol.blocks.block import number_of_packed
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.touched import touched

LAST_NUMBER = (1 << 32) - 1

UNREADABLE = (OperatorError, struct.error, IndexError)
"""The errors of reading rows that are damaged."""


class Soundness:
    """One walk over a history."""

    def __init__(self, stored: StoredHistory, logged: ReadLoggedBlock) -> None:
        self._stored = stored
        self._transaction, self._tables, self._watermarks = stored.transaction, stored.tables, stored.watermarks
        self._logged = logged
        self._last: tuple[int, BlockPart] = (0, BlockPart(0))
        """A block, and its bytes: operations that are read follow one another mostly."""

    def faults(self) -> Iterator[str]:
        parts = (
            self._faults_of_operations,
            self._faults_of_copies,
            self._faults_of_accounts,
            self._faults_of_missed,
            partial(_faults_of_table, self._stored.balances),
            partial(_faults_of_table, self._stored.journal),
        )
        for faults in (part() for part in parts):
            for fault in faults:
                yield f"the history is damaged ({fault}): {REMEDY}"

    def _faults_of_operations(self) -> Iterator[str]:
        last: Piece | None = None
        for key, raw in self._transaction.cursor(self._tables.operations):
            block, place = PIECE_KEY.unpack(key)
            try:
                piece = Piece(raw, block, place)
                self._require_next(piece, place, last)
                last = piece
                self._part(block).operations(piece, piece.rows())
                yield from self._missing_transactions(piece, block)
            except HistoryDamaged as problem:
                yield problem.what
            except UNREADABLE as problem:
                yield f"operations of block {block} cannot be read: {problem}"
        if self._watermarks.last > max(self._watermarks.forgotten, last.block if last else 0):
            yield missing(self._watermarks.last).what
        elif last is not None and last.is_continued:
            yield missing(last.block).what

    def _require_next(self, piece: Piece, place: int, last: Piece | None) -> None:
        if place and (last is None or last.block != piece.block):
            raise missing(piece.block)
        if not place and last is not None and last.is_continued:
            raise missing(last.block)
        if not place:
            require_first(piece, place, max(self._watermarks.forgotten, last.block if last else 0))

    def _missing_transactions(self, piece: Piece, block: int) -> Iterator[str]:
        cursor = self._transaction.cursor(self._tables.transactions)
        for _, identifier in piece.transactions():
            if not cursor.set_key_dup(*transaction_entry(identifier, block)):
                yield f"transaction {identifier.hex()} of block {block} is not found by its id"

    def _part(self, block: int) -> BlockPart:
        if self._last[0] != block:
            self._last = block, BlockPart(block, self._kept(block) or self._logged(block) or b"")
        return self._last[1]

    def _faults_of_copies(self) -> Iterator[str]:
        for key, packed in self._transaction.cursor(self._tables.blocks):
            (number,) = BLOCK_KEY.unpack(key)
            logged = self._logged(number)
            if number_of_packed(packed) != number:
                yield f"what is kept as block {number} is another one"
            elif logged is not None and packed != logged:
                yield f"the copy of block {number} is not that block"
            elif logged is None:
                fault = fault_in(number, packed, self._kept, lambda *_: False)
                if fault:
                    yield f"the copy of block {number}: {fault}"

    def _kept(self, number: int) -> bytes | None:
        return self._stored.packed(number & 0xFFFFFFFF)

    def _faults_of_missed(self) -> Iterator[str]:
        slots = self._stored.missed
        try:
            if not slots.first:
                yield "from which block on missed slots are recorded is not known"
            for row in slots.between(slots.first, LAST_NUMBER):
                if row.block > self._watermarks.head:
                    yield f"missed slots are recorded of block {row.block}, which is not in the history"
        except HistoryDamaged as problem:
            yield problem.what
        except (*UNREADABLE, UnicodeDecodeError) as problem:
            yield f"missed slots cannot be read: {problem}"

    def _faults_of_accounts(self) -> Iterator[str]:
        rows, first = self._stored.accounts, self._stored.first_block
        for key in self._transaction.cursor(self._tables.ranges).iternext(keys=True, values=False):
            name = key[:-1].decode("utf-8", "surrogateescape")
            try:
                yield from self._faults_of(rows, name, first)
            except HistoryDamaged as problem:
                yield problem.what
            except UNREADABLE as problem:
                yield f"the entries of {name} cannot be read: {problem}"
        for key in self._transaction.cursor(self._tables.chunks).iternext(keys=True, values=False):
            name = name_of_chunk(key)
            if self._transaction.get(key_of(name), db=self._tables.ranges) is None:
                yield f"there are entries of {name}, but not how many"

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
        piece = Piece(raw, block, number)
        return self._part(block).operation(piece, piece.rows_at([place])[0])


def _faults_of_table(table: Balances | AccountJournal) -> Iterator[str]:
    try:
        table.require_sound()
    except HistoryDamaged as problem:
        yield problem.what
