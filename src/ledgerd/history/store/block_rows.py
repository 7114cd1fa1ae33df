"""The operations of rows, from the bytes of their blocks: decoded, or as JSON text for clients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ledgerd.codec import codec_of, record_kind
from ledgerd.codec.errors import DecodeError
from ledgerd.codec.kinds import Reading
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.store.pieces import LATE, NO_OWNER, PLACE, VIRTUAL, OperationRow, Piece
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.types.time_text import time_text

Transcriber = Callable[..., tuple[str, int]]


class BlockPart:
    """A part of the bytes of a block. What is read of it was compared with the checksum of its piece before."""

    __slots__ = ("begin", "data", "number")

    def __init__(self, number: int, data: bytes = b"") -> None:
        self.number = number
        self.data = data
        self.begin = 0

    def operations(self, piece: Piece, rows: Sequence[OperationRow]) -> list[Operation]:
        if any(not row[3] & VIRTUAL for row in rows):
            piece.require_sound(self.data, self.begin)
        return [self.operation(piece, row) for row in rows]

    def operation(self, piece: Piece, row: OperationRow) -> Operation:
        return self.operation_with_bytes(piece, row)[0]

    def operation_with_bytes(self, piece: Piece, row: OperationRow) -> tuple[Operation, bytes]:
        place = row[3]
        if place & VIRTUAL:
            data, where = piece.raw, piece.virtual(place)[1]
        else:
            data, where = self.data, (place & PLACE) - self.begin
        try:
            found, end = codec_of(Operation).decode_from(data, where)
        except DecodeError as problem:
            raise self.damaged(where, str(problem)) from problem
        return found, data[where:end]

    def damaged(self, where: int, problem: str) -> HistoryDamaged:
        return HistoryDamaged(f"the operation at {self.begin + where} of block {self.number} cannot be read: {problem}")


def shown(parts: Iterable[tuple[BlockPart, Piece, Sequence[OperationRow]]]) -> list[str]:
    """The JSON text of operations for clients (spec 05, section 12.3), each a `RecordedOperation`. Most of the time of
    a request is spent here, so the code repeats no work and calls few functions.
    """
    transcribers, reading = TRANSCRIBERS, Reading()
    found: list[str] = []
    for bytes_, piece, rows in parts:
        block, begin, first_owner = bytes_.data, bytes_.begin, rows[0][1]
        openings = piece.openings(first_owner, rows[-1][1])
        usual = members_of(0, 0, piece.early)
        for tag, owner, number, place in rows:
            if place <= PLACE:
                data, where, opening = block, place - begin, openings[owner - first_owner]
                members = members_of(number, 0, piece.early) if number else usual
            else:
                data, where, virtual = block, (place & PLACE) - begin, 0
                opening = openings[owner - first_owner] if owner != NO_OWNER else piece.opening_of_nobody()
                if place & VIRTUAL:
                    data = piece.raw
                    virtual, where = piece.virtual(place)
                members = members_of(number, virtual, piece.late if place >= LATE else piece.early)
            try:
                text, _ = transcribers[tag](data, where + 1, reading, opening, members)  # after the tag's one byte
            except DecodeError:
                try:
                    text = without_fields(data, where, opening, members)
                except DecodeError as problem:
                    raise bytes_.damaged(where, str(problem)) from problem
            found.append(text)
    return found


def without_fields(data: bytes, where: int, opening: str, members: str) -> str:
    """An operation that cannot be printed is shown without its fields, so that those around it are.

    An amount has a form as text for most symbols only, and a price of a subscription may have any (spec 02, sections
    13.1 and 13.2). `DecodeError` for bytes that are no operation.
    """
    operation, _ = codec_of(Operation).decode_from(data, where)
    return f'{opening}{members}{name_of(type(operation))}",{{}}]}}'


def members_of(number: int, virtual: int, time: int) -> str:
    """The text between the opening and the operation: the rest of its numbers and its time."""
    return f'{number},"virtual_op":{virtual},"timestamp":"{time_text(time)}","op":["'


class Transcribers(dict[int, Transcriber]):
    """The transcriber of each operation within a `RecordedOperation`, by its tag: compiled when it is first needed."""

    def __missing__(self, tag: int) -> Transcriber:
        kind = OPERATIONS[tag]
        opening = f'{{opening}}{{members}}{name_of(kind)}",'
        made = self[tag] = record_kind(kind).framed_transcriber(opening, "]}}", ("opening", "members"))
        return made


TRANSCRIBERS = Transcribers()
