"""A server that answers with whatever bytes a test likes, and as many of them as are taken."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tests.patience import PATIENCE

Answer = Callable[[bytes], Iterator[bytes]]
"""The pieces that are sent for a request, as long as they are taken."""


class RawServer:
    """A server that answers with whatever bytes it likes."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._server = socket.create_server(("127.0.0.1", 0))
        self.sent = 0
        self.requests = 0
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.getsockname()[1]}"

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                with connection, suppress(OSError):
                    while request := connection.recv(1 << 16):
                        self.requests += 1
                        self._send(connection, request)

    def _send(self, connection: socket.socket, request: bytes) -> None:
        for each in self._answer(request):
            connection.sendall(each)
            self.sent += len(each)

    def stop(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join(PATIENCE)


@contextmanager
def answering(answer: Answer) -> Iterator[RawServer]:
    server = RawServer(answer)
    try:
        yield server
    finally:
        server.stop()


def once(raw: bytes) -> Answer:
    return lambda _: iter((raw,))
