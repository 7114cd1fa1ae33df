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
from pathlib import Path

from ledgerd.basics.addresses import charged_as
from ledgerd.producer.signing.signer_place import PlaceFault, tls_context
from ledgerd.protocol.errors import OperatorError
from ledgerd.replica.messages import MOST_HELLO, ReplicaHello
from ledgerd.replica.order import ServerOrder
from ledgerd.replica.serving.conversation import HELLO_SECONDS, Conversation, Cut
from ledgerd.replica.serving.hub import Hub
from ledgerd.replica.serving.places import HeldPlace, ReplicaPlaces, StrangerPlaces
from ledgerd.replica.settings import StreamSettings
from ledgerd.replica.source import NodeFiles
from ledgerd.signer.sockets import BACKLOG, bound_socket, certificate_of, listening_socket, user_of
from ledgerd.state.errors import StorageError
from ledgerd.state.files.change_log import LogGap
from ledgerd.supervision.line_rates import LineRate, limited
from ledgerd.supervision.tasks import Tasks, first_of

log = logging.getLogger(__name__)

STATES_AT_ONCE = 2
"""Replicas that are sent a whole state at a time."""
UNSENT_BYTES = 1 << 18
"""Bytes that wait in memory for one replica."""
PAUSE_SECONDS = 0.1
MOST_NOTICES = 65_536
"""Notices of commits that are read at once."""
STRANGERS = LineRate("connections of replicas that were refused", 5, 1 / 12)
OPTION = "state-stream-endpoint"


class ReplicaCaller:
    """A connection, from when it was accepted."""

    def __init__(self, connection: socket.socket, address: tuple[str, int] | str | bytes) -> None:
        self.connection = connection
        self.address, self.who = "", "at the socket"
        if isinstance(address, tuple):
            self.address, self.who = charged_as(address[0]), f"{address[0]}:{address[1]}"
        self.owner = self.address
        """The name under which it counts as a replica: that of its certificate, once it has shown one."""
        self.writer: asyncio.StreamWriter | None = None
        self.conversation: Conversation | None = None
        self.hello: ReplicaHello | None = None

    def close(self) -> None:
        """End it, whatever waits to be sent."""
        if self.writer is not None:
            self.writer.transport.abort()
        self.connection.close()


class ReplicaServer:
    """Accepts replicas, and serves each in a task of its own."""

    def __init__(self, hub: Hub, settings: StreamSettings, tasks: Tasks) -> None:
        self._hub, self._settings, self._tasks = hub, settings, tasks
        self._context = _context(settings)
        self._states = asyncio.Semaphore(STATES_AT_ONCE)
        self._strangers, self._replicas = StrangerPlaces(), ReplicaPlaces()
        self.listener = _listen(settings)

    async def accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, address = await loop.sock_accept(self.listener)
            except OSError as problem:
                log.warning(
                    "no connection can be opened: %(reason)s", {"reason": str(problem)}, extra=limited(STRANGERS)
                )
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            caller = ReplicaCaller(accepted, address)
            self._tasks.begin(self._serve(caller, self._strangers.enter(caller.address)))

    async def _serve(self, caller: ReplicaCaller, place: HeldPlace) -> None:
        try:
            try:
                await first_of(self._meet(caller), _lost(place))
            finally:
                self._strangers.leave(place)
            await self._run(caller)
        except (Cut, LogGap, OSError, StorageError) as problem:
            reason = str(problem) or type(problem).__name__
            log.warning(
                "cut off the replica %(who)s: %(reason)s",
                {"who": caller.who, "reason": reason},
                extra=limited(STRANGERS),
            )
        finally:
            caller.close()

    async def _meet(self, caller: ReplicaCaller) -> None:
        """Have it show its certificate, or say hello where none is asked for."""
        reader, writer = await self._opened(caller.connection)
        caller.writer = writer
        caller.conversation = Conversation(self._hub, reader, writer, caller.who)
        if self._context is None:
            caller.hello = await caller.conversation.greet()
        else:
            caller.owner = certificate_of(writer.transport)
            self._strangers.remember(caller.address)

    async def _run(self, caller: ReplicaCaller) -> None:
        place = self._replicas.enter(caller.owner)
        if place is None:
            raise Cut("there are too many")
        try:
            await first_of(self._converse(caller), _lost(place))
        finally:
            self._replicas.leave(place)

    async def _converse(self, caller: ReplicaCaller) -> None:
        if (conversation := caller.conversation) is not None:
            await conversation.run(caller.hello or await conversation.greet(), self._states)

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
        self.listener.close()
        place = self._settings.place
        if place is not None and place.path is not None:
            with suppress(OSError):
                place.path.unlink()


async def _lost(place: HeldPlace) -> None:
    await place.lost.wait()
    raise Cut("it gave way to another one")


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
        listener = bound_socket(place.path, 0o600, OPTION)
        listener.listen(BACKLOG)
    elif place.endpoint is not None:
        listener = listening_socket(place.endpoint, "tcp")
    listener.setblocking(False)
    return listener


async def serve(order: ServerOrder, commits: asyncio.StreamReader) -> None:
    """Serve replicas; a byte comes for each commit, until the node closes that stream."""
    source = NodeFiles(Path(order.state), Path(order.logs), Path(order.archive))
    hub = Hub(source)
    failed: list[BaseException] = []
    ended = asyncio.Event()

    def fail(problem: BaseException) -> None:
        failed.append(problem)
        ended.set()

    tasks = Tasks(fail)
    server = ReplicaServer(hub, order.settings, tasks)

    async def notice() -> None:
        while await commits.read(MOST_NOTICES):
            hub.notice()

    try:
        await first_of(notice(), ended.wait(), server.accept(), hub.run(), hub.count())
        if failed:
            raise failed[0]
    finally:
        server.close()
        await tasks.stop()
        source.close()
