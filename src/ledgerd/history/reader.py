"""The embedded history as other processes read it, while the node writes: whole commits only, and never in its way.

Open a reader in the process that uses it: it must not be carried over a fork.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Self

import lmdb

from ledgerd.chain.block_log import FULL_LOG
from ledgerd.chain.histories import (
    History,
    HistoryEntry,
    HistoryView,
    RecordedOperation,
    SequenceRange,
    TransactionPlace,
)
from ledgerd.chain.log_files import LogKind
from ledgerd.history.account_rows import AccountRows, block_and_place
from ledgerd.history.block_rows import Bytes, Row, read_row, rows_of
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.log_bytes import LogBytes
from ledgerd.history.pieces import EMPTY_PIECE, OPERATIONS_A_PIECE, PIECE_KEY, Piece
from ledgerd.history.settings import HistorySettings
from ledgerd.history.tables import BLOCK_KEY, Progress, Tables, pieces_at, possible_places, read_progress
from ledgerd.protocol.identifiers import TransactionId
from ledgerd.protocol.names import AccountName
from ledgerd.state.disk import MAX_DATABASES, MAX_READERS, Transaction

RESERVED_ADDRESSES = 1 << 40 if sys.platform != "win32" and sys.maxsize > 1 << 32 else 0
"""Room for a file of any size, so that the writer's growth never moves it; nothing is allocated by that."""

REMEMBERED_OPERATIONS = 1 << 14
"""Operations that are kept as clients see them, with their texts. The chain never takes these back."""

SPARE_TRANSACTIONS = 16

Remembered = dict[tuple[int, int], RecordedOperation]


class EmbeddedHistory(History):
    """A history, open for reading beside its writer."""

    def __init__(self, environment: lmdb.Environment, log: LogBytes, settings: HistorySettings) -> None:
        self._count_blocks = settings.count_blocks
        self._environment = environment
        self._log = log
        self._remembered: Remembered = {}
        self._tables = Tables.open(environment, None, create=False)

    @classmethod
    def open(cls, folder: Path, log_folder: Path, settings: HistorySettings, log_kind: LogKind = FULL_LOG) -> Self:
        """The history that another process writes, and the block log that it refers to.

        Raises:
            HistoryDamaged: There is none, or none that can be read.
        """
        try:
            environment = lmdb.Environment(
                str(folder),
                map_size=RESERVED_ADDRESSES,
                readonly=True,
                max_dbs=MAX_DATABASES,
                max_readers=MAX_READERS,
                max_spare_txns=SPARE_TRANSACTIONS,
            )
            try:
                return cls(environment, LogBytes(log_folder, log_kind), settings)
            except BaseException:
                environment.close()
                raise
        except (lmdb.Error, OSError) as problem:
            raise HistoryDamaged(f"{folder}: {problem}") from problem

    @property
    def count_blocks(self) -> int:
        return self._count_blocks

    def forget(self) -> None:
        """What was final is not: a chain to develop on was taken back."""
        self._remembered.clear()

    @contextmanager
    def reading(self) -> Iterator[HistoryView]:
        self._log.refresh()
        with self._begin() as transaction:
            yield EmbeddedView(transaction, self._tables, self._log, self._remembered)

    def _begin(self) -> Transaction:
        try:
            return self._environment.begin()
        except lmdb.MapResizedError:
            self._environment.set_mapsize(0)
        return self._environment.begin()

    def close(self) -> None:
        """Let the files go; what is being read ends."""
        self._environment.close()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class EmbeddedView(HistoryView):
    """The history of one commit."""

    def __init__(self, transaction: Transaction, tables: Tables, log: LogBytes, remembered: Remembered) -> None:
        self._transaction = transaction
        self._tables = tables
        self._log = log
        self._remembered = remembered
        self._progress = read_progress(transaction, tables) or Progress()
        self._accounts = AccountRows(transaction, tables.ranges, tables.chunks)
        self._piece_at = (0, 0)
        self._piece = Piece(EMPTY_PIECE)
        self._bytes: Bytes = partial(log.read, None)
        """The piece that was read last, and the bytes of its block: neighbours of an account are often in one."""

    @property
    def head_number(self) -> int:
        return self._progress.head

    def operations_of(self, block: int) -> list[RecordedOperation]:
        pieces = pieces_at(self._transaction, self._tables, block)
        known = [self._remembered.get((block, place)) for place in range(_count(pieces))]
        found = [each for each in known if each is not None]
        if len(found) < len(known):
            found = [self._shown(block, row) for row in rows_of(block, pieces, self._bytes_of(block))]
        return sorted(found, key=_order)

    def place_of(self, transaction: TransactionId) -> TransactionPlace | None:
        for block, number in possible_places(self._transaction, self._tables, transaction):
            rows = rows_of(block, pieces_at(self._transaction, self._tables, block), self._bytes_of(block))
            for row in rows:
                if row.slot.transaction_in_block == number and row.transaction_id == transaction:
                    return TransactionPlace(block, number)
        return None

    def range_of(self, account: AccountName) -> SequenceRange | None:
        return self._accounts.range_of(account)

    def entries_of(self, account: AccountName, first: int, last: int) -> list[HistoryEntry]:
        remembered, found = self._remembered, []
        for sequence, reference in enumerate(self._accounts.references(account, first, last), first):
            key = block_and_place(reference)
            found.append(HistoryEntry(sequence, remembered.get(key) or self._read(*key)))
        return found

    def _read(self, block: int, place: int) -> RecordedOperation:
        number, at = divmod(place, OPERATIONS_A_PIECE)
        if self._piece_at != (block, number):
            raw = self._transaction.get(PIECE_KEY.pack(block, number), db=self._tables.operations)
            if raw is None:
                raise HistoryDamaged(f"operation {place} of block {block} is missing")
            self._piece_at, self._piece, self._bytes = (block, number), Piece(raw), self._bytes_of(block)
        piece = self._piece
        return self._shown(block, read_row(block, place, piece, piece.slot(at), self._bytes))

    def _shown(self, block: int, row: Row) -> RecordedOperation:
        """An operation for clients; it is remembered when nothing can change it any more."""
        slot = row.slot
        shown = RecordedOperation(
            row.transaction_id,
            block,
            slot.transaction_in_block,
            slot.operation_in_transaction,
            slot.virtual_operation,
            slot.timestamp,
            row.operation,
        )
        if block <= self._progress.settled:
            remembered = self._remembered
            if len(remembered) >= REMEMBERED_OPERATIONS:
                del remembered[next(iter(remembered))]
            remembered[block, row.place] = shown
        return shown

    def _bytes_of(self, block: int) -> Bytes:
        """The bytes of a block: they are here, as long as the log does not have it."""
        kept = self._transaction.get(BLOCK_KEY.pack(block), db=self._tables.blocks)
        if kept is None:
            return partial(self._log.read, self._log.start_of(block))
        return lambda start, size: kept[start : start + size]


def _count(pieces: list[Piece]) -> int:
    return sum(piece.count for piece in pieces)


def _order(operation: RecordedOperation) -> tuple[int, int, int]:
    return operation.trx_in_block, operation.op_in_trx, operation.virtual_op
