"""The bytes of changes: the record of one commit, as it is in the log of changes and on its way to a copy of the state.

A record is a head and parts. Each of these is a frame: its kind, its length, a checksum and a body of bounded size.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple
from zlib import crc32

import msgspec

from ledgerd.basics.framing.frames import FrameFault
from ledgerd.state.files.recording import ChangedEntries, FileChanges

FRAME = struct.Struct(">IBI")
"""What stands before a body: the length of what follows, as in any frame, a kind, and the checksum of the body."""
_BEFORE_BODY = struct.Struct(">BI")

MOST_FRAME = 8 << 20
"""Bytes of a frame. The largest value of a state is a block; parts are made so that they hold many entries or one."""

PART_ENTRIES = 1024
PART_BYTES = 256 << 10
ENTRY_BYTES = 8
"""What an entry takes besides its key and value, about."""

POSITION = struct.Struct(">8sQ")
"""A run of the writer and the number of a commit: no two commits of a state ever have the same."""

_HEAD = struct.Struct(f">{POSITION.size}s{POSITION.size}sQQ")

_encoder = msgspec.msgpack.Encoder()
_encode, _encode_into = _encoder.encode, _encoder.encode_into
_decode_part = msgspec.msgpack.Decoder(FileChanges).decode


class ChangeFault(FrameFault):
    """Bytes that are no frame, or no body of their kind."""


class RecordFrame(IntEnum):
    """The frames of a record."""

    HEAD = 1
    PART = 2


class RecordHead(NamedTuple):
    """What stands before the changes of a commit."""

    before: bytes
    """The position that the changes are to be applied at."""
    after: bytes
    revision: int
    """The number of the head block after it."""
    size: int
    """Bytes of the frames that follow."""

    @property
    def packed(self) -> bytes:
        return framed(RecordFrame.HEAD, _HEAD.pack(*self))


def framed(kind: int, body: bytes) -> bytes:
    return FRAME.pack(_BEFORE_BODY.size + len(body), kind, crc32(body)) + body


def opened(frame: bytes) -> tuple[int, bytes]:
    """The kind and the body of a frame. `ChangeFault`: it is not as it was written."""
    if len(frame) < _BEFORE_BODY.size:
        raise ChangeFault(f"a frame of {len(frame)} bytes")
    (kind, checksum), body = _BEFORE_BODY.unpack_from(frame), frame[_BEFORE_BODY.size :]
    if crc32(body) != checksum:
        raise ChangeFault(f"a frame of kind {kind} whose {len(body)} bytes are not those that were written")
    return kind, body


def read_head(body: bytes) -> RecordHead:
    if len(body) != _HEAD.size:
        raise ChangeFault(f"the head of a record with {len(body)} bytes")
    return RecordHead(*_HEAD.unpack(body))


def read_part(body: bytes) -> FileChanges:
    try:
        return _decode_part(body)
    except msgspec.MsgspecError as fault:
        raise ChangeFault(f"a part of a record that cannot be read: {fault}") from fault


def put_small_part(changes: FileChanges, buffer: bytearray, offset: int) -> bool:
    """Put the frame of what a commit has changed into a buffer, which ends with it; whether it fits into one frame.

    Most commits do, so their bytes are made where they are written from.
    """
    if sum(map(len, changes.values())) > PART_ENTRIES:
        return False
    start = offset + FRAME.size
    _encode_into(dict(changes), buffer, start)
    length = len(buffer) - start
    if length > PART_BYTES:
        return False
    with memoryview(buffer) as view:
        FRAME.pack_into(view, offset, _BEFORE_BODY.size + length, RecordFrame.PART, crc32(view[start:]))
    return True


def parts_of(changes: FileChanges) -> Iterator[bytes]:
    """The frames of what a commit has changed: small ones, so that nobody needs memory for all of it."""
    for number, entries in changes.items():
        part: ChangedEntries = {}
        size = 0
        for key, value in entries.items():
            part[key] = value
            size += len(key) + len(value or b"") + ENTRY_BYTES
            if size >= PART_BYTES:
                yield framed(RecordFrame.PART, _encode({number: part}))
                part, size = {}, 0
        if part:
            yield framed(RecordFrame.PART, _encode({number: part}))
