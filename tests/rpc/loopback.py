"""A service on a free port of this machine, and clients that say exactly the bytes they are told to."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TypeVar

if sys.platform != "win32":
    import uvloop

from ledgerd.rpc.http.connection import HttpConnection, Speech
from ledgerd.rpc.http.gate import Gate
from ledgerd.rpc.http.service import Connection, Service
from tests.patience import PATIENCE

T = TypeVar("T")


def play(scene: Callable[[], Awaitable[T]]) -> T:
    """Run a scene on a loop of its own, for a bounded time."""

    async def bounded() -> T:
        async with asyncio.timeout(PATIENCE):
            return await scene()

    # The loop that workers run on, where there is one for the platform.
    make_loop = asyncio.new_event_loop if sys.platform == "win32" else uvloop.new_event_loop
    with asyncio.Runner(loop_factory=make_loop) as runner:
        return runner.run(bounded())


class Client:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def head(self) -> tuple[str, dict[str, str]]:
        """The status line of an answer, and its headers in their order."""
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
        return lines[0], dict(line.split(": ", 1) for line in lines[1:])

    async def answer(self) -> tuple[str, dict[str, str], bytes]:
        status, headers = await self.head()
        return status, headers, await self.reader.readexactly(int(headers["Content-Length"]))

    async def ask(self, body: bytes, *, method: str = "POST", path: str = "/", headers: str = "") -> bytes:
        """Send a request and return the body of its answer."""
        await self.say(http_request(body, method=method, path=path, headers=headers))
        return (await self.answer())[2]

    async def rest(self) -> bytes:
        """Everything until the other side ends."""
        try:
            return await self.reader.read()
        except ConnectionResetError:
            return b""

    async def close(self) -> None:
        self.writer.close()


def http_request(body: bytes, *, method: str = "POST", path: str = "/", headers: str = "") -> bytes:
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{length}{headers}\r\n".encode() + body


class Server:
    """A port, and the clients that have come to it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._clients: list[Client] = []

    async def connect(self, source: str = "127.0.0.1") -> Client:
        client = Client(*await asyncio.open_connection("127.0.0.1", self.port, local_addr=(source, 0)))
        self._clients.append(client)
        return client

    async def part(self) -> None:
        """Have every client leave."""
        for client in self._clients:
            client.writer.transport.abort()
        for client in self._clients:
            with suppress(OSError):
                await client.writer.wait_closed()


@asynccontextmanager
async def clients_of(port: int) -> AsyncIterator[Server]:
    """A port whose clients leave at the end."""
    server = Server(port)
    try:
        yield server
    finally:
        await server.part()


@asynccontextmanager
async def serving(service: Service, speech: Speech = Speech.BOTH, gate: Gate | None = None) -> AsyncIterator[Server]:
    """A service on a port for as long as the block lasts."""
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(partial(HttpConnection, service, speech, gate), "127.0.0.1", 0)
    try:
        async with clients_of(listening.sockets[0].getsockname()[1]) as server:
            yield server
    finally:
        listening.close()
        for connection in [*service.connections, *service.spare_connections]:
            connection.transport.abort()


async def until(condition: Callable[[], object]) -> None:
    """Let the loop turn until something holds, which may be the work of a process beside; `play` bounds how long."""
    while not condition():  # noqa: ASYNC110 - what holds is seen from outside: nobody could set an event
        await asyncio.sleep(0.001)


async def connection_of(service: Service) -> Connection:
    """The one connection of a service, once it is there."""
    await until(lambda: service.connections)
    [connection] = service.connections
    return connection
