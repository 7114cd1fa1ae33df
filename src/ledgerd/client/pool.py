"""HTTP of an event loop, over connections that stay open, and batches of JSON-RPC on them. Bounded in number, time and
bytes.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ledgerd.basics.failures import reason_of
from ledgerd.client.address import NodeAddress, read_address
from ledgerd.client.envelope import ErrorAnswer, NodeCall, NotAnAnswer, batch_of, results_of
from ledgerd.client.exchange import AnswerReader, HttpAnswer, HttpFault, request_of

SECONDS = 5.0
"""The longest time from a request to the end of its answer."""
LARGEST_ANSWER = 32 << 20
"""Bytes of an answer."""
MOST_CONNECTIONS = 8
"""Connections to the node, so that the clients of this process cannot take all that it has."""
MOST_WAITING = 256
"""Requests that wait for a connection; with more, the node is too busy for another."""


class NodeAway(Exception):
    """The node did not answer, or with what cannot be read; the text says which."""


class HttpLink(asyncio.Protocol):
    """One connection of the event loop to a server, which answers one request after the other."""

    def __init__(self) -> None:
        self._reader = AnswerReader(0)
        self._answered: asyncio.Future[None] | None = None
        self._transport: asyncio.Transport | None = None
        self.is_open = False

    @classmethod
    async def to(cls, address: NodeAddress) -> HttpLink:
        context = ssl.create_default_context() if address.is_secure else None
        loop = asyncio.get_running_loop()
        _, link = await loop.create_connection(cls, address.host, address.port, ssl=context)
        return link

    async def ask(self, request: bytes, reader: AnswerReader) -> None:
        """Send a request, and wait until its answer is read; where that fails, nothing stays open. `OSError`: there is
        no answer, or none that can be read.
        """
        self._reader, self._answered = reader, asyncio.get_running_loop().create_future()
        try:
            if self._transport is not None:
                self._transport.write(request)
            await self._answered
        finally:
            if not reader.keeps_open:
                self.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        answered = self._answered
        try:
            self._reader.feed(data)
        except HttpFault as fault:
            self.close()
            if answered is not None and not answered.done():
                answered.set_exception(fault)
            return
        if self._reader.is_whole:
            self.is_open = self.is_open and self._reader.keeps_open
            if answered is not None and not answered.done():
                answered.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - that it has ended says enough
        self.is_open = False
        self.data_received(b"")

    def close(self) -> None:
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()


class Unreached(HttpFault):
    """There is no connection: nothing was sent."""


class HttpPool:
    """Connections to a server that stay open, so many at once; what is asked while all are in use waits."""

    def __init__(self, address: NodeAddress, most_connections: int, most_waiting: int, connect_seconds: float) -> None:
        self._address = address
        self._idle: list[HttpLink] = []
        self._most_connections = most_connections
        self._places = asyncio.Semaphore(most_connections)
        self._most_waiting = most_waiting
        self._waiting = 0
        self._connect_seconds = connect_seconds
        self._is_closed = False

    async def post(
        self, body: bytes, most: int, headers: Mapping[str, str] | None = None, *, is_repeatable: bool = True
    ) -> HttpAnswer:
        """The answer to JSON, of at most so many bytes. `OSError`: there is none; `Unreached`: nothing was sent."""
        request = request_of("POST", self._address, self._address.path, body, headers)
        if self._waiting >= self._most_waiting:
            raise Unreached("too many requests wait for it")
        self._waiting += 1
        try:
            await self._places.acquire()
        finally:
            self._waiting -= 1
        try:
            return await self._exchange(request, most, is_repeatable=is_repeatable)
        finally:
            self._places.release()

    async def _exchange(self, request: bytes, most: int, *, is_repeatable: bool) -> HttpAnswer:
        """Send a repeatable request on an open connection; if the server has closed it, on a new one."""
        while is_repeatable and self._idle:
            link = self._idle.pop()
            if link.is_open:
                reader = AnswerReader(most)
                try:
                    return await self._through(link, request, reader)
                except OSError:
                    if reader.has_begun:
                        raise
                break
        return await self._through(await self._connect(), request, AnswerReader(most))

    async def _connect(self) -> HttpLink:
        try:
            async with asyncio.timeout(self._connect_seconds):
                return await HttpLink.to(self._address)
        except TimeoutError:
            raise Unreached(f"no connection within {self._connect_seconds:g} s") from None
        except OSError as problem:
            raise Unreached(reason_of(problem)) from problem

    async def _through(self, link: HttpLink, request: bytes, reader: AnswerReader) -> HttpAnswer:
        await link.ask(request, reader)
        if self._is_closed or len(self._idle) >= self._most_connections:
            link.close()
        elif link.is_open:
            self._idle.append(link)
        return HttpAnswer(reader.status, reader.reason, reader.take())

    def close(self) -> None:
        """Close what is open now, and what is in use when it is answered."""
        self._is_closed = True
        for link in self._idle:
            link.close()
        self._idle.clear()


class NodePool:
    """The node, by its address."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._http = HttpPool(read_address(url), MOST_CONNECTIONS, MOST_WAITING, SECONDS)
        self.requests = self.failures = 0
        """Batches that were sent, and how many of them had no answer."""

    async def ask(self, *calls: NodeCall, asker: str = "") -> Sequence[Any]:
        """The results of a batch, an `ErrorAnswer` for each that the node refuses. It may be told who asks: an address.
        `NodeAway`: there is no answer, or none that can be read.
        """
        if not calls:
            return []  # an empty batch is an error of JSON-RPC
        self.requests += 1
        headers = {"X-Forwarded-For": asker} if asker else {}
        try:
            async with asyncio.timeout(SECONDS):
                answer = await self._http.post(batch_of(calls), LARGEST_ANSWER, headers)
                return results_of(answer.body, len(calls))
        except TimeoutError:
            why = f"no answer within {SECONDS:g} s"
        except NotAnAnswer:
            why = "what it answers is no JSON-RPC"
        except ErrorAnswer as problem:
            why = str(problem)
        except OSError as problem:
            why = reason_of(problem)
        self.failures += 1
        raise NodeAway(why)

    def close(self) -> None:
        self._http.close()
