"""Frames: size, message number, payload; bytes in any pieces become whole frames, one at a time (spec 04, section 2).

What a payload means is no matter here.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from ledgerd.p2p.wire.faults import FrameTooLarge

MAX_PAYLOAD = 2_097_152
HEADER = struct.Struct("<II")


class Frame(NamedTuple):
    """One message as it came."""

    number: int
    payload: bytes


def pack_frame(number: int, payload: bytes) -> bytes:
    """A frame to be sent: nobody would accept a larger payload."""
    if len(payload) > MAX_PAYLOAD:
        raise ValueError(f"a payload of {len(payload)} bytes fits no frame")
    return HEADER.pack(len(payload), number) + payload


class FrameReader:
    """Collects the bytes of one connection.

    Space is taken as bytes arrive, never for what a header merely claims; whoever takes the frames out after each
    piece holds at most one unfinished frame.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.waiting_since: float | None = None
        """Since when the frame at the front is unfinished."""

    def __len__(self) -> int:
        return len(self._buffer)

    def receive(self, data: bytes, now: float) -> None:
        """Take the next piece."""
        if not self._buffer and data:
            self.waiting_since = now
        self._buffer += data

    def next_frame(self, now: float) -> Frame | None:
        """The next whole frame, if it is there.

        Raises:
            FrameTooLarge: Nothing that follows can be read any more.
        """
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

    def clear(self) -> None:
        """Drop what is left of a connection that has ended."""
        self._buffer.clear()
        self.waiting_since = None
