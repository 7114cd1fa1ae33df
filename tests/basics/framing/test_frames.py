"""Frames come out as they went in, in whatever pieces, from sockets and streams; what is none is a fault."""

from __future__ import annotations

import asyncio
import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.basics.framing.frames import LENGTH, CutOff, FrameBuffer, FrameFault, framed, read_frame, read_frame_of

MOST = 300
BODIES = st.lists(st.binary(max_size=MOST), max_size=5)
SIZES = st.integers(1, 40)


def pieces_of(data: bytes, size: int) -> list[bytes]:
    return [data[place : place + size] for place in range(0, len(data), size)]


class Source:
    """Gives what is asked for, as far as the next piece has it."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = list(pieces)

    def __call__(self, count: int) -> bytes:
        if not self._pieces:
            return b""
        piece = self._pieces.pop(0)
        if len(piece) > count:
            self._pieces.insert(0, piece[count:])
        return piece[:count]


def stream_of(pieces: list[bytes]) -> asyncio.StreamReader:
    stream = asyncio.StreamReader()
    for piece in pieces:
        stream.feed_data(piece)
    stream.feed_eof()
    return stream


@given(BODIES, st.lists(st.integers(0, 2_000)))
def test_frames_are_the_same_in_whatever_pieces_they_come(bodies: list[bytes], places: list[int]) -> None:
    data = b"".join(map(framed, bodies))
    cuts = sorted({min(place, len(data)) for place in places})
    pieces = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    frames = FrameBuffer(MOST)

    assert [frame for piece in pieces for frame in frames.frames_in(piece)] == bodies
    frames.end()


@given(st.binary(max_size=MOST), st.data())
def test_it_is_known_how_many_bytes_are_missing(body: bytes, data: st.DataObject) -> None:
    frame, frames = framed(body), FrameBuffer(MOST)
    begun = data.draw(st.integers(0, len(frame)))
    frames.add(frame[:begun])
    assert frames.missing == (len(frame) if begun >= LENGTH.size else LENGTH.size) - begun
    frames.add(frame[begun:])
    assert frames.missing == 0
    assert frames.next() == body


@given(st.integers(MOST + 1, (1 << 32) - 1))
def test_a_frame_that_is_too_large_is_a_fault_before_it_has_come(length: int) -> None:
    head = struct.pack(">I", length)
    with pytest.raises(FrameFault, match=f"a frame of {length} bytes, where {MOST} are the most"):
        list(FrameBuffer(MOST).frames_in(head))
    with pytest.raises(FrameFault, match=f"{length} bytes"):
        read_frame(lambda count: head[:count], MOST)


@given(st.binary(min_size=1, max_size=MOST), st.data())
def test_a_frame_that_is_cut_off_is_a_fault(body: bytes, data: st.DataObject) -> None:
    begun = framed(body)[: data.draw(st.integers(1, LENGTH.size + len(body) - 1))]

    async def read() -> None:
        with pytest.raises(CutOff):
            await read_frame_of(stream_of([begun]), MOST)

    asyncio.run(read())
    with pytest.raises(CutOff):
        read_frame(Source([begun]), MOST)


@given(BODIES, SIZES)
def test_readers_give_one_frame_after_the_other_and_nothing_at_the_end(bodies: list[bytes], size: int) -> None:
    pieces = pieces_of(b"".join(map(framed, bodies)), size)
    source, found = Source(pieces), list[bytes]()
    while (frame := read_frame(source, MOST)) is not None:
        found.append(frame)
    assert found == bodies

    async def read() -> list[bytes]:
        stream, found = stream_of(pieces), list[bytes]()
        while (frame := await read_frame_of(stream, MOST)) is not None:
            found.append(frame)
        return found

    assert asyncio.run(read()) == bodies


@given(st.binary(max_size=MOST), st.data())
def test_a_reader_goes_on_with_what_came_with_something_else(body: bytes, data: st.DataObject) -> None:
    """As with a descriptor, which comes with the first bytes."""
    frame = framed(body)
    begun = data.draw(st.integers(0, len(frame)))
    assert read_frame(Source([frame[begun:]]), MOST, frame[:begun]) == body


def test_a_reader_of_a_socket_takes_nothing_of_the_next_frame() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(framed(b"one") + framed(b"two"))
        assert read_frame(ours.recv, MOST) == b"one"
        assert ours.recv(100) == framed(b"two")
