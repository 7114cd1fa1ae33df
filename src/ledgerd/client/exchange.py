"""One exchange of HTTP/1.1 from the side of who asks: the bytes of a request, and its answer out of bytes. No I/O.

`httptools` parses, as for our servers. What Python has (`http.client`) waits for ever for the end of interim answers
and of what stands around a body, and only blocks; any other library would be one more, for what takes these lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

import httptools

from ledgerd.client.address import NodeAddress

AROUND_BYTES = 1 << 20
"""Bytes that may come besides the bytes of the body: the head, and the marks between its chunks."""


class HttpFault(OSError):
    """The received bytes are no answer, or not a whole one."""


class Unanswered(HttpFault):
    """The connection ended before an answer began."""


class TooLarge(HttpFault):
    """An answer has more bytes than it may have."""


class AnswerPart(IntEnum):
    """How much of an answer is read; after its status or its head, the connection ends or goes on."""

    STATUS = 0
    HEAD = 1
    BODY = 2


class HttpAnswer(NamedTuple):
    """An answer that was read whole."""

    status: int
    reason: str
    body: bytes


def request_of(
    method: str, address: NodeAddress, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
) -> bytes:
    """The bytes of a request; what is posted is JSON. `HttpFault`: a word of it would end its line."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {_host_of(address.host, address.given_port)}"]
    if method == "POST":
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    if " " in path or not all(line.isascii() and line.isprintable() for line in lines):
        raise HttpFault(f"{path!r} cannot be asked for")
    return "\r\n".join([*lines, "", ""]).encode() + body


@lru_cache(maxsize=64)
def _host_of(host: str, port: int | None) -> str:
    try:
        name = f"[{host}]" if ":" in host else host.encode("idna").decode()
    except UnicodeError:
        raise HttpFault(f"{host!r} is no name of a host") from None
    return name if port is None else f"{name}:{port}"


class AnswerReader:
    """Reads one answer, within limits."""

    def __init__(self, most: int, wanted: AnswerPart = AnswerPart.BODY, around: int = AROUND_BYTES) -> None:
        self._most, self._wanted = most, wanted
        self._left = around
        self._parser = httptools.HttpResponseParser(self)
        self._parts: list[bytes] = []
        self._size = 0
        self._reason = b""
        self._lasts = True
        """Whether the body lasts until the connection ends."""
        self.status = 0
        """0 until it is known."""
        self.length: int | None = None
        """Bytes of the body, where the head says so."""
        self.has_begun = self.has_head = self.is_whole = self.keeps_open = False
        """Whether anything has come, the head, all that is wanted; and whether the connection may be used again."""

    @property
    def reason(self) -> str:
        return self._reason.decode("latin-1")

    def feed(self, data: bytes) -> None:
        """Read more bytes; no bytes mean the end. `HttpFault`: they are no whole answer; `TooLarge`: there are too
        many.
        """
        if not data:
            self._end()
            return
        self.has_begun = True
        self._left -= len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as problem:
            if not self.is_whole:
                raise HttpFault(f"no HTTP: {problem}") from None
            self.keeps_open = False
        if self._size > self._most:
            raise TooLarge(f"an answer of more than {self._most:,} bytes")
        if self._left < 0 and not self.is_whole:
            raise TooLarge("more bytes around an answer than anybody needs")

    def _end(self) -> None:
        if self.is_whole:
            return
        if not (self.has_head and self._lasts):
            raise (
                HttpFault("the connection ended within the answer")
                if self.has_begun
                else Unanswered("the connection ended")
            )
        self.is_whole = True

    def take(self) -> bytes:
        body, self._parts = b"".join(self._parts), []
        return body

    def _finish(self) -> None:
        self.is_whole, self.keeps_open = True, self._parser.should_keep_alive()

    def on_message_begin(self) -> None:
        if self.is_whole:
            self.keeps_open = False  # nothing was asked that this could answer
            return
        self.status, self.length, self._lasts, self._reason = 0, None, True, b""

    def on_status(self, reason: bytes) -> None:
        if self.is_whole:
            return
        self.status = self._parser.get_status_code()
        self._reason += reason
        if self._wanted is AnswerPart.STATUS and not self._is_interim:
            self.is_whole = True

    @property
    def _is_interim(self) -> bool:
        return 100 <= self.status < 200

    def on_header(self, name: bytes, value: bytes) -> None:
        match name.lower():
            case b"content-length":
                self._lasts, self.length = False, int(value)
            case b"transfer-encoding":
                self._lasts = False

    def on_headers_complete(self) -> None:
        if self.is_whole:
            return
        self.status = self._parser.get_status_code()
        if self._is_interim:
            return
        self.has_head = True
        self._left += 2 * self._most
        if self._wanted is not AnswerPart.BODY:
            self._finish()

    def on_body(self, body: bytes) -> None:
        if not self.is_whole:
            self._size += len(body)
            self._parts.append(body)

    def on_message_complete(self) -> None:
        if not self.is_whole and not self._is_interim:
            self._finish()
