"""What the connections of one worker share: the dispatcher, the limits, and the watch over their deadlines.

No connection has a timer of its own. The watch comes round a few times a second and closes those that have stood
at the same place for longer than that place allows, so a request costs nothing for being watched.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import cast

from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.http.addresses import Addresses
from ledgerd.rpc.http.responses import Page
from ledgerd.supervision.tasks import Tasks

log = logging.getLogger(__name__)

Routes = Mapping[bytes, Callable[[], Page]]
"""The page of each path for GET."""

LONGEST_ROUND = 1.0

ALWAYS_HELD = 64 * 1024
"""Bytes of requests that each connection may have buffered, whatever the total is."""


class Connection(asyncio.Protocol):
    """A client's connection, with its deadlines."""

    transport: asyncio.Transport

    def __init__(self, service: Service, address: str = "") -> None:
        self.service = service
        self.address = address
        self.is_congested = False
        """The send buffer is full: the client does not read."""
        self.steps = 0
        """Counts the client's progress, so that the watch finds connections without any."""
        self.seen = (-1, 0.0)
        self._held = 0

    def progress(self) -> int:
        """The client's progress; an unchanged number means that it made none."""
        return self.steps

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]) if isinstance(peer, tuple) else ""
        if not self.service.admit(self):
            self.transport.abort()
            return
        plug = transport.get_extra_info("socket")
        if plug is not None and plug.family != socket.AF_UNIX:
            # A client that waits for an answer sends nothing: TCP keep-alive finds out if it is gone.
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - why a client left does not matter
        self.hold(0)
        self.service.leave(self)

    def hold(self, held: int) -> bool:
        """So many bytes of requests are kept here now; whether that is too much, with those of all others."""
        service = self.service
        service.held += held - self._held
        self._held = held
        return held > ALWAYS_HELD and service.held > service.limits.held_bytes

    def pause_writing(self) -> None:
        self.is_congested = True
        self.steps += 1

    def resume_writing(self) -> None:
        self.is_congested = False
        self.steps += 1

    @abstractmethod
    def patience(self) -> float | None:
        """Seconds that the connection may stand where it stands; nothing where it is we who take the time."""

    @abstractmethod
    def expire(self) -> None:
        """The deadline has passed."""

    @abstractmethod
    def finish(self) -> None:
        """Take no more requests, and close after the answers to those in flight."""


class Service:
    """One worker's side of all its connections."""

    def __init__(self, dispatcher: Dispatcher, limits: Limits, routes: Routes | None = None) -> None:
        self.dispatcher = dispatcher
        self.limits = limits
        self.routes: Routes = dict(routes or {})
        self.is_recovering = False
        """The state is being rebuilt: every request is put off (spec 05, section 2.2)."""
        self.is_stopping = False
        self.addresses = Addresses(limits.address_connections, limits.address_rate)
        self.connections: dict[Connection, None] = {}
        self.held = 0
        """Bytes of requests that are kept for all of them."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._left = asyncio.Event()
        self.tasks = Tasks(_tell_fault)
        """The answers that are not there yet. One that fails ends its connection, and nothing else."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop of the connections, once the first of them is there."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        return self._loop

    def admit(self, connection: Connection) -> bool:
        """Take a connection in, unless there are too many."""
        if self.is_stopping or 0 < self.limits.connections <= len(self.connections):
            return False
        if not self.addresses.enter(connection.address):
            return False
        self.connections[connection] = None
        if self._watch is None:
            self._watch = self.loop.call_later(self._round, self._look)
        return True

    def leave(self, connection: Connection) -> None:
        """A connection has ended."""
        if self.connections.pop(connection, self) is None:
            self.addresses.leave(connection.address)
            self._left.set()

    def replace(self, connection: Connection, other: Connection) -> None:
        """A connection goes on as another."""
        del self.connections[connection]
        self.connections[other] = None

    @property
    def is_open(self) -> bool:
        """Whether every request is answered, without a check of rate or state."""
        return not (self.is_recovering or self.is_stopping or self.limits.address_rate)

    def may_ask(self, address: str) -> bool:
        """Whether an address may have another request answered."""
        return not self.limits.address_rate or self.addresses.allows(address, self.loop.time())

    @property
    def _round(self) -> float:
        limits = self.limits
        shortest = min(limits.request_seconds, limits.idle_seconds, limits.write_seconds)
        return min(LONGEST_ROUND, shortest / 4)

    def _look(self) -> None:
        now = self.loop.time()
        self.look(now)
        self.addresses.forget(now)
        self._watch = self.loop.call_later(self._round, self._look) if self.connections else None

    def look(self, now: float) -> None:
        """Close the connections that have stood still for too long."""
        for connection in list(self.connections):
            step, since = connection.seen
            progress = connection.progress()
            if step != progress:
                connection.seen = (progress, now)
                continue
            patience = self.limits.write_seconds if connection.is_congested else connection.patience()
            if patience is not None and now - since >= patience:
                connection.expire()

    async def stop(self) -> None:
        """Answer what is in flight, within its time, and end every connection."""
        self.is_stopping = True
        for connection in list(self.connections):
            connection.finish()
        try:
            async with asyncio.timeout(self.limits.stop_seconds):
                while self.connections:
                    self._left.clear()
                    await self._left.wait()
        except TimeoutError:
            for connection in list(self.connections):
                connection.transport.abort()
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None


def _tell_fault(problem: BaseException) -> None:
    log.error("an answer has failed: internal error", exc_info=problem)
