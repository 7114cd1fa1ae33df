"""The limits on clients, each an option, counted by each worker process by itself."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from msgspec.structs import replace

OWN_FILES = 192
"""Files and sockets that a worker has open besides the connections within its limits."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits on everything that clients can make grow. Zero means no limit where that is stated."""

    body_bytes: int = 32_000_000
    """A request, over HTTP or WebSocket."""
    held_bytes: int = 48_000_000
    """Buffered requests of all clients, besides some bytes of each."""
    held_answer_bytes: int = 64_000_000
    """Buffered answers of all clients: incomplete batches, and what was not sent yet; zero for any size."""
    header_bytes: int = 16_000
    """Request line and headers."""
    batch: int = 1_000
    """Requests in one batch; zero for any number."""
    names: int = 1_000
    """Names, keys and signatures in one request, or in all requests of a batch together; zero for any number."""
    answer_bytes: int = 32_000_000
    """The answer to one request, or to a batch; zero for any size."""

    connections: int = 1_024
    """Connections at a time; zero for any number."""
    address_connections: int = 256
    """Connections of one address; zero for any number."""
    address_rate: float = 0.0
    """Requests a second of one address, with as many at once; zero, the default, for any number."""
    late_answers: int = 100
    """Unfinished answers of one WebSocket connection, with its subscriptions; zero for any number."""
    address_late_answers: int = 250
    """The late answers of one address; zero for any number."""
    all_late_answers: int = 1_000
    """The late answers of all connections; zero for any number."""

    request_seconds: float = 30.0
    """From the first byte of a request to the end of its headers, and from there to the end of the body; for a
    WebSocket message from its first byte to its last."""
    idle_seconds: float = 75.0
    """The longest pause between two requests. A WebSocket is pinged after that, and has as long again to answer."""
    write_seconds: float = 60.0
    """The time in which a client has to read its answer."""
    stop_seconds: float = 10.0
    """The time for requests that are in flight when the worker stops."""

    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks whose `X-Forwarded-For` says who the client is."""
    exempt: tuple[str, ...] = ("private",)
    """Addresses that many clients share: their broadcasts are charged by connection."""
    allowed_origins: tuple[str, ...] = ()
    """Origins of web pages that may send requests to a loopback endpoint."""

    @property
    def files(self) -> int:
        return self.connections + OWN_FILES

    def within(self, files: int) -> Limits:
        if files >= self.files and self.connections:
            return self
        fitting = max(1, files - OWN_FILES)
        return replace(self, connections=min(self.connections or fitting, fitting))


class Asker(NamedTuple):
    """A client of a request."""

    address: str = ""
    """The address that limits count; empty if there is none."""
    share: str = ""
    """What its broadcasts are charged to: the address, or the connection where many clients share the address."""


NOBODY = Asker()
