"""The tables of the embedded history, and its watermarks."""

from __future__ import annotations

import struct
from typing import NamedTuple

import lmdb

from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.pieces import OPERATIONS_A_PIECE, PIECE_KEY, Piece
from ledgerd.protocol.identifiers import TransactionId
from ledgerd.state.disk import Database, LmdbTransaction

FORMAT = b"ledgerd history 3"
FORMER = b"ledgerd history 2"
"""Without checksums; it is gone on with, and what is recorded from then on has them."""
BLOCK_KEY = struct.Struct(">I")

_FORMAT_KEY = b"format"
_PROGRESS_KEY = b"progress"
_PROGRESS = struct.Struct("<III")
_SUMS_KEY = b"sums"
_PLACE = struct.Struct(">2sI")


class Tables(NamedTuple):
    """The handles."""

    header: Database
    operations: Database
    """Pieces by block and place."""
    blocks: Database
    """Bytes of blocks that are not in the log yet, by number."""
    transactions: Database
    """The blocks of transactions, sorted, under the first byte of their ids."""
    ranges: Database
    chunks: Database
    missed: Database | None = None
    """Slots without a block (`missed`); a history that an earlier version has written last has no such table."""

    @classmethod
    def open(cls, environment: lmdb.Environment, transaction: LmdbTransaction | None, *, create: bool) -> Tables:
        """The tables of an environment; a transaction creates missing ones."""

        def table(name: str, *, is_set: bool = False) -> Database:
            return environment.open_db(name.encode(), transaction, create=create, dupsort=is_set, dupfixed=is_set)

        return cls(
            table("header"),
            table("operations"),
            table("blocks"),
            table("transactions", is_set=True),
            table("ranges"),
            table("chunks"),
            _later_table(environment, transaction, create=create),
        )


def _later_table(
    environment: lmdb.Environment, transaction: LmdbTransaction | None, *, create: bool
) -> Database | None:
    try:
        return environment.open_db(b"missed", transaction, create=create)
    except lmdb.NotFoundError:
        return None


class Watermarks(NamedTuple):
    """The block numbers up to which a history is filled, irreversible and purged."""

    head: int = 0
    """The last recorded block."""
    irreversible: int = 0
    """The last irreversible block, which is in the log."""
    purged: int = 0
    """The last block whose operations have gone from the histories of accounts."""
    sums_from: int = 0
    """The first block whose operations have checksums."""

    def cut(self, number: int) -> Watermarks:
        """As they are when every block above this one is forgotten."""
        sums_from = min(self.sums_from, number + 1)
        return Watermarks(min(self.head, number), min(self.irreversible, number), min(self.purged, number), sums_from)


def read_watermarks(transaction: LmdbTransaction, tables: Tables) -> Watermarks | None:
    """The stored watermarks; `None` in a new history."""
    found = transaction.get(_FORMAT_KEY, db=tables.header)
    if found is None:
        return None
    if found not in {FORMAT, FORMER}:
        raise HistoryDamaged("it was written by another version of this program")
    raw = transaction.get(_PROGRESS_KEY, bytes(_PROGRESS.size), db=tables.header)
    head, irreversible, purged = _PROGRESS.unpack(raw)
    sums_from = head + 1
    if found == FORMAT:
        (sums_from,) = BLOCK_KEY.unpack(transaction.get(_SUMS_KEY, bytes(BLOCK_KEY.size), db=tables.header))
    return Watermarks(head, irreversible, purged, sums_from)


def write_watermarks(transaction: LmdbTransaction, tables: Tables, watermarks: Watermarks) -> None:
    """Store them."""
    transaction.put(_FORMAT_KEY, FORMAT, db=tables.header)
    transaction.put(_PROGRESS_KEY, _PROGRESS.pack(*watermarks[:3]), db=tables.header)
    transaction.put(_SUMS_KEY, BLOCK_KEY.pack(watermarks.sums_from), db=tables.header)


def pieces_at(transaction: LmdbTransaction, tables: Tables, block: int, sums_from: int) -> list[Piece]:
    """The pieces of a block, in their order."""
    found: list[Piece] = []
    raw = transaction.get(PIECE_KEY.pack(block, 0), db=tables.operations)
    while raw is not None:
        piece = Piece(raw, block, block >= sums_from)
        found.append(piece)
        if piece.count < OPERATIONS_A_PIECE:
            break
        raw = transaction.get(PIECE_KEY.pack(block, len(found)), db=tables.operations)
    return found


def transaction_entry(transaction: TransactionId, block: int) -> tuple[bytes, bytes]:
    """Key and value of a transaction: a part of its id, and the block. A reader checks the whole id."""
    return transaction[:1], _PLACE.pack(transaction[1:3], block)


def possible_blocks(transaction: LmdbTransaction, tables: Tables, wanted: TransactionId) -> list[int]:
    """The numbers of the blocks that may have the transaction with this id, in order."""
    cursor = transaction.cursor(tables.transactions)
    found: list[int] = []
    if not cursor.set_range_dup(wanted[:1], wanted[1:3]):
        return found
    for value in cursor.iternext_dup():
        part, block = _PLACE.unpack(value)
        if part != wanted[1:3]:
            break
        found.append(block)
    return found


def block_behind(transaction: LmdbTransaction, tables: Tables, number: int) -> int | None:
    """The next block that has recorded operations."""
    cursor = transaction.cursor(tables.operations)
    if not cursor.set_range(PIECE_KEY.pack(number + 1, 0)):
        return None
    block: int = PIECE_KEY.unpack(cursor.key())[0]
    return block
