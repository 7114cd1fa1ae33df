"""Clients that hold connections, frames and headers against the grain: WebSocket, HTTP and the sockets themselves."""

from __future__ import annotations

import asyncio
import base64
import os
import struct
from contextlib import suppress

from tests.attack.aim import HOST, Line, close
from tests.attack.forging import call_body, post
from tests.attack.kind import FAILURES, PATIENCE, Kind, Side
from tests.attack.kinds.requests import ClientKind

TEXT, CONTINUED, PING = 1, 0, 9
WHOLE = 0x80
SOCKETS = 32
"""Of each attacker: 64 of them have 2,048."""


def frame_of(payload: bytes, opcode: int = TEXT, *, is_whole: bool = True) -> bytes:
    """A frame of a client, with a mask that changes nothing."""
    first = opcode | (WHOLE if is_whole else 0)
    size = len(payload)
    if size < 126:
        head = struct.pack(">BB", first, 0x80 | size)
    elif size < 1 << 16:
        head = struct.pack(">BBH", first, 0x80 | 126, size)
    else:
        head = struct.pack(">BBQ", first, 0x80 | 127, size)
    return head + bytes(4) + payload


class WebSocketKind(Kind):
    """A client over WebSocket."""

    side = Side.CLIENT

    async def open(self) -> Line:
        """A connection past its handshake."""
        aim = self.aim
        reader, writer = await self.dial(aim.websocket)
        key = base64.b64encode(os.urandom(16)).decode()
        asked = (
            f"GET / HTTP/1.1\r\nHost: {HOST}:{aim.websocket}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        try:
            await self.write(writer, asked.encode())
            answer = await reader.readuntil(b"\r\n\r\n")
        except BaseException:
            close(writer)
            raise
        if b" 101 " not in answer.partition(b"\r\n")[0]:
            close(writer)
            raise EOFError("no WebSocket here")
        return reader, writer


class UnreadFrames(WebSocketKind):
    """Requests sent ahead over WebSocket, whose answers are never read."""

    name, row = "unread-websocket", "6"

    async def play(self) -> None:
        """Two megabytes of small requests with large answers."""
        _, writer = await self.open()
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # those of sockets have it
        asked = frame_of(call_body("validator_api", "get_validators_by_vote", "", 100)) * 1_000
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE / 3):
                    for _ in range(16):
                        await self.write(writer, asked)
        finally:
            close(writer)


class Fragments(WebSocketKind):
    """A message in fragments that has no end, with pings in between."""

    name = "fragments"

    async def play(self) -> None:
        """Fragments of one byte by the thousand, then large ones up to the bound."""
        reader, writer = await self.open()
        reading = asyncio.ensure_future(self.swallow(reader, PATIENCE))
        small = frame_of(b"x", CONTINUED, is_whole=False) * 1_000 + frame_of(b"p" * 100, PING)
        large = frame_of(b"y" * 1_000_000, CONTINUED, is_whole=False)
        try:
            await self.write(writer, frame_of(b'{"', is_whole=False))
            for piece in [small] * 50 + [large] * 30:
                await self.write(writer, piece)
            await asyncio.sleep(2)
        finally:
            reading.cancel()
            close(writer)


class Subscriptions(WebSocketKind):
    """Idle subscriptions to blocks: as many as a connection may have, on many connections."""

    name, row = "subscriptions", "14"

    async def play(self) -> None:
        """Ten connections of a hundred subscriptions, which read."""
        asked = frame_of(call_body("database_api", "set_block_applied_callback", 1)) * 100
        lines: list[Line] = []
        try:
            with suppress(*FAILURES):
                for _ in range(10):
                    lines.append(await self.open())
                    await self.write(lines[-1][1], asked)
            await asyncio.gather(*(self.swallow(reader, PATIENCE / 2) for reader, _ in lines))
        finally:
            for _, writer in lines:
                close(writer)


class Sockets(Kind):
    """Thousands of sockets that say nothing, half of them of one address."""

    name, row, side = "sockets", "7", Side.CLIENT

    async def play(self) -> None:
        """Hold them for as long as they are let."""
        lines: list[Line] = []
        if self.number % 2:
            self.source = "127.99.99.2"
        try:
            with suppress(*FAILURES):
                for _ in range(SOCKETS):
                    line = await self.dial(self.aim.http)
                    lines.append(line)
            await asyncio.sleep(PATIENCE / 4)
        finally:
            for _, writer in lines:
                close(writer)


class ClientCloses(Kind):
    """Connect, and close at once, or behind a request."""

    name, row, side, pause = "client-closes", "12", Side.CLIENT, 0.02

    async def play(self) -> None:
        """Every second one asks first."""
        _, writer = await self.dial(self.aim.http)
        try:
            if self.rounds % 2:
                await self.write(writer, post(b"{"))
        finally:
            close(writer)


class Pages(ClientKind):
    """Pages of the web: a POST as plain text, with a foreign Origin or a foreign Host."""

    name, row, listens = "pages", "10", 2.0

    def requests(self) -> list[bytes]:
        """Reading, driving and broadcasting."""
        plain, origin = "Content-Type: text/plain", "Origin: https://evil.example"
        read = call_body("database_api", "get_dynamic_global_properties")
        drive = call_body("dev_api", "move_time", 4294967295)
        return [
            post(read, (plain, origin)),
            post(read, (plain,), host="evil.example"),
            post(drive, (plain, origin)),
            post(drive, (plain, "Origin: null")),
        ] * 5


class Smuggling(ClientKind):
    """Requests whose end depends on who reads them, and headers without end."""

    name, listens = "smuggling", 2.0

    def requests(self) -> list[bytes]:
        """One of them a connection: each is refused, and closes it."""
        body = call_body("database_api", "get_dynamic_global_properties")
        size = len(body)
        start = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        odd = [
            start + b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % size + body,
            start + b"Content-Length: %d\r\nContent-Length: 0\r\n\r\n" % size + body,
            start + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
            start + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
            start + b"Content-Length: +%d\r\n\r\n" % size + body,
            start + b"X: y\r\n Content-Length: %d\r\n\r\n" % size + body,
            start + b"Transfer-Encoding: chunked\r\n\r\n" + b"1;" + b"e" * 100_000 + b"\r\nx\r\n",
            start + b"".join(b"X-%d: %s\r\n" % (place, b"y" * 100) for place in range(2_000)) + b"\r\n",
            b"POST / HTTP/1.1\nHost: 127.0.0.1\nContent-Length: %d\n\n" % size + body,
        ]
        return [odd[(self.number + self.rounds) % len(odd)]]


class SlowRequests(Kind):
    """A request that comes byte by byte, headers and body."""

    name, side = "slow-requests", Side.CLIENT

    async def play(self) -> None:
        """Ten megabytes are announced."""
        reader, writer = await self.dial(self.aim.http)
        reading = asyncio.ensure_future(self.swallow(reader, PATIENCE))
        try:
            await self.write(writer, b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10000000\r\n\r\n")
            await self.write(writer, b"[" * 1_000_000)
            while not reading.done():
                await self.write(writer, b"[")
                await asyncio.sleep(1)
        finally:
            reading.cancel()
            close(writer)
