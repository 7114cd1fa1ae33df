"""HTTP for programs that wait: one connection to a server, on which one request follows the other."""

from __future__ import annotations

import select
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Protocol

from ledgerd.basics.addresses import reached_at
from ledgerd.basics.closing import on_error
from ledgerd.client.address import WEB, NodeAddress
from ledgerd.client.exchange import AnswerReader, HttpAnswer, request_of
from ledgerd.protocol.types.endpoint import Endpoint

READ_BYTES = 1 << 18
"""Bytes that are read at once."""


class TimeLimit(Protocol):
    """The time limit of an exchange."""

    def left(self) -> float:
        """Seconds until something has to have come or gone; `TimeoutError` where there are none."""

    def count(self, size: int) -> None:
        """Count received bytes."""


class Deadline:
    """A time for the whole exchange, however slowly its bytes come."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        left = self._at - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        return left

    def count(self, size: int) -> None:
        """Received bytes do not extend a deadline."""


def page_of(endpoint: Endpoint, path: str, seconds: float, most: int) -> HttpAnswer:
    """A page of a node of this machine, by the endpoint that it listens on; `OSError` where there is none in time."""
    with closing(HttpClient(NodeAddress(WEB, reached_at(endpoint.host), endpoint.port, path))) as client:
        return client.get(path, seconds, most)


class HttpClient:
    """Sends requests to one server. A connection that the server has closed is replaced; redirects are not followed."""

    def __init__(self, address: NodeAddress) -> None:
        self._address = address
        self._socket: socket.socket | None = None

    def connect(self, limit: TimeLimit) -> bool:
        """Connect; false where a connection stands."""
        if self._socket is not None and not select.select([self._socket], [], [], 0)[0]:
            return False
        self.close()
        address = self._address
        connection = socket.create_connection((address.host, address.port), limit.left())
        with on_error(connection.close):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if address.is_secure:
                connection.settimeout(limit.left())
                connection = ssl.create_default_context().wrap_socket(connection, server_hostname=address.host)
        self._socket = connection
        return True

    def get(self, path: str, seconds: float, most: int) -> HttpAnswer:
        """The answer to a GET, of its body so many bytes; `OSError` where there is none in time."""
        body, reader = bytearray(), AnswerReader(most + READ_BYTES)
        with self.exchange(request_of("GET", self._address, path), reader, Deadline(seconds)) as parts:
            while len(body) < most and (part := next(parts, b"")):
                body += part
        return HttpAnswer(reader.status, reader.reason, bytes(body[:most]))

    def post(self, body: bytes, seconds: float, most: int, *, is_repeatable: bool = False) -> HttpAnswer:
        """The answer to JSON, of at most so many bytes, in the same way.

        What is repeatable is sent once more where a connection that stood ends without a byte.
        """
        request = request_of("POST", self._address, self._address.path, body)
        limit, reader = Deadline(seconds), AnswerReader(most)
        is_new = self.connect(limit)
        try:
            return self._whole(request, reader, limit)
        except OSError:
            if is_new or reader.has_begun or not is_repeatable:
                raise
        return self._whole(request, reader, limit)

    def _whole(self, request: bytes, reader: AnswerReader, limit: TimeLimit) -> HttpAnswer:
        with self.exchange(request, reader, limit) as parts:
            return HttpAnswer(reader.status, reader.reason, b"".join(parts))

    @contextmanager
    def exchange(self, request: bytes, reader: AnswerReader, limit: TimeLimit) -> Iterator[Iterator[bytes]]:
        """Send a request and read the head of its answer. Yields the parts of the body as they come."""
        self.connect(limit)
        with on_error(self.close):
            self._timed(limit).sendall(request)
            while not reader.has_head:
                self._read(reader, limit)
            yield self._parts(reader, limit)
        if not reader.keeps_open:
            self.close()

    def _parts(self, reader: AnswerReader, limit: TimeLimit) -> Iterator[bytes]:
        while True:
            if part := reader.take():
                yield part
            if reader.is_whole:
                return
            self._read(reader, limit)

    def _read(self, reader: AnswerReader, limit: TimeLimit) -> None:
        data = self._timed(limit).recv(READ_BYTES)
        limit.count(len(data))
        reader.feed(data)

    def _timed(self, limit: TimeLimit) -> socket.socket:
        if self._socket is None:
            raise ConnectionError("the connection is closed")
        self._socket.settimeout(limit.left())
        return self._socket

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
