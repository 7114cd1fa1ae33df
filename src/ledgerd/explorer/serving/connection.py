"""One browser's connection: HTTP/1.1 requests, answered one after the other, each bounded in time and bytes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import cast

from ledgerd.explorer.pages.answering import PageReply, PageRequest
from ledgerd.explorer.pages.view import PageFault, fields_of
from ledgerd.explorer.serving import bounds
from ledgerd.explorer.serving.cookies import choices_in
from ledgerd.explorer.serving.headers import head_of
from ledgerd.explorer.serving.operator import MARKS, is_of_operator
from ledgerd.explorer.serving.plain import PLAIN
from ledgerd.explorer.serving.visitors import Visitors
from ledgerd.explorer.words.language import CODES
from ledgerd.protocol.addresses import charged_as
from ledgerd.rpc.http.gate import is_loopback
from ledgerd.rpc.http.places.connection_table import Activity
from ledgerd.rpc.http.reader import BETWEEN, ContinueExpected, Handshake, Refusal, Request, RequestReader
from ledgerd.rpc.http.responses import refusal
from ledgerd.rpc.http.service import PARSED_BYTES
from ledgerd.rpc.http.unread import Unread

NOTED = MARKS | {
    b"host", b"accept-language", b"connection", b"content-length", b"cookie", b"expect", b"x-forwarded-for",
}  # fmt: skip
"""The headers that have an effect here."""
SLOW_STREAM = 262_144
"""Bytes that an open page may leave untaken before it is ended; it asks again by itself."""
TOO_MANY = "too many requests from this address\n"
EVENTS = "text/event-stream"


class BrowserConnection(asyncio.Protocol):
    """A connection of a visitor."""

    transport: asyncio.Transport

    def __init__(self, visitors: Visitors) -> None:
        self._visitors = visitors
        self._reader = RequestReader(
            header_bytes=bounds.HEADER_BYTES, body_bytes=0, takes_handshakes=False, noted=NOTED
        )
        self._unread = Unread()
        self._waiting: deque[Request] = deque()
        self._task: asyncio.Task[None] | None = None
        self._room = asyncio.Event()
        self._room.set()
        self._is_stream = self._is_ended = False
        self.host = ""
        self.charged = ""
        """The address that it counts for; empty for this machine, where a proxy may stand."""
        self.visitor = ""
        """The address that asks, which a proxy may have named; empty for the operator on this machine."""
        self._moved = 0.0
        """When something came or went last."""
        self._left = 0

    # -- from the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        self.host = str(peer[0]) if isinstance(peer, tuple) else ""
        self.charged = "" if self._visitors.proxies.are(self.host) else charged_as(self.host)
        self._moved = asyncio.get_running_loop().time()
        if not self._visitors.admit(self):
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - why a visitor left does not matter
        self._is_ended = True
        self._room.set()
        self._visitors.leave(self)
        self._drop()
        if self._task is not None:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        self._moved = asyncio.get_running_loop().time()
        if self._is_ended or self._is_stream:
            return
        self._unread.add(data)
        if self._task is None:
            self._parse()
        if self._unread and not self._is_ended:
            self.transport.pause_reading()
        self._begin()

    def pause_writing(self) -> None:
        self._room.clear()

    def resume_writing(self) -> None:
        self._moved = asyncio.get_running_loop().time()
        self._room.set()

    # -- requests

    def _parse(self) -> None:
        """Read a few of the requests that have arrived."""
        for arrival in self._reader.feed(self._unread.take(PARSED_BYTES)):
            if isinstance(arrival, Request):
                self._waiting.append(arrival)
            elif isinstance(arrival, Refusal | Handshake | ContinueExpected):
                self._end_with(arrival.status if isinstance(arrival, Refusal) else 413)
                return

    def _begin(self) -> None:
        if self._has_more and self._task is None:
            self._task = self._visitors.tasks.begin(self._answer_all())

    @property
    def _has_more(self) -> bool:
        """Whether something is to be parsed or answered."""
        return bool(self._waiting or self._unread) and not (self._is_ended or self._is_stream)

    async def _answer_all(self) -> None:
        try:
            while self._has_more:
                if self._waiting:
                    await self._answer(self._waiting.popleft())
                    await self._room.wait()
                else:
                    self._parse()
                await asyncio.sleep(0)  # one request, then others have their turn
        finally:
            self._task = None
        if not self._is_ended:
            self.transport.resume_reading()

    async def _answer(self, request: Request) -> None:
        visitors = self._visitors
        visitors.answered += 1
        address = self.visitor = self.charged or self._behind_proxy(request)
        path, _, query = request.path.decode("latin-1").partition("?")
        if not visitors.may_ask(address):
            self._send(request, PageReply(429, TOO_MANY.encode(), "text/plain; charset=utf-8", {"Retry-After": "1"}))
        elif request.method not in (b"GET", b"HEAD"):
            self._send(request, PageReply(405, b"pages can only be read\n", "text/plain", {"Allow": "GET, HEAD"}))
        elif path == "/live":
            self._follow(request, query)
        elif path in PLAIN:
            self._send(request, PLAIN[path](visitors, is_own=not address))
        else:
            languages = request.headers.get(b"accept-language", b"").decode("latin-1")
            choices = choices_in(request.headers.get(b"cookie", b""))
            reply = await visitors.answering.answer(PageRequest(path, query, choices, languages))
            if reply.lines is None:
                visitors.sent(address, self._send(request, reply))
            else:
                await self._download(request, reply, reply.lines, address)

    def _behind_proxy(self, request: Request) -> str:
        """The address of a visitor behind a proxy that is believed; empty for the operator on this machine."""
        client = self._visitors.proxies.client_of(self.host, request.headers.get(b"x-forwarded-for", b""))
        if client != self.host or not is_loopback(client):
            return client
        if is_of_operator(request):
            return ""
        self._visitors.warn_of_unnamed()
        return client

    def _send(self, request: Request, reply: PageReply) -> int:
        closes = not request.keeps_open
        head = head_of(reply.status, reply.form, len(reply.body), reply.headers, closes=closes)
        whole = head if request.method == b"HEAD" else head + reply.body
        self.transport.write(whole)
        if closes:
            self._close()
        return len(whole)

    async def _download(self, request: Request, reply: PageReply, lines: AsyncIterator[bytes], address: str) -> None:
        """Send a file in chunks, no faster than its address may have it."""
        downloads = self._visitors.downloads
        if address and downloads[address] >= bounds.DOWNLOADS_OF_ADDRESS:
            self._visitors.refused += 1
            self._send(request, PageReply(429, TOO_MANY.encode(), "text/plain; charset=utf-8", {"Retry-After": "9"}))
            return
        downloads[address] += 1
        try:
            self.transport.write(head_of(reply.status, reply.form, None, reply.headers, closes=False))
            async with aclosing(lines) as made:  # type: ignore[type-var]  # every statement is a generator
                async for part in made:
                    self.transport.write(b"%x\r\n%b\r\n" % (len(part), part))
                    self._visitors.sent(address, len(part))
                    await self._room.wait()
                    await self._visitors.ready_for_more(address)
                    if self._is_ended:
                        return
            self.transport.write(b"0\r\n\r\n")
        except BaseException:
            self.abort()  # a file that was cut must not look whole
            raise
        finally:
            downloads[address] -= 1
            if not downloads[address]:
                del downloads[address]
        if not request.keeps_open:
            self._close()

    def _follow(self, request: Request, query: str) -> None:
        """Keep the page that asks at the head."""
        try:
            given = fields_of(query)
        except PageFault:
            given = {}
        code = given.get("lang", "") if given.get("lang") in CODES else CODES[0]
        is_front = given.get("front") == "1"
        if not self._visitors.follow(self, code, is_front=is_front):
            self._send(request, PageReply(429, TOO_MANY.encode(), "text/plain; charset=utf-8", {"Retry-After": "60"}))
            return
        self._is_stream = True
        self._drop()
        self.transport.write(head_of(200, EVENTS, None, None, closes=True))
        self.push(b"retry: 2000\n\n" + self._visitors.news(code, is_front=is_front))

    def push(self, event: bytes) -> None:
        """Tell an open page something; one that does not take it is ended."""
        if self.transport.get_write_buffer_size() > SLOW_STREAM:
            self._visitors.dismiss(self)
        elif not self.transport.is_closing():
            self.transport.write(event)

    # -- ends

    def _drop(self) -> None:
        """Take nothing of what has arrived."""
        self._unread.clear()
        self._waiting.clear()

    def _end_with(self, status: int) -> None:
        self._is_ended = True
        self._drop()
        self.transport.write(refusal(status))
        self.transport.close()

    def _close(self) -> None:
        self._is_ended = True
        self._drop()
        self.transport.close()

    def abort(self) -> None:
        """End at once."""
        self._is_ended = True
        self.transport.abort()

    @property
    def unread_bytes(self) -> int:
        """What the visitor has not taken."""
        return self.transport.get_write_buffer_size()

    @property
    def activity(self) -> Activity:
        """What the visitor does."""
        if self._task is not None or self._is_stream or self.unread_bytes:
            return Activity.WAITING
        return Activity.IDLE if self._reader.place is BETWEEN else Activity.SENDING

    def is_late(self, now: float) -> bool:
        """Whether nothing has moved for longer than may be."""
        left = self.unread_bytes
        if left != self._left:
            self._left, self._moved = left, now
        still = now - self._moved
        if left:
            return still > bounds.WRITE_SECONDS
        if self._task is not None or self._is_stream:
            return False
        return still > (bounds.IDLE_SECONDS if self._reader.place is BETWEEN else bounds.REQUEST_SECONDS)
