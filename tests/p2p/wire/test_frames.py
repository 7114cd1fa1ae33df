"""Framing: any pieces of a stream give the same messages, and only what was sent is held (spec 04, section 2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.p2p.wire.frames import HEADER, MAX_PAYLOAD, Frame, FrameReader, FrameTooLarge, pack_frame

frames = st.lists(st.tuples(st.integers(0, 0xFFFFFFFF), st.binary(max_size=80)), max_size=8)


@given(frames, st.lists(st.integers(1, 30)))
def test_a_stream_may_come_in_any_pieces(sent: list[tuple[int, bytes]], cuts: list[int]) -> None:
    stream = b"".join(pack_frame(number, payload) for number, payload in sent)
    reader, read = FrameReader(), []
    for size in [*cuts, len(stream) or 1]:
        piece, stream = stream[:size], stream[size:]
        reader.receive(piece, 0)
        while (frame := reader.next_frame(0)) is not None:
            read.append(frame)
    assert read == [Frame(*each) for each in sent]
    assert len(reader) == 0


def test_the_largest_payload_is_accepted() -> None:
    reader = FrameReader()
    reader.receive(pack_frame(5105, bytes(MAX_PAYLOAD)), 0)
    frame = reader.next_frame(0)
    assert frame is not None
    assert len(frame.payload) == MAX_PAYLOAD


def test_a_frame_one_byte_too_large_is_refused_by_its_header() -> None:
    reader = FrameReader()
    reader.receive(HEADER.pack(MAX_PAYLOAD + 1, 5105), 0)
    with pytest.raises(FrameTooLarge):
        reader.next_frame(0)


def test_a_payload_that_is_too_large_is_not_sent() -> None:
    with pytest.raises(ValueError, match="fits no frame"):
        pack_frame(5105, bytes(MAX_PAYLOAD + 1))


def test_a_claimed_size_allocates_nothing() -> None:
    reader = FrameReader()
    reader.receive(HEADER.pack(MAX_PAYLOAD, 5105) + b"x", 0)
    assert reader.next_frame(0) is None
    assert len(reader) == HEADER.size + 1


def test_an_unfinished_frame_is_as_old_as_its_first_byte() -> None:
    reader = FrameReader()
    reader.receive(pack_frame(5110, b"") + b"\0", 5)
    assert reader.waiting_since == 5
    assert reader.next_frame(6) is not None
    assert reader.waiting_since == 6
    reader.receive(b"\0", 9)
    assert reader.waiting_since == 6
