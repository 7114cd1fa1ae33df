"""Frames between a worker and the main process: any split of the bytes, and invalid data."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.basics.framing.frames import FrameBuffer, FrameFault
from ledgerd.codec.json.errors import Layer
from ledgerd.rpc.link.frames import (
    MOST_FRAME,
    Alive,
    Ask,
    ErrorReply,
    LinkFault,
    LinkMessage,
    Reply,
    Subscribe,
    TopicEvent,
    Unsubscribe,
    frame,
    layers_of,
    packed_layers,
    read_message,
)

NUMBERS = st.integers(0, (1 << 63) - 1)
MESSAGES: st.SearchStrategy[LinkMessage] = st.one_of(
    st.builds(Ask, NUMBERS, st.text(), st.binary()),
    st.builds(Reply, NUMBERS, st.binary()),
    st.builds(ErrorReply, NUMBERS, st.integers(0, 5_000_000), st.text(), st.text(), st.text()),
    st.builds(Subscribe, st.text()),
    st.builds(Unsubscribe, st.text()),
    st.builds(TopicEvent, st.text(), st.binary()),
    st.builds(Alive),
)


@given(st.lists(MESSAGES, max_size=5), st.data())
def test_messages_are_the_same_in_whatever_pieces_they_come(messages: list[LinkMessage], data: st.DataObject) -> None:
    stream = b"".join(map(frame, messages))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=8)))
    buffer = FrameBuffer(MOST_FRAME)
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]

    assert [read_message(each) for piece in pieces for each in buffer.frames_in(piece)] == messages


VALUES = st.none() | st.integers(-(1 << 63), (1 << 64) - 1) | st.text(st.characters(exclude_categories=()))
LAYERS = st.lists(st.builds(Layer, st.text(st.characters(exclude_categories=())), st.dictionaries(st.text(), VALUES)))


@given(LAYERS)
def test_the_layers_of_an_error_pass_the_link_whatever_texts_of_clients_are_in_them(layers: list[Layer]) -> None:
    reply = ErrorReply(1, 10, "assert_exception", "Assert Exception", packed_layers(layers))

    (arrived,) = map(read_message, FrameBuffer(MOST_FRAME).frames_in(frame(reply)))

    assert isinstance(arrived, ErrorReply)
    assert layers_of(arrived.layers) == layers


@given(st.binary(max_size=200))
def test_what_is_no_message_is_a_fault_of_the_link_and_nothing_else(data: bytes) -> None:
    try:
        messages = [read_message(each) for each in FrameBuffer(MOST_FRAME).frames_in(data)]
    except FrameFault:
        return
    assert b"".join(map(frame, messages)) or len(data) < MOST_FRAME


def test_a_frame_that_is_too_large_is_refused_by_its_length_alone() -> None:
    with pytest.raises(FrameFault):
        list(FrameBuffer(MOST_FRAME).frames_in(struct.pack(">I", MOST_FRAME + 1)))


def test_a_message_that_is_too_large_is_not_sent() -> None:
    with pytest.raises(LinkFault):
        frame(Reply(1, bytes(MOST_FRAME)))
