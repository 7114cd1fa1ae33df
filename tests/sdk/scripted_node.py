"""Nodes on this machine that answer what a test tells them to, and a clock that a test moves."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

CHAIN = "ab" * 32
START = 1_800_000_000
START_TEXT = "2027-01-15T08:00:00"

Method = Callable[..., object]


class PlainClock:
    """Time that passes only in pauses."""

    def __init__(self) -> None:
        self.time = 0.0
        self.pauses: list[float] = []

    def passed(self) -> float:
        return self.time

    def now(self) -> float:
        return START + self.time

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


class Refused(Exception):
    """A method answers with an error."""


class ScriptedNode:
    """Answers JSON-RPC over HTTP; `raw` are answers, whole with their heads, that it gives instead, one after another.

    None among them ends the connection without a word.
    """

    def __init__(self) -> None:
        self.chain = CHAIN
        self.head_time = START_TEXT
        self.raw: deque[bytes | None] = deque()
        self.always: bytes | None = None
        self.connections = self.open_connections = 0
        self.requests: list[Any] = []
        self.url = ""
        self.methods: dict[str, Method] = {
            "get_config": lambda: {"CHAIN_ID": self.chain, "CHAIN_BLOCK_INTERVAL": 3},
            "get_dynamic_global_properties": lambda: {"time": self.head_time},
            "echo": lambda *arguments: list(arguments),
        }
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None] | None] = set()

    @property
    def calls(self) -> list[str]:
        """The methods that were called, but for those by which a node is looked at."""
        batches = [each if isinstance(each, list) else [each] for each in self.requests]
        named = [[one["params"][1] for one in each] for each in batches]
        looks = ["get_config", "get_dynamic_global_properties"]
        return [name for names in named if names != looks for name in names]

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        tasks = [each for each in self._tasks if each is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open_connections += 1
        self._tasks.add(asyncio.current_task())
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                size = int(head.lower().partition("content-length: ")[2].partition("\r")[0])
                request = json.loads(await reader.readexactly(size))
                self.requests.append(request)
                answer = self.answer(request)
                if answer is None:
                    break
                writer.write(answer)
                if b"Content-Length: 999999" in answer:
                    await writer.drain()
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        self.open_connections -= 1
        writer.close()

    def answer(self, request: Any) -> bytes | None:
        if self.raw:
            return self.raw.popleft()
        if self.always is not None:
            return self.always
        found = [self._result(each) for each in request] if isinstance(request, list) else self._result(request)
        return http(json.dumps(found, ensure_ascii=False).encode("utf-8", "surrogateescape"))

    def _result(self, request: dict[str, Any]) -> dict[str, object]:
        _, name, arguments = request["params"]
        found: dict[str, object] = {"jsonrpc": "2.0", "id": request["id"]}
        method = self.methods.get(name, refusing(f"Could not find method {name}"))
        try:
            found["result"] = method(*arguments)
        except Refused as problem:
            found["error"] = {"code": -32002, "message": str(problem)}
        return found


def refusing(why: str) -> Method:
    """A method that answers with an error."""

    def refuse(*_: object) -> object:
        raise Refused(why)

    return refuse


def http(body: bytes, status: str = "200 OK", size: int | None = None) -> bytes:
    length = len(body) if size is None else size
    return f"HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n".encode() + body


HALF = http(b'[{"jsonrpc":"2.0","res', size=999_999)
PAGE = http(b"<html>We are sorry</html>")
BUSY = http(b"slow down", "429 Too Many Requests")
BROKEN = http(b"<html>", "502 Bad Gateway")
OTHER = http(b'{"hello": "world"}')
NEITHER = http(b"[1, 2, 3]")
STATELESS = http(
    b'{"jsonrpc":"2.0","error":{"code":-32003,"message":"Node is recovering"},"id":null}', "503 Service Unavailable"
)


@asynccontextmanager
async def scripted(count: int = 1) -> AsyncIterator[list[ScriptedNode]]:
    """So many nodes, for as long as the block lasts."""
    nodes = [ScriptedNode() for _ in range(count)]
    for each in nodes:
        await each.start()
    try:
        yield nodes
    finally:
        for each in nodes:
            await each.stop()
