"""JSON-RPC 2.0 to a node, over HTTP, HTTPS, WS or WSS: one request at a time, each bounded in time and bytes."""

from __future__ import annotations

import http.client
import io
import ipaddress
import itertools
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import SplitResult, urlsplit

import orjson

from ledgerd.wallet.errors import NodeRefused, NodeUnreachable, WalletError

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

SECONDS = 15.0
LARGEST_ANSWER = 32 << 20
WEB, SECURE_WEB, SOCKET, SECURE_SOCKET = "http", "https", "ws", "wss"
SECURE = (SECURE_WEB, SECURE_SOCKET)


class BoundedReader(io.RawIOBase):
    """Reads from a socket for so long in all, however the bytes trickle in."""

    def __init__(self, plug: socket.socket, left: Callable[[], float]) -> None:
        super().__init__()
        self._plug, self._left = plug, left
        self._raw = plug.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:  # noqa: ANN401 - a buffer, which has no type before Python 3.12
        self._plug.settimeout(self._left())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class BoundedSocket:
    """What `http.client` uses of a socket: its own bound is for each read, of which there may be many."""

    def __init__(self, plug: socket.socket, left: Callable[[], float]) -> None:
        self._plug, self._left = plug, left

    def sendall(self, data: Any) -> None:  # noqa: ANN401 - a buffer
        """Send all of it."""
        self._plug.settimeout(self._left())
        self._plug.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        """What is read, from here on."""
        return io.BufferedReader(BoundedReader(self._plug, self._left))

    def close(self) -> None:
        """Close it, as soon as nobody reads from it any more."""
        self._plug.close()


class NodeClient:
    """A node, by its address."""

    def __init__(self, url: str, seconds: float = SECONDS) -> None:
        self.url = url
        self._seconds = seconds
        self._parts = _parts_of(url)
        self._numbers = itertools.count(1)
        self._http: http.client.HTTPConnection | None = None
        self._until = 0.0
        self._socket: ClientConnection | None = None
        self._open = ExitStack()
        """The WebSocket, to be closed."""

    @property
    def is_readable_by_others(self) -> bool:
        """Whether what is asked travels unencrypted beyond this machine."""
        return self._parts.scheme not in SECURE and not _is_loopback(self._parts.hostname or "")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, api: str, method: str, *arguments: object) -> Any:  # noqa: ANN401 - JSON
        """The result of a request.

        Raises:
            NodeUnreachable: There is no answer, or none that can be read.
            NodeRefused: The node answers with an error.
        """
        number = next(self._numbers)
        request = {"jsonrpc": "2.0", "id": number, "method": "call", "params": [api, method, list(arguments)]}
        body = orjson.dumps(request)
        try:
            raw = self._by_socket(body) if self._parts.scheme in (SOCKET, SECURE_SOCKET) else self._by_http(body)
        except (OSError, http.client.HTTPException, ssl.SSLError) as problem:
            self.close()
            raise NodeUnreachable(f"{self.url} does not answer: {problem}") from problem
        except NodeUnreachable:
            self.close()  # what is left of the answer must not be taken for the next one
            raise
        return _result_of(raw, number, self.url)

    def close(self) -> None:
        """Close the connection; the next request makes a new one."""
        if self._http is not None:
            self._http.close()
        self._http = self._socket = None
        self._open.close()

    def _by_http(self, body: bytes) -> bytes:
        if self._http is None:
            kind = http.client.HTTPSConnection if self._parts.scheme == SECURE_WEB else http.client.HTTPConnection
            self._http = kind(self._parts.hostname or "", self._parts.port, timeout=self._seconds)
            self._http.connect()
            self._http.sock = BoundedSocket(self._http.sock, self._left)
        self._until = time.monotonic() + self._seconds
        path = self._parts.path or "/"
        self._http.request("POST", path, body, {"Content-Type": "application/json"})
        response = self._http.getresponse()
        raw = response.read(LARGEST_ANSWER + 1)
        if len(raw) > LARGEST_ANSWER:
            raise NodeUnreachable(f"{self.url} answers more than {LARGEST_ANSWER >> 20} MB")
        if response.status != http.HTTPStatus.OK and not raw.startswith(b"{"):
            raise NodeUnreachable(f"{self.url} answers {response.status} {response.reason}")
        return raw

    def _left(self) -> float:
        """Seconds until the answer has to be there."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"no whole answer in {self._seconds:g} seconds")
        return left

    def _by_socket(self, body: bytes) -> bytes:
        from websockets.exceptions import WebSocketException  # noqa: PLC0415 - not loaded where HTTP is spoken
        from websockets.sync.client import connect  # noqa: PLC0415

        try:
            if self._socket is None:
                opened = connect(self.url, open_timeout=self._seconds, max_size=LARGEST_ANSWER)
                self._socket = self._open.enter_context(opened)
            self._socket.send(body.decode())
            answer = self._socket.recv(self._seconds)
        except WebSocketException as problem:
            raise ConnectionError(str(problem)) from problem
        return answer.encode() if isinstance(answer, str) else answer


def _parts_of(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise WalletError(f"{url} is no address of a node: http://localhost:8090 is one") from None
    if parts.scheme not in (WEB, SECURE_WEB, SOCKET, SECURE_SOCKET) or not parts.hostname:
        raise WalletError(f"{url} is no address of a node: http://localhost:8090 is one")
    if parts.username or parts.password:
        raise WalletError("an address with a password in it is not used")
    return parts


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _result_of(raw: bytes, number: int, url: str) -> Any:  # noqa: ANN401 - JSON
    try:
        answer = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise NodeUnreachable(f"{url} does not answer as a node does") from None
    if not isinstance(answer, dict) or answer.get("id") != number:
        raise NodeUnreachable(f"{url} does not answer as a node does")
    error = answer.get("error")
    if error is None and "result" in answer:
        return answer["result"]
    if not isinstance(error, dict):
        raise NodeUnreachable(f"{url} does not answer as a node does")
    raise NodeRefused(str(error.get("message", "")), error.get("data"))
