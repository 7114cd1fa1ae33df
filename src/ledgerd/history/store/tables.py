"""The tables of the embedded history, and its watermarks."""

from __future__ import annotations

import struct
from typing import NamedTuple
from zlib import crc32

import lmdb

from ledgerd.basics.formats import Format, newer_format
from ledgerd.history.errors import HistoryDamaged, HistoryNewer
from ledgerd.history.store.checksums import INTACT, SUM
from ledgerd.history.store.pieces import Piece
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.state.files.disk import Database, LmdbTransaction

HISTORY = Format("ledgerd history", 5, "1.0.0")
"""Stands in the header; a history of an older format is converted where steps lead from it, else begun anew."""
OTHER_VERSION = "it was written by another version of this program"

_FORMAT_KEY, _OPENED_BY_KEY = b"format", b"opened by"
_PROGRESS_KEY = b"progress"
_PROGRESS = struct.Struct("<5I")
TRANSACTION_VALUE = struct.Struct(">2sI")


class Tables(NamedTuple):
    """The handles."""

    header: Database
    operations: Database
    blocks: Database
    """Bytes of blocks that are not in the log yet, by number."""
    transactions: Database
    """The blocks of transactions, sorted, under the first byte of their ids."""
    ranges: Database
    chunks: Database
    missed: Database
    balances: Database
    images: Database
    changed: Database

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
    irreversible: int = 0
    purged: int = 0
    """The last block whose operations have gone from the histories of accounts."""
    last: int = 0
    forgotten: int = 0

    def cut(self, number: int, last: int) -> Watermarks:
        return Watermarks(*(min(each, number) for each in self))._replace(last=last)


def read_watermarks(transaction: LmdbTransaction, tables: Tables) -> Watermarks | None:
    """`None` in a new history; `HistoryDamaged` if they are not those that were stored, or of another version."""
    found, header = transaction.get(_FORMAT_KEY, db=tables.header), tables.header
    if found is None:
        if transaction.stat(header)["entries"]:
            raise HistoryDamaged("its header has no format")
        return None
    opened_by = transaction.get(_OPENED_BY_KEY, b"", db=header).decode("ascii", "replace")
    if HISTORY.is_newer(found):
        raise HistoryNewer(newer_format("the history", HISTORY.number_in(found) or 0, HISTORY.number, opened_by))
    if found != HISTORY.text:
        raise HistoryDamaged(OTHER_VERSION)
    if opened_by != HISTORY.opened_by:
        raise HistoryDamaged("its header names another version of the program than when it was written")
    raw = transaction.get(_PROGRESS_KEY, b"", db=header)
    if len(raw) != _PROGRESS.size + SUM.size or crc32(raw) != INTACT:
        raise HistoryDamaged("its watermarks have another checksum than when they were written")
    return Watermarks(*_PROGRESS.unpack_from(raw))


def write_watermarks(transaction: LmdbTransaction, tables: Tables, watermarks: Watermarks) -> None:
    progress = _PROGRESS.pack(*watermarks)
    transaction.put(_FORMAT_KEY, HISTORY.text, db=tables.header)
    transaction.put(_OPENED_BY_KEY, HISTORY.opened_by.encode(), db=tables.header)
    transaction.put(_PROGRESS_KEY, progress + SUM.pack(crc32(progress)), db=tables.header)


def missing(block: int) -> HistoryDamaged:
    return HistoryDamaged(f"operations of block {block} are missing")


def transaction_entry(transaction: TransactionId, block: int) -> tuple[bytes, bytes]:
    """Key and value of a transaction: a part of its id, and the block. A reader checks the whole id."""
    return transaction[:1], TRANSACTION_VALUE.pack(transaction[1:3], block)


def require_first(piece: Piece, place: int, before: int) -> None:
    if place:
        raise missing(piece.block)
    if piece.previous > before:
        raise missing(piece.previous)
