"""Messages between node and replica: each comes out as it went in, in whatever pieces, or is a fault."""

from __future__ import annotations

from typing import cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.basics.framing.frames import FrameBuffer
from ledgerd.replica.messages import (
    LoggedBlocks,
    MessageKind,
    NewHead,
    ReplicaHello,
    Welcome,
    packed,
    packed_block_info,
    packed_check,
    read,
    read_block_info,
    read_check,
)
from ledgerd.state.files.change_frames import FRAME, MOST_FRAME, ChangeFault, opened

HELLO = ReplicaHello(1, b"layout", b"chain", b"p" * 16, 7, b"id")
ALL = (
    (MessageKind.HELLO, HELLO),
    (MessageKind.WELCOME, Welcome(b"chain", 9, 8)),
    (MessageKind.BLOCKS, LoggedBlocks(3, (b"one", b"two"))),
    (MessageKind.HEAD, NewHead(10)),
)


@given(st.lists(st.integers(1, 30)))
def test_messages_come_out_as_they_went_in(cuts: list[int]) -> None:
    raw, frames, found = (
        b"".join(packed(kind, content) for kind, content in ALL),
        FrameBuffer(MOST_FRAME),
        list[tuple[int, bytes]](),
    )
    for cut in [*cuts, len(raw)]:
        found += map(opened, frames.frames_in(raw[:cut]))
        raw = raw[cut:]
    assert [(kind, read(body, type(ALL[place][1]))) for place, (kind, body) in enumerate(found)] == [*ALL]


@pytest.mark.parametrize("kind", [ReplicaHello, NewHead, LoggedBlocks])
def test_bytes_that_are_no_message_are_a_fault(kind: type[msgspec.Struct]) -> None:
    for raw in (b"", b"\xc1", b"\x80", packed(MessageKind.WELCOME, Welcome(b"", 1, 1))[:-1], b"\x81\xa4head\xa1x"):
        with pytest.raises(ChangeFault, match=f"no {kind.__name__}"):
            read(raw, kind)


def test_digests_and_records_are_read_as_they_were_written() -> None:
    check = packed_check(b"p" * 16, b"d" * 32)[FRAME.size :]
    assert read_check(check) == (b"p" * 16, b"d" * 32)
    info = packed_block_info(5, bytes(80))[FRAME.size :]
    assert read_block_info(info) == (5, bytes(80))
    for wrong in (b"", check[:-1], info + b"x"):
        for reading in (read_check, read_block_info):
            with pytest.raises(ChangeFault):
                cast("type[object]", reading)(wrong)  # type: ignore[call-arg]
