"""The operations of rows, from the bytes of their blocks: decoded, or as JSON text for clients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from zlib import crc32

from ledgerd.codec import codec_of, record_kind
from ledgerd.codec.errors import DecodeError
from ledgerd.codec.kinds import Reading
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.pieces import LATE, NO_SUM, PLACE, VIRTUAL, OperationRow, Piece, most_bytes, stored_size, sum_of
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.time_text import time_text

OTHER_BYTES = "its bytes in the block log are not those that were recorded"

Transcriber = Callable[[bytes, int, Reading], tuple[str, int]]


class BlockPart:
    """A part of the bytes of a block."""

    __slots__ = ("begin", "data", "number")

    def __init__(self, number: int, data: bytes = b"", begin: int = 0) -> None:
        self.number = number
        self.data = data
        self.begin = begin

    def operation(self, piece: Piece, row: OperationRow) -> Operation:
        """An operation."""
        place = row[3]
        if place & VIRTUAL:
            data, where = piece.raw, piece.virtual(place)[1]
        else:
            data, where = self.data, (place & PLACE) - self.begin
        try:
            found, end = codec_of(Operation).decode_from(data, where)
        except DecodeError as problem:
            raise self.damaged(where, str(problem)) from problem
        if stored_size(end - where) != row[4]:
            raise self.damaged(where, f"it has {end - where} bytes")
        if data is self.data and row[5] != NO_SUM and sum_of(data[where:end]) != row[5]:
            raise self.damaged(where, OTHER_BYTES)
        return found

    def damaged(self, where: int, problem: str) -> HistoryDamaged:
        """The error for an operation that does not match its row."""
        return HistoryDamaged(f"the operation at {self.begin + where} of block {self.number} cannot be read: {problem}")


def shown(parts: Iterable[tuple[BlockPart, Piece, Sequence[OperationRow]]]) -> list[str]:
    """The JSON text of operations for clients (spec 05, section 12.3), each a `RecordedOperation`.

    Most of the time of a request is spent here, so the code repeats no work and calls few functions.
    """
    transcribers, reading = _transcribers(), Reading()
    found: list[str] = []
    for bytes_, piece, rows in parts:
        own, begin, length = bytes_.data, bytes_.begin, len(bytes_.data)
        last_owner, opening, early, late = -1, "", "", ""
        for tag, owner, number, place, size, known in rows:
            if owner != last_owner:
                last_owner, opening = owner, piece.owner_text(owner, bytes_.number)
            if place >= LATE:
                time = late = late or _time_member(piece.late)
            else:
                time = early = early or _time_member(piece.early)
            data, virtual, where = own, 0, (place & PLACE) - begin
            if place & VIRTUAL:
                data = piece.raw
                virtual, where = piece.virtual(place)
            name, transcribe = transcribers[tag]
            try:
                text, end = transcribe(data, where + 1, reading)  # after the tag, which has one byte
            except DecodeError as problem:
                raise bytes_.damaged(where, str(problem)) from problem
            if end - where != size and stored_size(end - where) != size:
                raise bytes_.damaged(where, f"it has {end - where} bytes")
            if data is own and crc32(data[where:end]) & 0xFFFF != known and (known != NO_SUM or end > length):
                raise bytes_.damaged(where, OTHER_BYTES)
            found.append(f'{opening}{number},"virtual_op":{virtual}{time}{name}",{text}]}}')
    return found


def extent(rows: Sequence[OperationRow]) -> tuple[int, int]:
    """The range of some operations in the bytes of their block; empty if all are virtual."""
    if (rows[0][3] | rows[-1][3]) & VIRTUAL:
        rows = [row for row in rows if not row[3] & VIRTUAL]
    return (rows[0][3] & PLACE, (rows[-1][3] & PLACE) + most_bytes(rows[-1][4])) if rows else (0, 0)


@cache
def _transcribers() -> list[tuple[str, Transcriber]]:
    """Name and transcriber of each operation, by its tag."""
    return [(name_of(each), record_kind(each).transcriber) for each in OPERATIONS]


def _time_member(time: int) -> str:
    return f',"timestamp":"{time_text(time)}","op":["'
