"""A program that takes deliveries on a free port of this machine, and answers as a test says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

OK = b"HTTP/1.1 204 No Content\r\n\r\n"

Answer = Callable[[bytes, bytes], bytes | None]
"""The bytes that answer a head and a body; None for silence."""


class HttpReceiver:
    """What has come to it."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.got: list[tuple[bytes, bytes]] = []
        self.port = 0

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        body = await reader.readexactly(length)
        self.got.append((head, body))
        answer = self.answer(head, body)
        if answer is None:
            await reader.read()
        else:
            writer.write(answer)
        writer.close()


@asynccontextmanager
async def receiving(answer: Answer = lambda _head, _body: OK) -> AsyncIterator[HttpReceiver]:
    """A receiver, while the block lasts."""
    receiver = HttpReceiver(answer)
    server = await asyncio.start_server(receiver.take, "127.0.0.1", 0)
    receiver.port = server.sockets[0].getsockname()[1]
    async with server:
        yield receiver
