"""A kind of attack: what it makes before the run, and what one attacker does, again and again, from its address."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from enum import Enum
from typing import ClassVar

from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.wire.frames import Frame, FrameReader
from ledgerd.p2p.wire.messages import Hello, HelloReply, NodeId
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.attack.aim import Aim, Line, close, dial

READ_BYTES = 1 << 16
CONNECT_SECONDS, PATIENCE = 5.0, 60.0
FAILURES = (OSError, EOFError, TimeoutError, ValueError, asyncio.LimitOverrunError)
"""What a node does to an attacker whom it does not want."""


class Side(Enum):
    """Where an attack comes from."""

    PEER = "peer"
    CLIENT = "client"
    OTHER = "other"


class Kind:
    """One kind. `prepare` runs before the clock, `play` is one connection, or one round of what it does."""

    name: ClassVar[str]
    row: ClassVar[str] = "-"
    """The row of the threats' first table, where it stands there."""
    side: ClassVar[Side]
    pause: ClassVar[float] = 0.2
    """Seconds between two rounds of one attacker."""
    is_hostile: ClassVar[bool] = True
    needs_web: ClassVar[bool] = False
    """Whether it needs accounts that list each other."""

    def __init__(self, aim: Aim, number: int, source: str) -> None:
        self.aim = aim
        self.number = number
        """Of this attacker among those of its kind."""
        self.source = source
        self.sent = 0
        self.received = 0
        self.rounds = 0

    def prepare(self) -> None:
        """Make messages before the run."""

    async def play(self) -> None:
        """One round."""
        raise NotImplementedError

    async def go_on(self, rounds: int | None = None) -> None:
        """Round after round until it is cancelled, or for so many."""
        while rounds is None or self.rounds < rounds:
            with suppress(*FAILURES):
                async with asyncio.timeout(PATIENCE if rounds is None else 2 * CONNECT_SECONDS):
                    await self.play()
            self.rounds += 1
            await asyncio.sleep(self.pause)

    # -- what kinds do

    async def dial(self, port: int) -> Line:
        """A connection to the node."""
        async with asyncio.timeout(CONNECT_SECONDS):
            return await dial(self.source, port)

    async def write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        """Send, as fast as it is taken."""
        writer.write(data)
        self.sent += len(data)
        await writer.drain()

    async def swallow(self, reader: asyncio.StreamReader, seconds: float) -> None:
        """Read and forget, until nothing comes any more or the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while data := await reader.read(READ_BYTES):
                    self.received += len(data)


class PeerKind(Kind):
    """An attack of a peer: each round is a connection that says hello, sends its frames, and ends."""

    side = Side.PEER
    stays: ClassVar[float] = 0.5
    """Seconds that it stays, to be heard before it ends."""

    @property
    def hello(self) -> bytes:
        """As somebody who stands where the node does."""
        aim = self.aim
        hello = Hello(
            head_block_id=aim.head,
            head_block_num=aim.head_number,
            lib_block_id=aim.below,
            dlt_latest_block=aim.head_number,
            node_status=Mode.FORWARD,
            node_id=NodeId(b"\3" + hash((self.source, self.rounds)).to_bytes(32, "big", signed=True)),
        )
        reply = HelloReply(True, True, aim.head, aim.below, 0, aim.head_number, 0, Mode.FORWARD)
        return hello.frame + reply.frame

    def frames(self) -> list[bytes]:
        """What this connection sends."""
        return []

    async def play(self) -> None:
        """Connect, greet, send, end."""
        reader, writer = await self.dial(self.aim.p2p)
        reading = asyncio.ensure_future(self.swallow(reader, PATIENCE))
        try:
            await self.write(writer, self.hello)
            for frame in self.frames():
                await self.write(writer, frame)
            await asyncio.wait([reading], timeout=self.stays)
        finally:
            reading.cancel()
            close(writer)


async def next_frame(reader: asyncio.StreamReader, frames: FrameReader) -> Frame:
    """The next message of the node."""
    while (frame := frames.next_frame(0.0)) is None:
        data = await reader.read(READ_BYTES)
        if not data:
            raise EOFError("the node has closed the connection")
        frames.receive(data, 0.0)
    return frame


def greeting_of(aim: Aim, node_id: NodeId) -> bytes:
    """The hello of an honest peer that knows nothing yet of what the node holds."""
    hello = Hello(head_block_id=aim.head, head_block_num=aim.head_number, node_status=Mode.FORWARD, node_id=node_id)
    return hello.frame + HelloReply(True, True, NO_BLOCK, NO_BLOCK, 0, 0, 0, Mode.FORWARD).frame
