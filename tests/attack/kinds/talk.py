"""Peers that say nothing, ask for much, or tell of peers that are not there."""

from __future__ import annotations

import asyncio
from ipaddress import IPv4Address

from ledgerd.p2p.wire.endpoints import WireEndpoint
from ledgerd.p2p.wire.frames import HEADER, MAX_PAYLOAD, FrameReader
from ledgerd.p2p.wire.messages import (
    BlockReply,
    GapFillRequest,
    GetBlockRange,
    KnownPeer,
    NodeId,
    PeerExchangeReply,
    PeerExchangeRequest,
    RangeRequest,
)
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.attack.aim import HOST, address_of, close
from tests.attack.kind import PATIENCE, PeerKind, next_frame

NOBODY_LISTENS = 9
POISONED = 20


class SilentPeers(PeerKind):
    """Peers that greet, and are silent for as long as they are let."""

    name, row, stays = "silent-peers", "14", PATIENCE


class Exchange(PeerKind):
    """Peers that tell of peers which are not there, asked and unasked, and ask for peers without pause."""

    name = "exchange"

    def poison(self, salt: int) -> bytes:
        """Endpoints of this machine where nobody listens, and the node's own."""
        own = KnownPeer(WireEndpoint(int(IPv4Address(HOST)), self.aim.p2p), NodeId(bytes(33)))
        told = [
            KnownPeer(
                WireEndpoint(int(IPv4Address(address_of(100 + salt % 100, number))), NOBODY_LISTENS),
                NodeId(b"\4" + (salt << 16 | number).to_bytes(32, "big")),
            )
            for number in range(POISONED)
        ]
        return PeerExchangeReply((own, *told)).frame

    async def play(self) -> None:
        """For as long as it is let: answers come whether they are asked for or not."""
        reader, writer = await self.dial(self.aim.p2p)
        frames = FrameReader()
        try:
            await self.write(writer, self.hello + self.poison(self.rounds) + PeerExchangeRequest().frame)
            while True:
                frame = await next_frame(reader, frames)
                if frame.number == PeerExchangeRequest.NUMBER:
                    await self.write(writer, self.poison(self.rounds + self.number) + PeerExchangeRequest().frame)
        finally:
            close(writer)


class LargeAnswers(PeerKind):
    """Peers that ask for ranges of blocks ahead, and read as slowly as they can."""

    name, stays = "large-answers", 3.0

    def frames(self) -> list[bytes]:
        """A hundred requests for all that is in the log."""
        head = self.aim.head_number
        asked = [
            GetBlockRange(max(1, head - 199), head, NO_BLOCK).frame,
            GapFillRequest(tuple(range(max(1, head - 99), head))).frame,
            RangeRequest(head, self.aim.head).frame,
        ]
        return asked * 33


class UnreadAnswers(LargeAnswers):
    """The same, of peers that read nothing at all."""

    name = "unread-answers"

    async def play(self) -> None:
        """Send, and never read."""
        _, writer = await self.dial(self.aim.p2p)
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # those of sockets have it
        try:
            await self.write(writer, self.hello)
            for frame in self.frames():
                await self.write(writer, frame)
            await asyncio.sleep(PATIENCE / 2)
        finally:
            close(writer)


class SlowFrames(PeerKind):
    """A frame of two megabytes that is announced, and comes byte by byte."""

    name = "slow-frames"

    async def play(self) -> None:
        """Two thirds of it at once, then a byte a second."""
        _, writer = await self.dial(self.aim.p2p)
        try:
            await self.write(writer, self.hello + HEADER.pack(MAX_PAYLOAD, BlockReply.NUMBER) + bytes(1 << 20))
            for _ in range(int(PATIENCE)):
                await self.write(writer, b"\0")
                await asyncio.sleep(1)
        finally:
            close(writer)


class Hellos(PeerKind):
    """A hello again and again, each with another head."""

    name = "hellos"

    def frames(self) -> list[bytes]:
        """A thousand a connection."""
        return [self.hello] * 1_000
