"""Replies with many blocks: read in pieces, no more than was asked for, with the result of reading them whole."""

from __future__ import annotations

import pytest

from ledgerd.codec import codec_of
from ledgerd.p2p.wire.frames import HEADER, Frame, Undecodable
from ledgerd.p2p.wire.messages import (
    BlockRangeReply,
    GapFillReply,
    gap_reply_frame,
    range_reply_frame,
    read_message,
)
from ledgerd.p2p.wire.replies import DECODED_BYTES, ReplyReader
from ledgerd.protocol.blocks.block import Block
from tests.recorded import recorded_blocks

RECORDED = list(recorded_blocks("open-2")[1:60])
NUMBERS = [codec_of(Block).decode(packed).number for packed in RECORDED]
LARGEST = 131_072


def range_of(packed: list[bytes], *, is_last: bool = True) -> Frame:
    return Frame(BlockRangeReply.NUMBER, range_reply_frame(packed, 77, is_last=is_last)[HEADER.size :])


def gap_of(packed: list[bytes]) -> Frame:
    return Frame(GapFillReply.NUMBER, gap_reply_frame(packed)[HEADER.size :])


def read_whole(reader: ReplyReader) -> tuple[BlockRangeReply | GapFillReply, int]:
    """The reply, and in how many pieces it was read."""
    pieces = 1
    while (reply := reader.read()) is None:
        pieces += 1
    return reply, pieces


@pytest.mark.parametrize("frame", [range_of(RECORDED), range_of([]), gap_of(RECORDED), gap_of([])])
def test_a_reply_is_read_as_it_would_be_whole(frame: Frame) -> None:
    reply, _ = read_whole(ReplyReader(frame, NUMBERS, LARGEST))
    assert reply == read_message(frame)


@pytest.mark.parametrize("make", [range_of, gap_of])
def test_a_long_reply_is_read_in_pieces_of_bounded_size(make: type) -> None:
    many = RECORDED * (5 * DECODED_BYTES // sum(map(len, RECORDED)) + 1)
    reader = ReplyReader(make(many), list(range(1, 100_000)), LARGEST)
    reply, pieces = read_whole(reader)
    size, largest = sum(map(len, many)), max(map(len, many))
    assert [block.packed for block in reply.blocks] == many
    assert pieces >= size // (DECODED_BYTES + largest)
    assert pieces > 3


@pytest.mark.parametrize("make", [range_of, gap_of])
def test_no_more_blocks_are_read_than_were_asked_for(make: type) -> None:
    reply, _ = read_whole(ReplyReader(make(RECORDED * 20), NUMBERS[:3], LARGEST))
    assert len(reply.blocks) == 3


@pytest.mark.parametrize("make", [range_of, gap_of])
def test_nothing_is_read_behind_a_block_that_was_not_asked_for(make: type) -> None:
    asked = [*NUMBERS[:4], *range(10_000, 10_100)]
    reply, _ = read_whole(ReplyReader(make(RECORDED), asked, LARGEST))
    assert [block.number for block in reply.blocks] == NUMBERS[:5], "whoever asked sees what it is"


@pytest.mark.parametrize("make", [range_of, gap_of])
def test_a_block_of_more_bytes_than_any_may_have_is_not_read(make: type) -> None:
    largest = max(map(len, RECORDED))
    read_whole(ReplyReader(make(RECORDED), NUMBERS, largest))
    with pytest.raises(Undecodable):
        read_whole(ReplyReader(make(RECORDED), NUMBERS, largest - 1))


@pytest.mark.parametrize("frame", [range_of(RECORDED), gap_of(RECORDED)])
@pytest.mark.parametrize("cut", [1, 40, 10_000])
def test_a_reply_that_is_cut_short_cannot_be_read(frame: Frame, cut: int) -> None:
    short = frame._replace(payload=frame.payload[:-cut] if cut < 10_000 else b"")
    with pytest.raises(Undecodable):
        read_whole(ReplyReader(short, NUMBERS, LARGEST))
