"""Reads HTTP/1.1 requests from bytes: a state machine over `httptools`, with limits. No I/O, no clock.

On a keep-alive connection a client repeats the same head with each request. It is parsed once; later requests that
arrive in one read are recognised by comparing bytes, at a fifth of the cost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from enum import Enum
from io import BytesIO
from typing import NamedTuple

import httptools

NOTED = frozenset(
    (
        b"host",
        b"accept",
        b"connection",
        b"content-length",
        b"expect",
        b"last-event-id",
        b"origin",
        b"x-forwarded-for",
        b"upgrade",
        b"sec-websocket-key",
        b"sec-websocket-version",
        b"transfer-encoding",
    )
)
"""The headers that have an effect; of others only the size matters."""

JOINED = frozenset((b"host", b"accept", b"origin", b"x-forwarded-for"))
"""Repeated headers of these names are joined, so that none is overlooked."""

PARSED_BYTES = 4 * 1024
"""Received bytes that are parsed at once: a thousand small frames or requests take their time, and their memory."""

PART_BYTES = 256
"""Bytes of memory for a parsed frame or request besides its own bytes."""

HEAD_END = b"\r\n\r\n"
SEPARATORS = len(b": \r\n")


class ReadState(Enum):
    """The part of a request that is being read."""

    BETWEEN = "between requests"
    HEAD = "in the headers"
    BODY = "in the body"
    ENDED = "after something that is no request"


BETWEEN, HEAD, BODY, ENDED = ReadState


class Request(NamedTuple):
    """A request that has arrived whole."""

    method: bytes
    path: bytes
    body: bytes
    keeps_open: bool
    says_so: bool
    """Whether a `Connection` header says so, or the contrary."""
    headers: Mapping[bytes, bytes]


class Handshake(NamedTuple):
    """A WebSocket handshake, and the bytes that came after it."""

    headers: Mapping[bytes, bytes]
    rest: bytes


class Refusal(NamedTuple):
    """An invalid or too large request; nothing after it is read."""

    status: int


class ContinueExpected(NamedTuple):
    """The client expects `100 Continue` before it sends the body."""


Arrival = Request | Handshake | Refusal | ContinueExpected


class Unread:
    """Received bytes that are parsed when the connection has a turn, in the order in which they came."""

    def __init__(self) -> None:
        self._parts: deque[bytes] = deque()
        self._place = 0
        """The bytes of the first part that were taken."""
        self.size = 0

    def __len__(self) -> int:
        return self.size

    def add(self, data: bytes) -> None:
        if data:
            self._parts.append(data)
            self.size += len(data)

    def take(self, most: int) -> bytes:
        if not self._parts:
            return b""
        part, start = self._parts[0], self._place
        if start == 0 and len(part) <= most:
            self._parts.popleft()
            taken = part
        else:
            taken = part[start : start + most]
            self._place += len(taken)
            if self._place == len(part):
                self._parts.popleft()
                self._place = 0
        self.size -= len(taken)
        return taken

    def take_all(self) -> bytes:
        return b"".join(iter(lambda: self.take(self.size), b""))

    def clear(self) -> None:
        self._parts.clear()
        self._place = self.size = 0


class RequestReader:
    """The requests of one connection."""

    def __init__(
        self,
        *,
        header_bytes: int,
        body_bytes: int,
        takes_handshakes: bool,
        noted: frozenset[bytes] = NOTED,
    ) -> None:
        self._noted = noted
        self._max_header = header_bytes
        self._max_body = body_bytes
        self._takes_handshakes = takes_handshakes
        self._parser = httptools.HttpRequestParser(self)
        self._arrived: list[Arrival] = []
        self.place = BETWEEN
        self.steps = 0
        """Counts the received parts of requests, to detect progress."""
        self._head_bytes = 0
        self._unended_bytes = 0
        self._path = b""
        self._headers: dict[bytes, bytes] = {}
        self._body: bytes | BytesIO = b""
        self._body_bytes = self._body_length = 0
        self._known_head = b""
        self._known_bytes = -1
        self._known: Request | None = None

    def feed(self, data: bytes) -> list[Arrival]:
        if self.place is ENDED:
            return []
        was_between, before = self.place is BETWEEN, self.steps
        rest = self._fed(data)
        if self.place is HEAD and (self.steps == before or (was_between and not self._arrived)):
            # The parser reports no unfinished header; its bytes count too.
            self._unended_bytes += len(data)
            if self._unended_bytes > self._max_header:
                self._refuse(431)
        arrived, self._arrived = self._arrived, []
        if was_between and len(arrived) == 1 and not rest:
            self._learn(data, arrived[0])
        return arrived

    def _fed(self, data: bytes) -> bytes:
        """Parse the bytes; returns those after an `Upgrade`."""
        rest = b""
        while self.place is not ENDED:
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                rest = data[upgrade.args[0] :]
                data = self._passed_over(rest)
            except httptools.HttpParserCallbackError as error:
                raise error.__context__ or error from None
            except httptools.HttpParserError:
                self._refuse(400)
            else:
                break
        return rest

    def _passed_over(self, rest: bytes) -> bytes:
        """Continue after an `Upgrade` to a protocol that is not served, which is ignored.

        The parser reads no body after it, so a new parser reads the request without that header.
        """
        if self.place is ENDED:
            return rest
        method, headers = self._parser.get_method(), self._headers
        if self._is_handshake():
            self.place = ENDED
            self._arrived.append(Handshake(headers, rest))
        elif method == b"CONNECT":
            self._refuse(400)
        lines = [b"%b: %b\r\n" % each for each in headers.items() if each[0] not in {b"upgrade", b"connection"}]
        version = self._parser.get_http_version().encode()
        self._parser = httptools.HttpRequestParser(self)
        return b"%b %b HTTP/%b\r\n%b\r\n%b" % (method, self._path, version, b"".join(lines), rest)

    @property
    def held(self) -> int:
        return self._body_bytes if self.place is BODY else 0

    @property
    def body_to_come(self) -> int:
        if self.place is not BODY:
            return 0
        return max(0, self._body_length - self._body_bytes)

    def end(self) -> None:
        self.place = ENDED
        self._body = b""

    def repeated(self, data: bytes) -> Request | None:
        if len(data) != self._known_bytes or self.place is not BETWEEN or not data.startswith(self._known_head):
            return None
        self.steps += 1
        return self._known

    def repeated_body(self, data: bytes) -> bytes:
        return data[len(self._known_head) :]

    def _learn(self, data: bytes, arrival: Arrival) -> None:
        if not isinstance(arrival, Request) or not arrival.keeps_open or self.place is not BETWEEN:
            return
        size = len(arrival.body)
        head = data.find(HEAD_END) + len(HEAD_END)
        if size and head + size == len(data) and self._headers.get(b"content-length") == b"%d" % size:
            self._known_head, self._known_bytes = data[:head], len(data)
            self._known = arrival._replace(body=b"")

    def _is_handshake(self) -> bool:
        return (
            self._takes_handshakes
            and self._parser.should_upgrade()
            and self._parser.get_method() == b"GET"
            and self._headers.get(b"upgrade", b"").lower() == b"websocket"
        )

    def _refuse(self, status: int) -> None:
        if self.place is not ENDED:
            self.place = ENDED
            self.steps += 1
            self._arrived.append(Refusal(status))

    # -- called by the parser

    def on_message_begin(self) -> None:
        if self.place is ENDED:
            return
        self.place = HEAD
        self.steps += 1
        self._head_bytes = self._unended_bytes = self._body_bytes = 0
        self._path = b""
        self._headers = {}
        self._body = b""

    def on_url(self, url: bytes) -> None:
        self._path += url
        self._head_bytes += len(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + len(value) + SEPARATORS
        if self.place is not HEAD:
            # Behind a body in chunks: what a proxy or the gate has checked stays as it is.
            if self._head_bytes > self._max_header:
                self._refuse(431)
            return
        name = name.lower()
        if name in JOINED and name in self._headers:
            self._headers[name] += b", " + value
        elif name in self._noted:
            self._headers[name] = value

    def on_headers_complete(self) -> None:
        if self.place is ENDED:
            return
        self.place = BODY
        self.steps += 1
        headers = self._headers
        # The parser has found it to be a number. It may begin with zeros without end: `int` refuses some thousands.
        self._body_length = int(headers.get(b"content-length", b"").strip().lstrip(b"0") or b"0")
        if self._head_bytes > self._max_header:
            self._refuse(431)
        elif b"host" not in headers and self._parser.get_http_version() != "1.0":
            self._refuse(400)
        elif self._body_length > self._max_body:
            self._refuse(413)
        elif headers.get(b"expect", b"").lower() == b"100-continue":
            self._arrived.append(ContinueExpected())

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        if self._body_bytes > self._max_body:
            self._refuse(413)
        elif self.place is ENDED:
            return
        elif isinstance(self._body, BytesIO):
            self._body.write(body)
        elif self._body:
            # It grows in place, and is handed over without a copy: large bodies are in memory once.
            first, self._body = self._body, BytesIO()
            self._body.write(first)
            self._body.write(body)
        else:
            self._body = body

    def on_message_complete(self) -> None:
        if self.place is ENDED:
            return
        self.place = BETWEEN
        self.steps += 1
        if self._parser.should_upgrade():
            return
        arrived, self._body = self._body, b""
        body = arrived.getvalue() if isinstance(arrived, BytesIO) else arrived
        keeps_open, says_so = self._parser.should_keep_alive(), b"connection" in self._headers
        self._arrived.append(Request(self._parser.get_method(), self._path, body, keeps_open, says_so, self._headers))
