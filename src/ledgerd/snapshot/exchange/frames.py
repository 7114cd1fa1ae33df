"""The frames of the snapshot protocol: a length, a type and a payload, all little endian (spec 06, section 14.1)."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Annotated

from ledgerd.codec import DecodeError, codec_of
from ledgerd.codec.types.numbered import NumberedRecord, by_number
from ledgerd.codec.types.numbers import UInt32, UInt64
from ledgerd.codec.types.strings import FixedBytes
from ledgerd.codec.types.varint import pack_varint
from ledgerd.protocol.types.identifiers import BlockId

HEADER = struct.Struct("<II")

MAX_REQUEST = 262_144
"""Bytes of payload that a server reads (spec 06, section 14.2)."""


class ProtocolFault(Exception):
    """The peer violated the protocol."""


class Denial(IntEnum):
    """The reason why a client is not served."""

    UNTRUSTED = 1
    FULL = 2
    TOO_MANY_SESSIONS = 3
    TOO_OFTEN = 4


class SnapshotMessage(NumberedRecord, frozen=True):
    """A message, with its fields in the order of the wire; its number is its type."""


class InfoRequest(SnapshotMessage, frozen=True, tag=1):
    """Asks for the newest snapshot."""


class InfoReply(SnapshotMessage, frozen=True, tag=2):
    """The snapshot that is served."""

    number: UInt32
    block_id: BlockId
    """`NO_BLOCK`: no implementation sets it."""
    checksum: Annotated[bytes, FixedBytes(32, "checksum")]
    """The checksum of the file, not of the state in it."""
    size: UInt64


class DataRequest(SnapshotMessage, frozen=True, tag=3):
    """Asks for a part of the file."""

    number: UInt32
    offset: UInt64
    size: UInt32


class DataReply(SnapshotMessage, frozen=True, tag=4):
    """A part of the file."""

    offset: UInt64
    part: bytes
    is_last: bool


class NoSnapshot(SnapshotMessage, frozen=True, tag=5):
    """There is no snapshot."""


class AccessDenied(SnapshotMessage, frozen=True, tag=6):
    """The client is not served."""

    reason: UInt32
    """A `Denial`, or a number that a later version may send."""

    @property
    def text(self) -> str:
        return _REASONS.get(self.reason, f"reason {self.reason}")


_REASONS: dict[int, str] = {
    Denial.UNTRUSTED: "it serves addresses that it trusts alone",
    Denial.FULL: "it serves as many as it can",
    Denial.TOO_MANY_SESSIONS: "too many sessions from this address",
    Denial.TOO_OFTEN: "too many connections from this address within an hour",
}

MESSAGES = by_number(SnapshotMessage)


def packed(message: SnapshotMessage) -> bytes:
    payload = codec_of(type(message)).encode(message)
    return HEADER.pack(len(payload), message.NUMBER) + payload


def part_head(offset: int, size: int) -> bytes:
    """The frame of a `DataReply` up to its bytes of the file; they follow, and a byte for whether they are the last."""
    opening = codec_of(UInt64).encode(offset) + pack_varint(size)
    return HEADER.pack(len(opening) + size + 1, DataReply.NUMBER) + opening


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
        kind = MESSAGES.get(number)
        if kind is None:
            raise ProtocolFault(f"a frame of unknown type {number}")
        end = HEADER.size + size
        if len(self._buffer) < end:
            return None
        payload = bytes(self._buffer[HEADER.size : end])
        del self._buffer[:end]
        try:
            return codec_of(kind).decode(payload)
        except DecodeError as problem:
            raise ProtocolFault(f"a frame of type {number} that cannot be read: {problem}") from problem
