"""A connection whose bytes are frames, over a transport that is there only in memory."""

from __future__ import annotations

import asyncio
import struct

import pytest

from ledgerd.basics.framing.connection import FrameConnection
from ledgerd.basics.framing.frames import FrameFault, framed


class MemoryTransport(asyncio.Transport):
    """Remembers whether it was closed."""

    is_aborted = False

    def abort(self) -> None:
        self.is_aborted = True

    def is_closing(self) -> bool:
        return self.is_aborted


class Received(FrameConnection):
    """Keeps what it receives, and takes nothing that begins with `!`."""

    def __init__(self) -> None:
        super().__init__(5)
        self.frames: list[bytes] = []

    def receive(self, frame: bytes) -> None:
        if frame.startswith(b"!"):
            raise FrameFault("a frame that begins with !")
        self.frames.append(frame)


@pytest.fixture
def transport() -> MemoryTransport:
    return MemoryTransport()


@pytest.fixture
def connection(transport: MemoryTransport) -> Received:
    made = Received()
    made.connection_made(transport)
    return made


def test_frames_are_received_in_whatever_pieces_they_come(connection: Received) -> None:
    for byte in framed(b"one") + framed(b"") + framed(b"two"):
        connection.data_received(bytes([byte]))

    assert connection.frames == [b"one", b"", b"two"]
    assert connection.is_open


@pytest.mark.parametrize("data", [struct.pack(">I", 6), framed(b"!")])
def test_what_is_no_frame_or_not_taken_closes_the_connection(
    connection: Received, transport: MemoryTransport, data: bytes
) -> None:
    connection.data_received(framed(b"one") + data + framed(b"two"))

    assert connection.frames == [b"one"]
    assert transport.is_aborted
    assert not connection.is_open


def test_a_second_connection_begins_without_the_bytes_of_the_first(connection: Received) -> None:
    connection.data_received(framed(b"one")[:5])
    connection.connection_made(MemoryTransport())
    connection.data_received(framed(b"two"))

    assert connection.frames == [b"two"]


def test_before_it_is_made_there_is_nothing_to_close() -> None:
    made = Received()
    made.close()

    assert not made.is_open
