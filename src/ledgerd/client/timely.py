"""HTTP connections on which a whole exchange has one deadline, however slowly its bytes come."""

from __future__ import annotations

import http.client
import io
import socket
import time
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class Deadline:
    """When the present exchange has to be over."""

    def __init__(self) -> None:
        self._at = 0.0

    def set(self, seconds: float) -> None:
        """Begin an exchange."""
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds that are left.

        Raises:
            TimeoutError: None are.
        """
        left = self._at - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        return left


class _TimelyReader(io.RawIOBase):
    """The bytes of a socket, each of them awaited until the deadline alone."""

    def __init__(self, connection: socket.socket, deadline: Deadline) -> None:
        self._socket = connection
        self._raw = connection.makefile("rb", buffering=0)
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        self._socket.settimeout(self._deadline.left())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimelySocket:
    """What a connection needs of its socket."""

    def __init__(self, connection: socket.socket, deadline: Deadline) -> None:
        self._socket = connection
        self._deadline = deadline

    def sendall(self, data: bytes) -> None:
        self._socket.settimeout(self._deadline.left())
        self._socket.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_TimelyReader(self._socket, self._deadline))

    def close(self) -> None:
        self._socket.close()


class TimelyHTTPConnection(http.client.HTTPConnection):
    """Without encryption."""

    deadline: Deadline

    def connect(self) -> None:
        self.timeout = self.deadline.left()
        super().connect()
        self.sock = cast("socket.socket", _TimelySocket(self.sock, self.deadline))


class TimelyHTTPSConnection(http.client.HTTPSConnection):
    """With encryption."""

    deadline: Deadline

    def connect(self) -> None:
        self.timeout = self.deadline.left()
        super().connect()
        self.sock = cast("socket.socket", _TimelySocket(self.sock, self.deadline))
