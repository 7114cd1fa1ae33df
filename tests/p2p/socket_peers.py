"""Peers over real sockets, as good or bad as a test wants them: they claim a chain, and serve ranges of it or not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from ledgerd.codec import codec_of
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.wire.frames import FrameReader
from ledgerd.p2p.wire.messages import (
    BlockRangeReply,
    GapFillReply,
    GapFillRequest,
    GetBlockRange,
    Hello,
    HelloReply,
    Message,
    NodeId,
    block_frame,
    range_reply_frame,
    read_message,
)
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.crypto.signatures import sign
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.chain.networks import VIZ_KEY

Pieces = Callable[["SocketPeer", GetBlockRange], Awaitable[bytes | None]]
"""The frame that answers a request, or nothing."""


class SocketPeer:
    """One peer that waits to be dialled."""

    def __init__(self, name: int, packed: Sequence[bytes], answer: Pieces) -> None:
        self.packed = packed
        self.asked: list[int] = []
        """Where the ranges began that it was asked for."""
        self._name = name
        self._answer = answer
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    async def start(self) -> Endpoint:
        self._server = await asyncio.start_server(self._meet, "127.0.0.1", 0)
        return Endpoint("127.0.0.1", int(self._server.sockets[0].getsockname()[1]))

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def grow(self, packed: Sequence[bytes]) -> None:
        """Have these blocks too, and push them to whoever is connected."""
        self.packed = (*self.packed, *packed)
        for writer in self._writers:
            writer.write(b"".join(block_frame(each, 0, is_last=True) for each in packed))

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        head = codec_of(Block).decode(self.packed[-1])
        node_id = NodeId(b"\3" + self._name.to_bytes(32, "big"))
        hello = Hello(
            head_block_id=head.id,
            head_block_num=head.number,
            dlt_latest_block=head.number,
            node_status=Mode.FORWARD,
            node_id=node_id,
        )
        writer.write(hello.frame)
        self._writers.add(writer)
        frames = FrameReader()
        try:
            while data := await reader.read(1 << 16):
                frames.receive(data, 0)
                while (frame := frames.next_frame(0)) is not None:
                    answer = await self._hear(read_message(frame))
                    writer.write(answer or b"")
        except ConnectionError:
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _hear(self, message: Message) -> bytes | None:
        match message:
            case Hello():
                return HelloReply(True, True, NO_BLOCK, NO_BLOCK, 0, len(self.packed), 0, Mode.FORWARD).frame
            case GetBlockRange():
                self.asked.append(message.start_block_num)
                return await self._answer(self, message)
            case GapFillRequest():
                return GapFillReply(()).frame
        return None

    def reply(self, request: GetBlockRange) -> list[bytes]:
        """What it is asked for."""
        return list(self.packed[max(0, request.start_block_num - 1) : request.end_block_num])


async def honest(peer: SocketPeer, request: GetBlockRange) -> bytes:
    """Everything, as it is."""
    last = request.end_block_num
    return range_reply_frame(peer.reply(request), last + 1, is_last=last >= len(peer.packed))


async def stalling(_peer: SocketPeer, _request: GetBlockRange) -> None:
    """It never answers."""


async def lying(peer: SocketPeer, request: GetBlockRange) -> bytes:
    """The last block of each piece is not signed by its validator."""
    blocks = [codec_of(Block).decode(packed) for packed in peer.reply(request)]
    blocks[-1] = replace(blocks[-1], validator_signature=sign(VIZ_KEY, b"\5" * 32))
    return BlockRangeReply(tuple(blocks), request.end_block_num + 1, is_last=False).frame
