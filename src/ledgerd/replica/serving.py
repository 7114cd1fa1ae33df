"""The sockets on which a node sends its changes: a Unix socket of its own user, TLS where both sides show a
certificate, or an address of this machine.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING

from ledgerd.producer.signer_place import PlaceFault, tls_context
from ledgerd.protocol.errors import OperatorError
from ledgerd.replica.conversation import HELLO_SECONDS, Conversation, Cut
from ledgerd.replica.hub import Hub
from ledgerd.replica.messages import MOST_HELLO, ReplicaHello
from ledgerd.signer.serving import bound_socket, user_of
from ledgerd.state.change_log import LogGap
from ledgerd.state.errors import StorageError
from ledgerd.supervision.line_rates import LineRate, limited

if TYPE_CHECKING:
    from ledgerd.protocol.endpoint import Endpoint
    from ledgerd.replica.settings import StreamSettings
    from ledgerd.supervision.tasks import Tasks

log = logging.getLogger(__name__)

MOST_REPLICAS = 32
MOST_STRANGERS = 16
"""Connections that have not said hello yet; each does so within seconds."""
STATES_AT_ONCE = 2
UNSENT_BYTES = 1 << 18
"""What waits in memory for one replica."""
BACKLOG = 64
PAUSE_SECONDS = 0.1
STRANGERS = LineRate("connections of replicas that were refused", 5, 1 / 12)
OPTION = "state-stream-endpoint"


class ReplicaServer:
    """Accepts replicas, and serves each in a task of its own."""

    def __init__(self, hub: Hub, settings: StreamSettings, tasks: Tasks) -> None:
        self._hub, self._settings, self._tasks = hub, settings, tasks
        self._context = _context(settings)
        self._states = asyncio.Semaphore(STATES_AT_ONCE)
        self._served = self._strangers = 0
        self.plug = _listen(settings)

    async def accept(self) -> None:
        """Accept for ever."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, address = await loop.sock_accept(self.plug)
            except OSError as problem:
                log.warning(
                    "no connection can be opened: %(reason)s", {"reason": str(problem)}, extra=limited(STRANGERS)
                )
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            if self._strangers >= MOST_STRANGERS:
                accepted.close()
                continue
            self._strangers += 1
            who = f"{address[0]}:{address[1]}" if address else "at the socket"
            self._tasks.begin(self._serve(accepted, who))

    async def _serve(self, accepted: socket.socket, who: str) -> None:
        writer: asyncio.StreamWriter | None = None
        try:
            try:
                reader, writer = await self._opened(accepted)
                conversation = Conversation(self._hub, reader, writer, who)
                hello = await conversation.greet()
            finally:
                self._strangers -= 1
            await self._run(conversation, hello)
        except (Cut, LogGap, OSError, StorageError) as problem:
            reason = str(problem) or type(problem).__name__
            log.warning(
                "cut off the replica %(who)s: %(reason)s", {"who": who, "reason": reason}, extra=limited(STRANGERS)
            )
        finally:
            if writer is not None:
                writer.transport.abort()
            accepted.close()

    async def _run(self, conversation: Conversation, hello: ReplicaHello) -> None:
        if self._served >= MOST_REPLICAS:
            raise Cut("there are too many")
        self._served += 1
        try:
            await conversation.run(hello, self._states)
        finally:
            self._served -= 1

    async def _opened(self, accepted: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        accepted.setblocking(False)
        if self._settings.place is not None and self._settings.place.path is not None:
            user = user_of(accepted.fileno())
            if user not in {os.getuid(), 0}:
                raise Cut(f"user {user} is not the one of the node")
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(MOST_HELLO, loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        limits = {} if self._context is None else {"ssl_handshake_timeout": HELLO_SECONDS}
        transport, _ = await loop.connect_accepted_socket(lambda: protocol, accepted, ssl=self._context, **limits)
        transport.set_write_buffer_limits(UNSENT_BYTES)
        return reader, asyncio.StreamWriter(transport, protocol, reader, loop)

    def close(self) -> None:
        """Listen no more."""
        self.plug.close()
        place = self._settings.place
        if place is not None and place.path is not None:
            with suppress(OSError):
                place.path.unlink()


def _context(settings: StreamSettings) -> ssl.SSLContext | None:
    if settings.files is None:
        return None
    try:
        return tls_context(settings.files, is_signer=True)
    except PlaceFault as fault:
        raise OperatorError(str(fault)) from fault


def _listen(settings: StreamSettings) -> socket.socket:
    place = settings.place
    if place is None or (place.path is None and place.endpoint is None):
        raise OperatorError(f"{OPTION} names no place")
    if place.path is not None:
        plug = bound_socket(place.path, 0o600, OPTION)
        plug.listen(BACKLOG)
    elif place.endpoint is not None:
        plug = _listen_at(place.endpoint)
    plug.setblocking(False)
    return plug


def _listen_at(endpoint: Endpoint) -> socket.socket:
    family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
    try:
        return socket.create_server(endpoint, family=family, backlog=BACKLOG)
    except OSError as problem:
        raise OperatorError(f"tcp://{endpoint} cannot be listened on: {problem.strerror}") from problem
