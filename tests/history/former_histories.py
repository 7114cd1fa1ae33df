"""Histories as earlier versions wrote them: made of one of today, and recorded ones.

Format 2 has no checksums. Format 3 has one of each operation, chunk and piece, or from some block on.
"""

from __future__ import annotations

import json
import lzma
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

import lmdb

from ledgerd.chain.chain import STATE_FOLDER
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.codec import codec_of
from ledgerd.history.pieces import PIECE_KEY, PLACE, VIRTUAL, Piece
from ledgerd.history.tables import BLOCK_KEY, Tables, Watermarks, piece_of, read_watermarks
from ledgerd.protocol.operations import Operation
from ledgerd.state.disk import MAX_DATABASES, LmdbTransaction
from tests.history.histories import HISTORY_FOLDER
from tests.history.made_blocks import Plan

RECORDED = Path(__file__).parent / "former"

RECORDED_PLANS: list[Plan] = [
    [[number * 7 + at + place for at in range(1 + (number + place) % 3)] for place in range((number * 5) % 13)]
    for number in range(1, 15)
]
"""The blocks of the recorded histories; the first ten are irreversible."""
RECORDED_IRREVERSIBLE = 10

HEAD, ROW, ROW_WITH_SUM = struct.Struct("<BBII"), struct.Struct("<BBHIH"), struct.Struct("<BBHIHH")
LARGE, PAGE_BITS = 1 << 15, 12


@contextmanager
def written(folder: Path) -> Iterator[tuple[LmdbTransaction, Tables]]:
    """The tables of the history in a folder, to be changed by hand; they are made where they are missing."""
    path = folder / HISTORY_FOLDER
    path.mkdir(parents=True, exist_ok=True)
    with (
        lmdb.Environment(str(path), max_dbs=MAX_DATABASES, map_size=1 << 28) as environment,
        environment.begin(write=True) as transaction,
    ):
        yield transaction, Tables.open(environment, transaction, create=True)


def restore_recorded(folder: Path, number: int) -> None:
    """Write the recorded history of a format, entry by entry."""
    dump = json.loads(lzma.decompress((RECORDED / f"format-{number}.json.xz").read_bytes()))
    with written(folder) as (transaction, tables):
        for name, entries in dump.items():
            for key, value in entries:
                transaction.put(bytes.fromhex(key), bytes.fromhex(value), db=getattr(tables, name))


def make_format_2(folder: Path) -> None:
    """Take all checksums out of a history."""
    _make_former(folder, b"ledgerd history 2", lambda _: False)


def make_format_3(folder: Path, sums_from: int = 0) -> None:
    """Give a history the checksums that format 3 had, from a block on."""
    _make_former(folder, b"ledgerd history 3", lambda block: block >= sums_from)
    with written(folder) as (transaction, tables):
        transaction.put(b"sums", BLOCK_KEY.pack(sums_from), db=tables.header)


def _make_former(folder: Path, name: bytes, has_sums: Callable[[int], bool]) -> None:
    log = BlockLogReader.open(folder / STATE_FOLDER)
    with written(folder) as (transaction, tables):
        watermarks = read_watermarks(transaction, tables) or Watermarks()
        for key, raw in [*transaction.cursor(tables.operations)]:
            block, place = PIECE_KEY.unpack(key)
            packed = transaction.get(BLOCK_KEY.pack(block), db=tables.blocks) or log.read(block) or b""
            piece = former_piece(piece_of(raw, block, place, watermarks), packed, has_sums=has_sums(block))
            transaction.put(key, piece, db=tables.operations)
        for key, raw in [*transaction.cursor(tables.ranges)]:
            transaction.put(key, raw[:8], db=tables.ranges)
        for key, raw in [*transaction.cursor(tables.chunks)]:
            chunk = raw[: len(raw) // 7 * 7]
            summed = chunk + crc32(chunk).to_bytes(4, "little")
            transaction.put(key, summed if name.endswith(b"3") else chunk, db=tables.chunks)
        transaction.put(b"format", name, db=tables.header)
        transaction.put(b"progress", struct.pack("<III", *watermarks[:3]), db=tables.header)
        transaction.delete(b"sums", db=tables.header)
    log.close()


def former_piece(piece: Piece, packed: bytes, *, has_sums: bool) -> bytes:
    """A piece as it was stored, of a block with these bytes."""
    rows, tail, transactions = b"", b"", piece.transactions()
    for tag, owner, number, place in piece.rows():
        data, where = packed, place & PLACE
        if place & VIRTUAL:
            data, where = piece.raw, piece.virtual(place)[1]
        end = codec_of(Operation).decode_from(data, where)[1]
        if place & VIRTUAL:
            tail += data[where - 4 : end]  # with its virtual number
        size = end - where if end - where < LARGE else LARGE | (end - where) >> PAGE_BITS
        checksum = 0 if place & VIRTUAL else crc32(data[where:end]) & 0xFFFF
        row = (tag, owner, number, place, size)
        rows += ROW_WITH_SUM.pack(*row, checksum) if has_sums else ROW.pack(*row)
    head = HEAD.pack(piece.count, len(transactions), piece.early, piece.late)
    owners = b"".join(struct.pack("<H20s", *each) for each in transactions)
    raw = head + owners + rows + tail
    return raw + crc32(raw).to_bytes(4, "little") if has_sums else raw
