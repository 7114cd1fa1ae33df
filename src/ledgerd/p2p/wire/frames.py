"""Frames: size, message number, payload, split from a byte stream (spec 04, section 2)."""

from __future__ import annotations

import struct
from typing import NamedTuple


class PeerFault(Exception):
    """A violation of the protocol by a peer."""


class FrameTooLarge(PeerFault):
    """A frame header announces too large a size; the address is banned for a while (spec 04, section 17.4)."""


class Undecodable(PeerFault):
    """A payload that cannot be decoded: the connection is closed, without a strike (spec 04, section 2)."""


class UnknownType(PeerFault):
    """A message of an unknown number: one strike, nothing else (spec 04, section 2)."""


MAX_PAYLOAD = 2_097_152
"""Bytes of the payload of a frame (spec 04, section 2)."""
HEADER = struct.Struct("<II")


class Frame(NamedTuple):
    """A message before its payload is decoded."""

    number: int
    payload: bytes


def pack_frame(number: int, payload: bytes) -> bytes:
    if len(payload) > MAX_PAYLOAD:
        raise ValueError(f"a payload of {len(payload)} bytes fits no frame")
    return HEADER.pack(len(payload), number) + payload


class FrameReader:
    """The receive buffer of one connection: it grows with received bytes, not with the size in a header."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.waiting_since: float | None = None

    def __len__(self) -> int:
        return len(self._buffer)

    def receive(self, data: bytes, now: float) -> None:
        if not self._buffer and data:
            self.waiting_since = now
        self._buffer += data

    def next_frame(self, now: float) -> Frame | None:
        """The next complete frame, or None. After `FrameTooLarge` nothing more can be read."""
        buffer = self._buffer
        if len(buffer) < HEADER.size:
            return None
        size, number = HEADER.unpack_from(buffer)
        if size > MAX_PAYLOAD:
            raise FrameTooLarge(f"a frame of {size} bytes")
        end = HEADER.size + size
        if len(buffer) < end:
            return None
        payload = bytes(memoryview(buffer)[HEADER.size : end])
        del buffer[:end]
        self.waiting_since = now if buffer else None
        return Frame(number, payload)

    @property
    def next_number(self) -> int | None:
        """The number of the message in the next frame, if it has arrived whole or is too large."""
        if len(self._buffer) < HEADER.size:
            return None
        size, number = HEADER.unpack_from(self._buffer)
        return int(number) if size > MAX_PAYLOAD or len(self._buffer) >= HEADER.size + size else None

    def clear(self) -> None:
        self._buffer.clear()
        self.waiting_since = None
