"""The operations of rows, from the bytes of their blocks: as values for who looks into them, as texts for clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from ledgerd.chain.events import AFTER_TRANSACTIONS, NO_TRANSACTION
from ledgerd.codec import codec_of, record_kind
from ledgerd.codec.errors import DecodeError
from ledgerd.codec.kinds import Reading
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.pieces import LATE, NO_OWNER, PLACE, VIRTUAL, Piece, Row, most_bytes, stored_size
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.time_text import time_text

Transcriber = Callable[[bytes, int, Reading], tuple[str, int]]


class BlockPart:
    """Some of the bytes of a block, from a place on."""

    __slots__ = ("begin", "data", "number")

    def __init__(self, number: int, data: bytes = b"", begin: int = 0) -> None:
        self.number = number
        self.data = data
        self.begin = begin

    def operation(self, piece: Piece, row: Row) -> Operation:
        """An operation."""
        place = row[3]
        if place & VIRTUAL:
            data, where = piece.raw, piece.virtual(place)[1]
        else:
            data, where = self.data, (place & PLACE) - self.begin
        try:
            found, end = codec_of(Operation).decode_from(data, where)
        except DecodeError as problem:
            raise self._damaged(where, str(problem)) from problem
        if stored_size(end - where) != row[4]:
            raise self._damaged(where, f"it has {end - where} bytes")
        return found

    def shown(self, piece: Piece, rows: Sequence[Row]) -> list[str]:
        """What clients are shown of operations (spec 05, section 12.3): the text of each `RecordedOperation`."""
        openings, transcribers, reading = _openings(piece, self.number), _transcribers(), Reading()
        early, late = (f',"timestamp":"{time_text(each)}","op":["' for each in piece.times)
        own, begin, length, found = self.data, self.begin, len(self.data), []
        for tag, owner, number, place, size in rows:
            name, transcribe = transcribers[tag]
            if place & VIRTUAL:
                data = piece.raw
                virtual, where = piece.virtual(place)
            else:
                data, virtual, where = own, 0, (place & PLACE) - begin
            try:
                text, end = transcribe(data, where + 1, reading)  # behind the tag, which takes one byte
            except DecodeError as problem:
                raise self._damaged(where, str(problem)) from problem
            if end - where != size and stored_size(end - where) != size:
                raise self._damaged(where, f"it has {end - where} bytes")
            if end > length and data is own:
                raise self._damaged(where, "its bytes are not in the log")
            time = late if place >= LATE else early
            found.append(f'{openings[owner]}{number},"virtual_op":{virtual}{time}{name}",{text}]}}')
        return found

    def _damaged(self, where: int, problem: str) -> HistoryDamaged:
        return HistoryDamaged(f"the operation at {self.begin + where} of block {self.number} cannot be read: {problem}")


def extent(rows: Sequence[Row]) -> tuple[int, int]:
    """From where to where in the bytes of their block some operations stand; nowhere when all are virtual."""
    first = next((row[3] & PLACE for row in rows if not row[3] & VIRTUAL), 0)
    last = next(((row[3] & PLACE) + most_bytes(row[4]) for row in reversed(rows) if not row[3] & VIRTUAL), 0)
    return first, last


@cache
def _transcribers() -> list[tuple[str, Transcriber]]:
    """Name and transcriber of each operation, by its tag."""
    return [(name_of(each), record_kind(each).transcriber) for each in OPERATIONS]


def _openings(piece: Piece, block: int) -> dict[int, str]:
    """How the texts of each transaction's operations begin."""
    opened = {
        owner: f'{{"trx_id":"{identifier.hex()}","block":{block},"trx_in_block":{number},"op_in_trx":'
        for owner, (number, identifier) in enumerate(piece.transactions())
    }
    opened[NO_OWNER] = (
        f'{{"trx_id":"{NO_TRANSACTION.hex()}","block":{block},"trx_in_block":{AFTER_TRANSACTIONS},"op_in_trx":'
    )
    return opened
