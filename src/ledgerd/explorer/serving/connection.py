"""One browser's connection: pages, files, open pages, and pages for programs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from http import HTTPStatus

from ledgerd.basics.addresses import is_loopback
from ledgerd.explorer.pages.answering import PageReply, PageRequest
from ledgerd.explorer.pages.view import PageFault, fields_of
from ledgerd.explorer.serving import bounds
from ledgerd.explorer.serving.visitors import Visitors
from ledgerd.explorer.words.language import CODES
from ledgerd.rpc.http.gate import Gate
from ledgerd.rpc.http.places.connection_table import Activity
from ledgerd.rpc.http.reader import BETWEEN, Arrival, Refusal, Request, RequestReader
from ledgerd.rpc.http.requests import RequestConnection

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
USUAL = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "Server": "ledgerd",
    "Vary": "Accept-Language, Cookie",
    "X-Content-Type-Options": "nosniff",
}

CHOICES = frozenset(("lang", "theme"))
READ_BYTES = 1_024
"""Bytes of the header that are searched for the visitor's choices, such as the language."""

MARKS = frozenset((b"forwarded", b"via", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip"))
"""Headers that programs of this machine do not send, and proxies do."""
NOTED = MARKS | {
    b"host", b"accept-language", b"connection", b"content-length", b"cookie", b"expect", b"x-forwarded-for",
}  # fmt: skip
"""The headers that have an effect here."""
SLOW_STREAM = 262_144
"""Bytes that an open page may leave untaken before it is ended; it asks again by itself."""
TOO_MANY = "too many requests from this address\n"
EVENTS = "text/event-stream"
_THIS_MACHINE = Gate((), ())
"""Knows the names of this machine alone."""

TEXT = "text/plain; charset=utf-8"
ROBOTS = "User-agent: *\nDisallow: /search\nDisallow: /choose\nDisallow: /live\nDisallow: /*?\nDisallow: /*.csv\n"


def head_of(status: int, form: str, length: int | None, more: Mapping[str, str] | None, *, closes: bool) -> bytes:
    """The head of an answer; without a length its body comes in chunks, or, where it closes, until the end."""
    named = {**USUAL, "Content-Type": form, **(more or {})}
    if length is not None:
        named["Content-Length"] = str(length)
    elif not closes:
        named["Transfer-Encoding"] = "chunked"
    if closes:
        named["Connection"] = "close"
    lines = "".join(f"{name}: {_safe(value)}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{lines}\r\n".encode("latin-1", "replace")


def _safe(value: str) -> str:
    return value.replace("\r", "").replace("\n", "")


def choices_in(header: bytes) -> Mapping[str, str]:
    """The visitor's choices in a header, by name; the first of equal names counts. Whether such a choice exists is
    checked elsewhere.
    """
    found: dict[str, str] = {}
    for part in header[:READ_BYTES].decode("latin-1").split(";"):
        name, _, value = part.partition("=")
        if (name := name.strip()) in CHOICES:
            found.setdefault(name, value.strip().strip('"'))
    return found


class BrowserConnection(RequestConnection):
    """A connection of a visitor."""

    service: Visitors

    def __init__(self, visitors: Visitors) -> None:
        limits = visitors.limits
        reader = RequestReader(
            header_bytes=limits.header_bytes, body_bytes=limits.body_bytes, takes_handshakes=False, noted=NOTED
        )
        super().__init__(visitors, reader)
        self._room = asyncio.Event()
        self._room.set()
        self._is_stream = False
        self._untaken_before = 0
        self.visitor = ""

    # -- from the transport

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._room.set()
        self.service.streams.pop(self, None)

    def pause_writing(self) -> None:
        self._room.clear()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._room.set()
        super().resume_writing()

    # -- requests

    def _arrive(self, arrival: Arrival) -> None:
        self._await(arrival if isinstance(arrival, Request | Refusal) else Refusal(413))

    def _answer(self, request: Request) -> None:
        self._later = self.service.tasks.begin(self._answered(request))

    async def _answered(self, request: Request) -> None:
        """A round of the loop for each answer: between two of one visitor, others have their turn."""
        try:
            await self._reply(request)
        except Exception:
            self.transport.abort()
            raise
        self._later = None
        self.go_on()

    async def _reply(self, request: Request) -> None:
        visitors = self.service
        visitors.answered += 1
        address = self.visitor = self.charged or self._behind_proxy(request)
        path, _, query = request.path.decode("latin-1").partition("?")
        if not visitors.may_ask(address):
            self._show(request, PageReply(429, TOO_MANY.encode(), "text/plain; charset=utf-8", {"Retry-After": "1"}))
        elif request.method not in (b"GET", b"HEAD"):
            self._show(request, PageReply(405, b"pages can only be read\n", "text/plain", {"Allow": "GET, HEAD"}))
        elif path == "/live":
            self._follow(request, query)
        elif path in PLAIN:
            self._show(request, PLAIN[path](visitors, is_own=not address))
        else:
            languages = request.headers.get(b"accept-language", b"").decode("latin-1")
            choices = choices_in(request.headers.get(b"cookie", b""))
            reply = await visitors.answering.answer(PageRequest(path, query, choices, languages))
            if reply.lines is None:
                visitors.charge_bytes(address, self._show(request, reply))
            else:
                await self._download(request, reply, reply.lines, address)

    def _behind_proxy(self, request: Request) -> str:
        """The address of a visitor behind a proxy that is believed; empty for the operator on this machine."""
        client = self.service.proxies.client_of(self.host, request.headers.get(b"x-forwarded-for", b""))
        if client != self.host or not is_loopback(client):
            return client
        if is_of_operator(request):
            return ""
        self.service.warn_of_unnamed()
        return client

    def _show(self, request: Request, reply: PageReply) -> int:
        closes = not request.keeps_open
        head = head_of(reply.status, reply.form, len(reply.body), reply.headers, closes=closes)
        whole = head if request.method == b"HEAD" else head + reply.body
        self._send(request, whole)
        return len(whole)

    async def _download(self, request: Request, reply: PageReply, lines: AsyncIterator[bytes], address: str) -> None:
        """Send a file in chunks, no faster than the limit of its address."""
        downloads = self.service.downloads
        if address and downloads[address] >= bounds.DOWNLOADS_OF_ADDRESS:
            self.service.refused += 1
            self._show(request, PageReply(429, TOO_MANY.encode(), "text/plain; charset=utf-8", {"Retry-After": "9"}))
            return
        downloads[address] += 1
        try:
            self.transport.write(head_of(reply.status, reply.form, None, reply.headers, closes=False))
            async with aclosing(lines) as made:  # type: ignore[type-var]  # every statement is a generator
                async for part in made:
                    self.transport.write(b"%x\r\n%b\r\n" % (len(part), part))
                    self.count_write_buffer()
                    self.service.charge_bytes(address, len(part))
                    await self._room.wait()
                    await self.service.ready_for_more(address)
                    if self._is_ending:
                        return
            self.transport.write(b"0\r\n\r\n")
        except BaseException:
            self.transport.abort()  # a file that was cut must not look whole
            raise
        finally:
            downloads[address] -= 1
            if not downloads[address]:
                del downloads[address]
        if not request.keeps_open:
            self._close()

    def _follow(self, request: Request, query: str) -> None:
        try:
            given = fields_of(query)
        except PageFault:
            given = {}
        code = given.get("lang", "") if given.get("lang") in CODES else CODES[0]
        is_front = given.get("front") == "1"
        if not self.service.follow(self, code, is_front=is_front):
            self._show(request, PageReply(429, TOO_MANY.encode(), "text/plain; charset=utf-8", {"Retry-After": "60"}))
            return
        self._is_stream = True
        self._drop()
        self.transport.write(head_of(200, EVENTS, None, None, closes=True))
        self.push(b"retry: 2000\n\n" + self.service.news(code, is_front=is_front))

    def push(self, event: bytes) -> None:
        if self.transport.get_write_buffer_size() > SLOW_STREAM:
            self.service.streams.pop(self, None)
            self.transport.abort()
        elif not self.transport.is_closing():
            self.transport.write(event)

    # -- ends

    @property
    def activity(self) -> Activity:
        is_busy = self._is_stream or self.transport.get_write_buffer_size()
        return Activity.WAITING if is_busy else super().activity

    def progress(self) -> int:
        """Count what a visitor takes of an answer as progress too."""
        untaken = self.transport.get_write_buffer_size()
        self.steps += untaken != self._untaken_before
        self._untaken_before = untaken
        return super().progress()

    def time_limit(self) -> float | None:
        limits = self.service.limits
        if self.transport.get_write_buffer_size():
            return limits.write_seconds
        if self._is_stream:
            return None
        is_idle = self._reader.place is BETWEEN and self._later is None and not self._is_ending
        return limits.idle_seconds if is_idle else super().time_limit()

    def finish(self) -> None:
        if self._is_stream:
            self._close()
        else:
            super().finish()


def is_of_operator(request: Request) -> bool:
    """Whether nothing in it is of a proxy which does not say who its visitor is: it names this machine, and keeps the
    connection, as browsers, curl and Prometheus do.
    """
    host = request.headers.get(b"host")
    if host is None or not request.keeps_open or not MARKS.isdisjoint(request.headers):
        return False
    return _THIS_MACHINE.admits({b"host": host})


def robots(_visitors: Visitors, *, is_own: bool) -> PageReply:  # noqa: ARG001 - all plain pages are asked alike
    """The rules for crawlers: they may read pages, but not every filter of every list."""
    return PageReply(200, ROBOTS.encode(), TEXT)


def health(_visitors: Visitors, *, is_own: bool) -> PageReply:  # noqa: ARG001 - the same
    return PageReply(200, b"ok\n", TEXT)


def ready(visitors: Visitors, *, is_own: bool) -> PageReply:  # noqa: ARG001 - the same
    away = visitors.watch.away
    return PageReply(503, b"the node is away\n", TEXT) if away else PageReply(200, b"ready\n", TEXT)


def metrics(visitors: Visitors, *, is_own: bool) -> PageReply:
    """Figures for Prometheus, to programs of this machine alone."""
    if not is_own:
        return PageReply(404, b"not here\n", TEXT)
    figures = {
        "requests_total": visitors.answered,
        "refused_total": visitors.refused,
        "pages_drawn_total": visitors.answering.drawn,
        "connections": len(visitors.connections),
        "open_pages": len(visitors.streams),
        "head_block_number": visitors.watch.head,
        "node_answers": int(not visitors.watch.away),
    }
    lines = "".join(
        f"# TYPE ledgerd_explorer_{name} {'counter' if name.endswith('_total') else 'gauge'}\n"
        f"ledgerd_explorer_{name} {value}\n"
        for name, value in figures.items()
    )
    return PageReply(200, lines.encode(), "text/plain; version=0.0.4; charset=utf-8")


PLAIN: Mapping[str, Callable[..., PageReply]] = {
    "/robots.txt": robots,
    "/health": health,
    "/ready": ready,
    "/metrics": metrics,
}
