"""HTTP answers as bytes, with the status lines and headers of spec 05, section 2.2.

Headers are in the order of their names. The reference sends no `Content-Type`, and closes each connection.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

SERVER = b"Server: ledgerd\r\n"
JSON = b"application/json"
TEXT = b"text/plain; charset=utf-8"

_CORS = b"Access-Control-Allow-Origin: *\r\n"

PREFLIGHT = (
    b"HTTP/1.1 200 OK\r\n"
    b"Access-Control-Allow-Headers: Content-Type, Authorization\r\n"
    b"Access-Control-Allow-Methods: POST, GET, OPTIONS\r\n"
    b"Access-Control-Allow-Origin: *\r\n"
    b"Access-Control-Max-Age: 86400\r\n"
    b"%bContent-Length: 0\r\n" + SERVER + b"\r\n"
)
"""The answer to OPTIONS, with a placeholder for a `Connection` header."""

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

_OK = b"HTTP/1.1 200 OK\r\n" + _CORS + b"%bContent-Length: %d\r\nContent-Type: application/json\r\n" + SERVER + b"\r\n"

NO_CONTENT = b"HTTP/1.1 204 No Content\r\n" + _CORS + b"%b" + SERVER + b"\r\n"
"""The answer to calls that ask for none, with a placeholder for a `Connection` header."""

REASONS = {
    200: b"OK",
    400: b"Bad Request",
    403: b"Forbidden",
    404: b"Not Found",
    405: b"Method Not Allowed",
    426: b"Upgrade Required",
    429: b"Too Many Requests",
    503: b"Service Unavailable",
}

KEEPING = b"Connection: keep-alive\r\n"
CLOSING = b"Connection: close\r\n"


class Page(NamedTuple):
    """The answer to a GET: a page for people or machines."""

    body: bytes
    content_type: bytes = JSON
    status: int = 200
    headers: bytes = b""


EMPTY_BODY = Page(b"empty request body", TEXT, 400)
FOREIGN = Page(
    b"this Host or Origin is not answered here; webserver-allowed-origins (of ledgerd dev: --allow-origin) names them",
    TEXT,
    403,
)
FULL = Page(b"too many connections", TEXT, 503)
TOO_MANY = Page(b"too many requests from this address", TEXT, 429)


def json_head(length: int, connection: bytes = b"") -> bytes:
    return _OK % (connection, length)


@lru_cache(maxsize=4096)
def kept_json_head(length: int) -> bytes:
    return json_head(length)


def page_head(page: Page, connection: bytes = b"") -> bytes:
    retry = b"Retry-After: 1\r\n" if page in {TOO_MANY, FULL} else b""
    return b"HTTP/1.1 %d %b\r\n%b%bContent-Length: %d\r\nContent-Type: %b\r\n%b%b%b\r\n" % (
        page.status,
        REASONS[page.status],
        _CORS,
        connection,
        len(page.body),
        page.content_type,
        page.headers,
        retry,
        SERVER,
    )


def refusal(status: int) -> bytes:
    """The answer to an unreadable request: no body; the connection is closed."""
    return b"HTTP/1.1 %d \r\n%bContent-Length: 0\r\n%b\r\n" % (status, CLOSING, SERVER)


EVENT_STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\n"
    + _CORS
    + b"Cache-Control: no-store\r\n"
    + CLOSING
    + b"Content-Type: text/event-stream\r\n"
    + SERVER
    + b"X-Accel-Buffering: no\r\n\r\n"
)
"""The head of an answer that lasts until the connection is closed; a proxy is asked to pass each event on at once."""

UPGRADE_REQUIRED = (
    b"HTTP/1.1 426 Upgrade Required\r\n" + CLOSING + b"Content-Length: 0\r\n" + SERVER + b"Upgrade: websocket\r\n\r\n"
)
"""The answer to plain HTTP on an endpoint that serves only WebSocket."""


def switching(accept: bytes) -> bytes:
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %b\r\n%b"
        b"Upgrade: websocket\r\n\r\n" % (accept, SERVER)
    )
