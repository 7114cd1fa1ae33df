"""Serves the clients of a signer: users that it names on a Unix socket, or over TLS those who show a certificate."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import ssl
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import cast

from ledgerd.basics.framing.frames import FrameBuffer, FrameFault
from ledgerd.producer.signing.signing_frames import MOST_FRAME, packed_answer, read_question
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.signer.clients import Clients
from ledgerd.signer.service import SigningService
from ledgerd.signer.sockets import BACKLOG, bound_socket, certificate_of, listening_socket, user_of
from ledgerd.supervision.line_rates import LineRate, limited
from ledgerd.supervision.work import Work

log = logging.getLogger(__name__)

SILENT_SECONDS = 60.0
"""A connection without a question is closed; a node asks every five seconds how the signer is."""
HANDSHAKE_SECONDS = 3.0
"""The time for the handshake of TLS."""
UNREAD_BYTES = 1 << 16
"""Answers that a client has not taken; with more, it is disconnected."""
PAUSE_SECONDS = 0.1
"""The pause after a connection that could not be accepted, for example for lack of file descriptors."""
STRANGERS = LineRate("connections that the signer refused", 5, 1 / 12)

Identify = Callable[[asyncio.BaseTransport], str]
"""Says who is at the other end; an empty text for nobody that is served."""


class AskingConnection(asyncio.Protocol):
    """One connection of a client."""

    def __init__(self, service: SigningService, clients: Clients, identify: Identify) -> None:
        self._service, self._clients, self._identify = service, clients, identify
        self._frames = FrameBuffer(MOST_FRAME)
        self._transport: asyncio.Transport | None = None
        self._client = ""
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._client = self._identify(transport)
        if not self._client or not self._clients.admit(self._client, self):
            log.warning(
                "refused a connection: %(reason)s",
                {"reason": "there are too many" if self._client else "that user is not named"},
                extra=limited(STRANGERS),
            )
            self.close()
            return
        self._read()

    def data_received(self, data: bytes) -> None:
        self._frames.add(data)
        self._read()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - as asyncio calls it
        self._transport = None
        self._clients.leave(self)
        if self._timer is not None:
            self._timer.cancel()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _read(self) -> None:
        """Answer what has come, and leave the rest until its client may ask again."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        loop, wait = asyncio.get_running_loop(), 0.0
        try:
            while not self._frames.missing:
                wait = self._clients.wait_before(self._client, loop.time())
                if wait:
                    break
                transport.write(packed_answer(self._service.answer(read_question(self._frames.next()))))
        except FrameFault as fault:
            log.warning("closed a connection: %(fault)s", {"fault": str(fault)}, extra=limited(STRANGERS))
            self.close()
            return
        if transport.get_write_buffer_size() > UNREAD_BYTES:
            self.close()
            return
        self._set_timer(wait)

    def _set_timer(self, wait: float) -> None:
        """Go on after a wait, during which nothing is read; or else close the connection when it stays silent."""
        transport, loop = self._transport, asyncio.get_running_loop()
        if transport is None:
            return
        if self._timer is not None:
            self._timer.cancel()
        with suppress(RuntimeError):  # it is as it should be
            (transport.pause_reading if wait else transport.resume_reading)()
        self._timer = loop.call_later(wait, self._read) if wait else loop.call_later(SILENT_SECONDS, self.close)


class TlsListener:
    """Listens on an address, and accepts connections by itself, to count those that have shown no certificate yet."""

    def __init__(self, service: SigningService, clients: Clients, context: ssl.SSLContext, work: Work) -> None:
        self._service, self._clients, self._context, self._work = service, clients, context, work

    def listen(self, endpoint: Endpoint) -> socket.socket:
        sock = listening_socket(endpoint, "tls")
        sock.setblocking(False)
        self._work.keep("connections", lambda _: self._accept(sock))
        return sock

    async def _accept(self, sock: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, address = await loop.sock_accept(sock)
            except OSError as problem:
                log.warning(
                    "no connection can be opened: %(reason)s", {"reason": str(problem)}, extra=limited(STRANGERS)
                )
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            if self._clients.begin_handshake(address[0]):
                self._work.begin(self._shake_hands(address[0], accepted))
            else:
                accepted.close()

    async def _shake_hands(self, address: str, accepted: socket.socket) -> None:
        is_right = False
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: AskingConnection(self._service, self._clients, certificate_of),
                accepted,
                ssl=self._context,
                ssl_handshake_timeout=HANDSHAKE_SECONDS,
            )
            is_right = True
        except OSError as problem:
            reason = str(problem) or type(problem).__name__
            log.warning(
                "refused a connection of %(address)s: %(reason)s",
                {"address": address, "reason": reason},
                extra=limited(STRANGERS),
            )
            accepted.close()
        finally:
            self._clients.end_handshake(address, is_right=is_right)


def users_only(users: Collection[int]) -> Identify:

    def identify(transport: asyncio.BaseTransport) -> str:
        user = user_of(transport.get_extra_info("socket").fileno())
        return f"user {user}" if user in users else ""

    return identify


class PathListener:
    """A Unix socket, and the file that is its own."""

    def __init__(self, path: Path, sock: socket.socket) -> None:
        self._path, self._sock = path, sock
        self._own = _identity(path)
        self._server: asyncio.AbstractServer | None = None

    async def begin(self, service: SigningService, clients: Clients, users: Collection[int]) -> None:
        identify, loop = users_only(users), asyncio.get_running_loop()
        self._server = await loop.create_unix_server(
            lambda: AskingConnection(service, clients, identify), sock=self._sock, backlog=BACKLOG
        )

    def close(self) -> None:
        """Listen no more; the file goes, unless another signer has taken its place."""
        if self._server is not None:
            self._server.close()
        with suppress(OSError):
            if _identity(self._path) == self._own:
                self._path.unlink()


async def listen_on_path(path: Path, service: SigningService, clients: Clients, users: Collection[int]) -> PathListener:
    """Listen on a Unix socket, whose file only we may open unless other users are named."""
    listener = PathListener(path, bound_socket(path, 0o666 if set(users) - {os.getuid(), 0} else 0o600))
    await listener.begin(service, clients, users)
    return listener


def _identity(path: Path) -> tuple[int, int]:
    found = path.lstat()
    return found.st_dev, found.st_ino
