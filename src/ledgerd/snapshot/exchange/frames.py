"""The frames of the snapshot protocol: a length, a type and a payload, all little endian (spec 06, section 14.1)."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Any, ClassVar, Self

import msgspec

from ledgerd.codec.errors import DecodeError
from ledgerd.codec.kinds import Reading
from ledgerd.codec.types.varint import pack_varint, read_varint

HEADER = struct.Struct("<II")
NOTHING = bytes(20)
"""The field of a block id, which no implementation sets."""

LARGEST_REQUEST = 262_144
"""Bytes of payload that a server reads (spec 06, section 14.2)."""

_INFO = struct.Struct("<I20s32sQ")
_REQUEST = struct.Struct("<IQI")
_OFFSET = struct.Struct("<Q")
_REASON = struct.Struct("<I")


class ProtocolFault(Exception):
    """The peer violated the protocol."""


class Denial(IntEnum):
    """The reason why a client is not served."""

    UNTRUSTED = 1
    FULL = 2
    TOO_MANY_SESSIONS = 3
    TOO_OFTEN = 4


class EmptyMessage(msgspec.Struct, frozen=True):
    """A message without a payload."""

    def payload(self) -> bytes:
        return b""

    @classmethod
    def parse(cls, _payload: bytes) -> Self:
        return cls()


class InfoRequest(EmptyMessage, frozen=True):
    """Asks for the newest snapshot."""

    TYPE: ClassVar[int] = 1


class InfoReply(msgspec.Struct, frozen=True):
    """The snapshot that is served."""

    TYPE: ClassVar[int] = 2

    number: int
    checksum: bytes
    """The checksum of the file, not of the state in it."""
    size: int

    def payload(self) -> bytes:
        return _INFO.pack(self.number, NOTHING, self.checksum, self.size)

    @classmethod
    def parse(cls, payload: bytes) -> InfoReply:
        number, _, checksum, size = _unpacked(_INFO, payload)
        return cls(number, checksum, size)


class DataRequest(msgspec.Struct, frozen=True):
    """Asks for a part of the file."""

    TYPE: ClassVar[int] = 3

    number: int
    offset: int
    size: int

    def payload(self) -> bytes:
        return _REQUEST.pack(self.number, self.offset, self.size)

    @classmethod
    def parse(cls, payload: bytes) -> DataRequest:
        return cls(*_unpacked(_REQUEST, payload))


class DataReply(msgspec.Struct, frozen=True):
    """A part of the file."""

    TYPE: ClassVar[int] = 4

    offset: int
    part: bytes
    is_last: bool

    def payload(self) -> bytes:
        return _part_opening(self.offset, len(self.part)) + self.part + bytes([self.is_last])

    @classmethod
    def parse(cls, payload: bytes) -> DataReply:
        (offset,) = _unpacked(_OFFSET, payload)
        try:
            size, start = read_varint(payload, _OFFSET.size, Reading())
        except (DecodeError, IndexError) as problem:
            raise ProtocolFault("a part of the file without a length") from problem
        end = start + size
        if end >= len(payload) or payload[end] > 1:
            raise ProtocolFault(f"a part of {size} bytes does not fit its frame of {len(payload)}")
        return cls(offset, payload[start:end], payload[end] == 1)


class NoSnapshot(EmptyMessage, frozen=True):
    """There is no snapshot."""

    TYPE: ClassVar[int] = 5


class AccessDenied(msgspec.Struct, frozen=True):
    """The client is not served."""

    TYPE: ClassVar[int] = 6

    reason: int
    """A `Denial`, or a number that a later version may send."""

    def payload(self) -> bytes:
        return _REASON.pack(self.reason)

    @classmethod
    def parse(cls, payload: bytes) -> AccessDenied:
        return cls(*_unpacked(_REASON, payload))

    @property
    def text(self) -> str:
        return _REASONS.get(self.reason, f"reason {self.reason}")


_REASONS: dict[int, str] = {
    Denial.UNTRUSTED: "it serves addresses that it trusts alone",
    Denial.FULL: "it serves as many as it can",
    Denial.TOO_MANY_SESSIONS: "too many sessions from this address",
    Denial.TOO_OFTEN: "too many connections from this address within an hour",
}

SnapshotMessage = InfoRequest | InfoReply | DataRequest | DataReply | NoSnapshot | AccessDenied

KINDS: dict[int, type[SnapshotMessage]] = {
    kind.TYPE: kind for kind in (InfoRequest, InfoReply, DataRequest, DataReply, NoSnapshot, AccessDenied)
}


def packed(message: SnapshotMessage) -> bytes:
    payload = message.payload()
    return HEADER.pack(len(payload), message.TYPE) + payload


def part_head(offset: int, size: int) -> bytes:
    """The frame of a `DataReply` up to its bytes of the file; they follow, and a byte for whether they are the last."""
    opening = _part_opening(offset, size)
    return HEADER.pack(len(opening) + size + 1, DataReply.TYPE) + opening


def _part_opening(offset: int, size: int) -> bytes:
    return _OFFSET.pack(offset) + pack_varint(size)


class MessageReader:
    """Splits a byte stream into messages."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def next(self) -> SnapshotMessage | None:
        """`None` if no message is complete. Payload bytes after the last field are ignored, as by the reference."""
        if len(self._buffer) < HEADER.size:
            return None
        size, number = HEADER.unpack_from(self._buffer)
        if size > self._largest:
            raise ProtocolFault(f"a frame of {size} bytes, where {self._largest} are the most")
        kind = KINDS.get(number)
        if kind is None:
            raise ProtocolFault(f"a frame of unknown type {number}")
        end = HEADER.size + size
        if len(self._buffer) < end:
            return None
        payload = bytes(self._buffer[HEADER.size : end])
        del self._buffer[:end]
        return kind.parse(payload)


def _unpacked(form: struct.Struct, payload: bytes) -> tuple[Any, ...]:
    if len(payload) < form.size:
        raise ProtocolFault(f"a payload of {len(payload)} bytes, where {form.size} are needed")
    return form.unpack_from(payload)
