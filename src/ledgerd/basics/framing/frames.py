"""Frames on our own sockets and pipes: a length of four bytes, the most significant first, and so many bytes.

Who reads them names the most bytes that a frame may have. Peers and snapshots have frames of their own, which are law.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import StreamReader

LENGTH = struct.Struct(">I")
READ_AT_ONCE = 1 << 18
"""Bytes that are read at once."""


class FrameFault(Exception):
    """Bytes that are no frame, or not what should stand in one: the connection cannot go on."""


class CutOff(FrameFault):
    """The bytes end within a frame."""


def framed(body: bytes) -> bytes:
    return LENGTH.pack(len(body)) + body


class FrameBuffer:
    """Puts frames together from whatever pieces they come in."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting = bytearray()

    def add(self, data: bytes) -> None:
        self._waiting += data

    @property
    def missing(self) -> int:
        """Bytes that the next frame lacks, as far as is known; 0 if it is whole. `FrameFault`: it is too large."""
        size = LENGTH.size
        if len(self._waiting) >= size:
            length = self._length()
            if length > self._most:
                raise FrameFault(f"a frame of {length} bytes, where {self._most} are the most")
            size += length
        return max(0, size - len(self._waiting))

    def next(self) -> bytes:
        """Take the next frame off, which must be whole."""
        end = LENGTH.size + self._length()
        frame = bytes(memoryview(self._waiting)[LENGTH.size : end])
        del self._waiting[:end]
        return frame

    def frames_in(self, data: bytes) -> Iterator[bytes]:
        self.add(data)
        while not self.missing:
            yield self.next()

    def end(self) -> None:
        """No more bytes come. `CutOff`: a frame has begun."""
        if self._waiting:
            raise CutOff(f"a frame that ends after {len(self._waiting)} bytes")

    def _length(self) -> int:
        return int(LENGTH.unpack_from(self._waiting)[0])


def read_frame(read: Callable[[int], bytes], most: int, begun: bytes = b"") -> bytes | None:
    """The next frame of what blocks until there are bytes, at most as many as are asked for; None if it ends.
    `FrameFault`: it is too large, or cut off.
    """
    frames = FrameBuffer(most)
    frames.add(begun)
    while missing := frames.missing:
        data = read(min(missing, READ_AT_ONCE))
        if not data:
            frames.end()
            return None
        frames.add(data)
    return frames.next()


async def read_frame_of(stream: StreamReader, most: int) -> bytes | None:
    """Read a frame as `read_frame` does, from a stream of the event loop."""
    frames = FrameBuffer(most)
    while missing := frames.missing:
        data = await stream.read(min(missing, READ_AT_ONCE))
        if not data:
            frames.end()
            return None
        frames.add(data)
    return frames.next()
