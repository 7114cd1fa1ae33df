"""Replies that hold many blocks, decoded some at a time: two megabytes of them at once would keep everybody waiting."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from ledgerd.codec import DecodeError, codec_of
from ledgerd.codec.kinds import Reading
from ledgerd.codec.types.numbers import UInt32
from ledgerd.codec.types.varint import read_varint
from ledgerd.p2p.wire.frames import Frame, Undecodable
from ledgerd.p2p.wire.messages import BlockRangeReply, GapFillReply
from ledgerd.protocol.blocks.block import Block

DECODED_BYTES = 65_536
"""Bytes of a reply that are decoded before the messages of other peers have their turn."""


class _Tail(msgspec.Struct, frozen=True):
    """The fields after the blocks of a range."""

    last_block_next_available: UInt32
    is_last: bool


class ReplyReader:
    """One reply: no more blocks of it are read than were asked for, and none after one that was not asked for."""

    def __init__(self, frame: Frame, asked: Collection[int], largest_block: int) -> None:
        self.number = frame.number
        self._payload = frame.payload
        self._asked = asked
        self._largest = largest_block
        self._blocks: list[Block] = []
        self._place = 0
        self._left: int | None = None
        """Blocks still to be read, once their number is known."""
        self._is_cut = False
        """Whether it holds more than is read of it."""

    def read(self) -> BlockRangeReply | GapFillReply | None:
        """Read some more blocks; returns the reply when all were read."""
        try:
            if self._left is None:
                self._begin()
            self._go_on()
            return self._reply() if not self._left else None
        except (DecodeError, IndexError) as error:
            raise Undecodable(f"a message of type {self.number} that cannot be read: {error}") from error

    def _begin(self) -> None:
        count, self._place = read_varint(self._payload, 0, Reading())
        self._left = min(count, len(self._asked))
        self._is_cut = count > self._left

    def _go_on(self) -> None:
        payload, asked, read = self._payload, self._asked, codec_of(Block).decode_from
        place, stop = self._place, self._place + DECODED_BYTES
        while self._left and place < stop:
            if len(payload) - place <= self._largest:
                block, place = read(payload, place)
            else:
                block, size = read(payload[place : place + self._largest], 0)
                place += size
            self._blocks.append(block)
            self._left -= 1
            if self._left and block.number not in asked:
                self._left, self._is_cut = 0, True
        self._place = place

    def _reply(self) -> BlockRangeReply | GapFillReply:
        blocks = tuple(self._blocks)
        if self.number == GapFillReply.NUMBER:
            return GapFillReply(blocks)
        if self._is_cut:
            return BlockRangeReply(blocks, 0, is_last=False)
        tail, _ = codec_of(_Tail).decode_from(self._payload, self._place)
        return BlockRangeReply(blocks, tail.last_block_next_available, tail.is_last)
