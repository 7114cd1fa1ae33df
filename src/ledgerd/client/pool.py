"""Batches of JSON-RPC to the node, over connections that stay open. Bounded in number, time and bytes."""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import Sequence
from typing import Any, cast

import httptools

from ledgerd.client.address import NodeAddress, read_address
from ledgerd.client.envelope import ErrorAnswer, NodeCall, NotAnAnswer, packed, request_of, results_of

SECONDS = 5.0
"""From a request to the end of its answer."""
LARGEST_ANSWER = 32 << 20
MOST_CONNECTIONS = 8
"""To the node, so that those for whom it is asked cannot take all of it."""
MOST_WAITING = 256
"""Requests that wait for a connection; with more, the node is too busy for another."""

_HEAD = "POST %s HTTP/1.1\r\nHost: %s\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
_FOR = "X-Forwarded-For: %s\r\n"


class NodeAway(Exception):
    """The node did not answer, or with what cannot be read; the text says which."""


class NodeLink(asyncio.Protocol):
    """One connection to the node, which answers one request after the other."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._parts: list[bytes] = []
        self._size = 0
        self._answer: asyncio.Future[bytes] | None = None
        self._transport: asyncio.Transport | None = None
        self.is_open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.is_open = True

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        self._fail(f"the connection ended: {exc}" if exc else "the connection ended")

    def ask(self, request: bytes) -> asyncio.Future[bytes]:
        self._answer = asyncio.get_running_loop().create_future()
        self._parts, self._size = [], 0
        if self._transport is not None:
            self._transport.write(request)
        return self._answer

    def close(self) -> None:
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as problem:
            self._fail(f"no HTTP: {problem}")
            self.close()

    def _fail(self, why: str) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(NodeAway(why))

    # -- called by the parser

    def on_body(self, body: bytes) -> None:
        self._size += len(body)
        if self._size > LARGEST_ANSWER:
            self._fail(f"an answer of more than {LARGEST_ANSWER} bytes")
            self.close()
        else:
            self._parts.append(body)

    def on_message_complete(self) -> None:
        if not self._parser.should_keep_alive():
            self.is_open = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(b"".join(self._parts))
        self._parts = []


class NodePool:
    """The node, by its address."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._address: NodeAddress = read_address(url)
        self._idle: list[NodeLink] = []
        self._in_use = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.requests = self.failures = 0
        """Batches that were sent, and how many of them had no answer."""

    async def ask(self, *calls: NodeCall, asker: str = "") -> Sequence[Any]:
        """The results of a batch, an `ErrorAnswer` for each that the node refuses. It may be told who asks: an address.

        Raises:
            NodeAway: There is no answer, or none that can be read.
        """
        if not calls:
            return []  # an empty batch is an error of JSON-RPC
        body = packed([request_of(number, call) for number, call in enumerate(calls)])
        self.requests += 1
        try:
            async with asyncio.timeout(SECONDS):
                await self._place()
                try:
                    return results_of(await self._exchange(body, asker), len(calls))
                finally:
                    self._leave()
        except ErrorAnswer as error:
            self.failures += 1
            raise NodeAway(error.message) from None
        except TimeoutError:
            self.failures += 1
            raise NodeAway(f"no answer within {SECONDS:g} s") from None
        except (NotAnAnswer, NodeAway) as problem:
            self.failures += 1
            raise NodeAway(str(problem) or "what it answers is no JSON-RPC") from None

    async def _place(self) -> None:
        """Wait until fewer connections are in use than may be."""
        if self._in_use < MOST_CONNECTIONS:
            self._in_use += 1
            return
        if len(self._waiting) >= MOST_WAITING:
            raise NodeAway("too many requests wait for it")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()
            else:
                self._waiting.remove(turn)
            raise

    def _leave(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._in_use -= 1

    async def _exchange(self, body: bytes, asker: str) -> bytes:
        """Send on an open connection; where the node has closed it meanwhile, on a new one."""
        address = self._address
        host = f"[{address.host}]" if ":" in address.host else address.host
        told = _FOR % asker if asker else ""
        request = (_HEAD % (address.path, f"{host}:{address.port}", told, len(body))).encode() + body
        while self._idle:
            link = self._idle.pop()
            if link.is_open:
                try:
                    return await self._through(link, request)
                except NodeAway:
                    break
        return await self._through(await self._connected(), request)

    async def _through(self, link: NodeLink, request: bytes) -> bytes:
        try:
            answer = await link.ask(request)
        except BaseException:
            link.close()
            raise
        if link.is_open:
            self._idle.append(link)
        else:
            link.close()
        return answer

    async def _connected(self) -> NodeLink:
        address = self._address
        context = ssl.create_default_context() if address.is_secure else None
        try:
            _, link = await asyncio.get_running_loop().create_connection(
                NodeLink, address.host, address.port, ssl=context
            )
        except OSError as problem:
            raise NodeAway(problem.strerror or str(problem)) from None
        return link

    def close(self) -> None:
        for link in self._idle:
            link.close()
        self._idle.clear()
