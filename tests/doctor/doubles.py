"""What a sound node has around it, on this machine alone: time servers, a seed, a snapshot peer, its own `/ready`."""

from __future__ import annotations

import http.server
import json
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Self

from ledgerd.producer.time.ntp import MICRO, ntp_time
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.snapshot.exchange.frames import InfoReply, packed

HOST = "127.0.0.1"


class Double:
    """Something that listens until it is closed."""

    def __init__(self, kind: socket.SocketKind = socket.SOCK_STREAM) -> None:
        self.plug = socket.socket(socket.AF_INET, kind)
        self.plug.bind((HOST, 0))
        self.endpoint = Endpoint(HOST, self.plug.getsockname()[1])
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with suppress(OSError):
            self.serve()

    def serve(self) -> None:
        """Answer until the socket is closed."""

    def close(self) -> None:
        with suppress(OSError):
            self.plug.shutdown(socket.SHUT_RDWR)
        self.plug.close()
        self._thread.join(5)


class TimeDouble(Double):
    """A time server for which our clock is behind by so many microseconds."""

    def __init__(self, wall: Callable[[], int], ahead: int = 0) -> None:
        self._wall = wall
        self.ahead = ahead
        super().__init__(socket.SOCK_DGRAM)

    def serve(self) -> None:
        while True:
            data, sender = self.plug.recvfrom(512)
            if len(data) < 48:
                return
            (asked,) = struct.unpack_from(">Q", data, 40)
            there = ntp_time(self._wall() + self.ahead)
            self.plug.sendto(bytes(24) + struct.pack(">QQQ", asked, there, there), sender)

    def close(self) -> None:
        self.plug.sendto(b"", self.endpoint)
        self._thread.join(5)
        self.plug.close()


class PeerDouble(Double):
    """A seed: it takes connections, and says nothing."""

    def serve(self) -> None:
        self.plug.listen()
        while True:
            self.greet(self.plug.accept()[0])

    def greet(self, connection: socket.socket) -> None:
        connection.close()


class SnapshotDouble(PeerDouble):
    """A peer that has a snapshot."""

    def greet(self, connection: socket.socket) -> None:
        with connection:
            if connection.recv(512):
                connection.sendall(packed(InfoReply(1000, NO_BLOCK, bytes(32), 1 << 20)))
                connection.recv(512)


class ReadyDouble:
    """The HTTP of a running node: `/ready` says what a test wants."""

    def __init__(self) -> None:
        self.answer: dict[str, object] = {"ready": True, "head_block_number": 7}
        double = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = json.dumps(double.answer).encode()
                self.send_response(200 if double.answer["ready"] else 503)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nothing is printed."""

        self._server = http.server.ThreadingHTTPServer((HOST, 0), Handler)
        self.endpoint = Endpoint(HOST, self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


class SectionContext:
    """All of them, three time servers among them."""

    def __init__(self, now: int) -> None:
        self.now = now
        self.time_servers = [TimeDouble(self.wall) for _ in range(3)]
        self.seeds = [PeerDouble(), PeerDouble()]
        self.snapshot_peer = SnapshotDouble()
        self.ready = ReadyDouble()

    def wall(self) -> int:
        return self.now * MICRO

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in (*self.time_servers, *self.seeds, self.snapshot_peer):
            each.close()
        self.ready.close()


def closed_port() -> Endpoint:
    """An endpoint on which nobody listens."""
    with socket.socket() as plug:
        plug.bind((HOST, 0))
        return Endpoint(HOST, plug.getsockname()[1])
