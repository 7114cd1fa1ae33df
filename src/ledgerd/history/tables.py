"""The tables of the embedded history, and its watermarks."""

from __future__ import annotations

import struct
from typing import NamedTuple
from zlib import crc32

import lmdb

from ledgerd.chain.log.histories import KindCount
from ledgerd.history.checksums import INTACT, SUM
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.pieces import PIECE_KEY, Piece, counted_kinds, stored_rows
from ledgerd.protocol.identifiers import TransactionId
from ledgerd.state.disk import Database, LmdbTransaction

FORMAT = b"ledgerd history 5"
"""Stands in the header; a history of another format is refused, and made again."""
OTHER_VERSION = "it was written by another version of this program"
BLOCK_KEY = struct.Struct(">I")

_FORMAT_KEY = b"format"
_PROGRESS_KEY = b"progress"
_PROGRESS = struct.Struct("<5I")
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
    missed: Database
    """Slots without a block (`missed`)."""
    balances: Database
    """What accounts have after each change (`balances`)."""
    images: Database
    """Images of accounts (`journal`)."""
    changed: Database
    """Which of them each block has."""

    @classmethod
    def open(cls, environment: lmdb.Environment, transaction: LmdbTransaction | None, *, create: bool) -> Tables:
        """The tables of an environment; `HistoryDamaged` if one is missing and not to be created."""

        def table(name: str, *, is_set: bool = False) -> Database:
            try:
                return environment.open_db(name.encode(), transaction, create=create, dupsort=is_set, dupfixed=is_set)
            except lmdb.NotFoundError:
                raise HistoryDamaged(OTHER_VERSION) from None

        return cls(
            table("header"),
            table("operations"),
            table("blocks"),
            table("transactions", is_set=True),
            table("ranges"),
            table("chunks"),
            table("missed"),
            table("balances"),
            table("account images"),
            table("account changes"),
        )


class Watermarks(NamedTuple):
    """The block numbers up to which a history is filled, irreversible and purged."""

    head: int = 0
    """The last recorded block."""
    irreversible: int = 0
    """The last irreversible block, which is in the log."""
    purged: int = 0
    """The last block whose operations have gone from the histories of accounts."""
    last: int = 0
    """The last block that has recorded operations."""
    forgotten: int = 0
    """The last block whose operations were purged."""

    def cut(self, number: int, last: int) -> Watermarks:
        return Watermarks(
            head=min(self.head, number),
            irreversible=min(self.irreversible, number),
            purged=min(self.purged, number),
            last=last,
            forgotten=min(self.forgotten, number),
        )


def read_watermarks(transaction: LmdbTransaction, tables: Tables) -> Watermarks | None:
    """`None` in a new history; `HistoryDamaged` if they are not those that were stored, or of another version."""
    found, header = transaction.get(_FORMAT_KEY, db=tables.header), tables.header
    if found is None:
        if transaction.stat(header)["entries"]:
            raise HistoryDamaged("its header has no format")
        return None
    if found != FORMAT:
        raise HistoryDamaged(OTHER_VERSION)
    raw = transaction.get(_PROGRESS_KEY, b"", db=header)
    if len(raw) != _PROGRESS.size + SUM.size or crc32(raw) != INTACT:
        raise HistoryDamaged("its watermarks have another checksum than when they were written")
    return Watermarks(*_PROGRESS.unpack_from(raw))


def write_watermarks(transaction: LmdbTransaction, tables: Tables, watermarks: Watermarks) -> None:
    progress = _PROGRESS.pack(*watermarks)
    transaction.put(_FORMAT_KEY, FORMAT, db=tables.header)
    transaction.put(_PROGRESS_KEY, progress + SUM.pack(crc32(progress)), db=tables.header)


def pieces_at(transaction: LmdbTransaction, tables: Tables, block: int, watermarks: Watermarks) -> list[Piece]:
    """The pieces of a block, in order; none if nothing of it is recorded, `HistoryDamaged` if one is missing."""
    found: list[Piece] = []
    cursor = transaction.cursor(tables.operations)
    if cursor.set_key(PIECE_KEY.pack(block, 0)):
        for key, raw in cursor.iternext():  # faster than to look for each; large blocks have many
            if key != PIECE_KEY.pack(block, len(found)):
                break
            found.append(Piece(raw, block, len(found)))
            if not found[-1].is_continued:
                return found
    if found:
        raise missing(block)
    block_behind(transaction, tables, block - 1, watermarks)  # it would be named there
    return found


def kinds_at(transaction: LmdbTransaction, tables: Tables, block: int, watermarks: Watermarks) -> list[KindCount]:
    """How many operations of each kind a block has, with the same errors."""
    cursor = transaction.cursor(tables.operations)
    if not cursor.set_key(PIECE_KEY.pack(block, 0)):
        block_behind(transaction, tables, block - 1, watermarks)  # it would be named there
        return []
    rows, is_whole = stored_rows(cursor.iternext(), block)
    if not is_whole:
        raise missing(block)
    return counted_kinds(rows)


def missing(block: int) -> HistoryDamaged:
    return HistoryDamaged(f"operations of block {block} are missing")


def transaction_entry(transaction: TransactionId, block: int) -> tuple[bytes, bytes]:
    """Key and value of a transaction: a part of its id, and the block. A reader checks the whole id."""
    return transaction[:1], _PLACE.pack(transaction[1:3], block)


def possible_blocks(transaction: LmdbTransaction, tables: Tables, wanted: TransactionId) -> list[int]:
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


def block_behind(transaction: LmdbTransaction, tables: Tables, number: int, watermarks: Watermarks) -> int | None:
    """The next block with recorded operations; `HistoryDamaged` if it, or one that it says was before, is missing."""
    cursor, known = transaction.cursor(tables.operations), max(number, watermarks.forgotten)
    if not cursor.set_range(PIECE_KEY.pack(number + 1, 0)):
        if watermarks.last > known:
            raise missing(watermarks.last)
        return None
    block, place = PIECE_KEY.unpack(cursor.key())
    require_first(Piece(cursor.value(), block, place), place, known)
    found: int = block
    return found


def require_first(piece: Piece, place: int, before: int) -> None:
    if place:
        raise missing(piece.block)
    if piece.previous > before:
        raise missing(piece.previous)


def first_block(transaction: LmdbTransaction, tables: Tables) -> int:
    """The block of the first piece; zero if there is none."""
    cursor = transaction.cursor(tables.operations)
    return PIECE_KEY.unpack(cursor.key())[0] if cursor.first() else 0


def last_block(transaction: LmdbTransaction, tables: Tables) -> int:
    """The block of the last piece; zero if there is none."""
    cursor = transaction.cursor(tables.operations)
    return PIECE_KEY.unpack(cursor.key())[0] if cursor.last() else 0
