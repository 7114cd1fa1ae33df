"""Batches of JSON-RPC to the node, over connections that stay open. Bounded in number, time and bytes."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

from ledgerd.basics.failures import reason_of
from ledgerd.client.address import NodeAddress, read_address
from ledgerd.client.envelope import ErrorAnswer, NodeCall, NotAnAnswer, batch_of, results_of
from ledgerd.client.exchange import AnswerReader, HttpFault, request_of

SECONDS = 5.0
"""From a request to the end of its answer."""
LARGEST_ANSWER = 32 << 20
MOST_CONNECTIONS = 8
"""To the node, so that those for whom it is asked cannot take all of it."""
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


class NodePool:
    """The node, by its address."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._address = read_address(url)
        self._idle: list[HttpLink] = []
        self._places = asyncio.Semaphore(MOST_CONNECTIONS)
        self._waiting = 0
        self.requests = self.failures = 0
        """Batches that were sent, and how many of them had no answer."""

    async def ask(self, *calls: NodeCall, asker: str = "") -> Sequence[Any]:
        """The results of a batch, an `ErrorAnswer` for each that the node refuses. It may be told who asks: an address.
        `NodeAway`: there is no answer, or none that can be read.
        """
        if not calls:
            return []  # an empty batch is an error of JSON-RPC
        self.requests += 1
        try:
            async with asyncio.timeout(SECONDS):
                return results_of(await self._answer(batch_of(calls), asker), len(calls))
        except TimeoutError:
            why = f"no answer within {SECONDS:g} s"
        except NotAnAnswer:
            why = "what it answers is no JSON-RPC"
        except (ErrorAnswer, NodeAway) as problem:
            why = str(problem)
        except OSError as problem:
            why = reason_of(problem)
        self.failures += 1
        raise NodeAway(why)

    async def _answer(self, body: bytes, asker: str) -> bytes:
        """The answer to a request, once fewer connections are in use than may be."""
        headers = {"X-Forwarded-For": asker} if asker else {}
        request = request_of("POST", self._address, self._address.path, body, headers)
        if self._waiting >= MOST_WAITING:
            raise NodeAway("too many requests wait for it")
        self._waiting += 1
        try:
            await self._places.acquire()
        finally:
            self._waiting -= 1
        try:
            return await self._exchange(request)
        finally:
            self._places.release()

    async def _exchange(self, request: bytes) -> bytes:
        """Send on an open connection; where the node has closed it meanwhile, on a new one."""
        while self._idle:
            link = self._idle.pop()
            if link.is_open:
                with suppress(OSError):
                    return await self._through(link, request)
                break
        return await self._through(await HttpLink.to(self._address), request)

    async def _through(self, link: HttpLink, request: bytes) -> bytes:
        reader = AnswerReader(LARGEST_ANSWER)
        await link.ask(request, reader)
        if link.is_open:
            self._idle.append(link)
        return reader.take()

    def close(self) -> None:
        for link in self._idle:
            link.close()
        self._idle.clear()
