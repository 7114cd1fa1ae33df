"""What the connections of one worker share: the dispatcher, the limits and the check of deadlines.

No connection has a timer of its own. A few times a second all connections are checked, and those without progress for
longer than their deadline are closed, so a request has no cost for it.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import cast

from ledgerd.basics.addresses import Exemption, charged_as, is_loopback
from ledgerd.basics.quotas import HeldAmounts, Quotas
from ledgerd.rpc.call.bounds import LimitsReached
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import NOBODY, Asker, Limits
from ledgerd.rpc.http.gate import Gate, Proxies
from ledgerd.rpc.http.places.connection_table import Activity, ConnectionTable, GivenUpAnswers
from ledgerd.rpc.http.reader import Unread
from ledgerd.rpc.http.responses import Page
from ledgerd.rpc.shares.loop_turns import LoopTurns
from ledgerd.supervision.tasks import Tasks

log = logging.getLogger(__name__)

PageRoutes = Mapping[bytes, Callable[[], Page]]

NegotiatedRoutes = Mapping[bytes, Callable[[bytes], Page]]
"""Pages in several formats: the function that makes one gets the `Accept` header of the request."""

LONGEST_ROUND = 1.0
"""The longest pause between two looks for connections that are out of time."""

ALWAYS_HELD = 64 * 1024
"""Bytes of requests that each connection may have buffered besides the total of all."""

READ_TURN_BYTES = 64 * 1024
"""Received bytes after which others are served first."""

SECONDS_A_BYTE = 1e-8
"""The least time for reading a byte of JSON."""

WRITE_BYTES = 64 * 1024
"""Bytes of answers that a client need not have taken for us to answer on."""

SPARE_PLACES = 64
"""Connections above the limits, which are served `/health` only."""

SPARE_SECONDS = 5.0
"""The time after which a connection above the limits is closed if nothing moves on it."""


class Connection(asyncio.Protocol):
    """A client's connection, with its deadlines."""

    transport: asyncio.Transport
    is_web_socket = False

    def __init__(self, service: Server, asker: Asker = NOBODY) -> None:
        self.service = service
        self.turns = service.turns
        """Chooses the connection whose work is done next."""
        self.asker = asker
        self.host = ""
        """The address itself, where limits go by its network."""
        self.charged = asker.address
        """The address that the connection counts for; empty for a trusted proxy, which many clients share."""
        self.is_spare = False
        self.is_congested = False
        """Whether the send buffer is full, because the client does not read."""
        self.steps = 0
        """Counts the client's progress, for the check of deadlines."""
        self.seen: tuple[object, float] = (None, 0.0)
        self.unread = Unread()
        self.buffered_bytes = 0
        """Buffered bytes of requests, without those that are always allowed."""
        self.arrived_bytes = 0
        """The bytes of requests that wait for their answers."""
        self.late_answers = 0
        """Unfinished answers, with subscriptions, while other requests are answered."""
        self.unsent_bytes = 0
        """Bytes of answers in the send buffer while the client does not read."""
        self._waits_for_turn = False

    def progress(self) -> int:
        return self.steps

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        if isinstance(peer, tuple):
            self._set_address(str(peer[0]), peer[1])
        if not self.service.admit(self):
            self.transport.abort()
            return
        # A write buffer keeps a whole answer until its last byte is taken: only an empty one is counted as nothing.
        self.transport.set_write_buffer_limits(WRITE_BYTES, 0)
        sock = transport.get_extra_info("socket")
        if sock is not None and sock.family != socket.AF_UNIX:
            # A client that waits for an answer sends nothing: TCP keep-alive detects a lost connection.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def _set_address(self, host: str, port: int) -> None:
        """Many clients share the address of a proxy: each of its connections has a share of its own."""
        service, address = self.service, charged_as(host)
        self.host = host if ":" in address else address
        is_proxy = service.proxies.are(self.host)
        is_shared = is_proxy or host in service.exemption or self.host in service.exemption
        self.asker = Asker(address, f"{host} port {port}" if is_shared else address)
        self.charged = "" if is_proxy else address

    @property
    def address(self) -> str:
        return self.asker.address

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - why a client left does not matter
        self.unread.clear()
        self.count_buffered(0)
        self.count_unsent(0)
        self.count_late_answers(0)
        self.service.leave(self)

    def read_in_turns(self, size: int) -> None:
        """Let other connections have their turn after many bytes: the loop would read up to 8 MB of one of them at
        once.
        """
        self.service.received += size
        if self.transport.is_closing():
            return
        if not self.may_read:
            self.transport.pause_reading()
        elif size >= READ_TURN_BYTES:
            self.transport.pause_reading()
            self.service.loop.call_soon(self.read_on)

    def read_on(self) -> None:
        if self.may_read and not self.transport.is_closing():
            self.transport.resume_reading()

    @property
    def may_read(self) -> bool:
        return self.unread.size < READ_TURN_BYTES

    def go_on_later(self) -> None:
        """Go on in a turn, after other clients who have had less time."""
        if not self._waits_for_turn:
            self._waits_for_turn = True
            self.turns.wait(self.asker.share, self._run_turn, self.arrived_bytes * SECONDS_A_BYTE)

    def _run_turn(self) -> None:
        self._waits_for_turn = False
        if not self.transport.is_closing():
            self.go_on()

    @abstractmethod
    def go_on(self) -> None:
        """Parse what has arrived and answer it, as far as there is time."""

    @property
    @abstractmethod
    def activity(self) -> Activity:
        """The client's activity."""

    def count_buffered(self, size: int) -> None:
        """Set the buffered bytes of requests. If all clients have too many together, the one with most is cut off."""
        beyond = max(0, size - ALWAYS_HELD)
        if beyond != self.buffered_bytes:
            self.service.buffered_requests.change(self.asker.share, beyond - self.buffered_bytes)
            self.buffered_bytes = beyond
            self.service.bound_buffered_requests()

    @abstractmethod
    def cut_off(self, reason: str) -> None:
        """Drop all requests and unfinished answers of this connection, tell the client why, and take no more."""

    def pause_writing(self) -> None:
        self.is_congested = True
        self.steps += 1
        self.count_write_buffer()

    def resume_writing(self) -> None:
        self.is_congested = False
        self.steps += 1
        self.count_unsent(0)

    def count_write_buffer(self) -> None:
        """Count the answers that the client does not read. If all clients have too many together, the one with most is
        closed.
        """
        if self.is_congested:
            self.count_unsent(max(self.unsent_bytes, self.transport.get_write_buffer_size()))
            self.service.bound_unsent_answers()

    def count_unsent(self, size: int) -> None:
        self.service.unsent_answers.change(self.asker.share, size - self.unsent_bytes)
        self.unsent_bytes = size

    def count_late_answers(self, answers: int) -> None:
        self.service.late_answers.change(self.asker.share, answers - self.late_answers)
        self.late_answers = answers

    @abstractmethod
    def time_limit(self) -> float | None:
        """Seconds in which the client has to make progress; None while we are working on an answer."""

    @abstractmethod
    def expire(self) -> None:
        """Close the connection, since the deadline has passed."""

    @abstractmethod
    def finish(self) -> None:
        """Take no more requests, and close after the answers to those in flight."""


class Server:
    """One process's side of all its connections: API, explorer or metrics."""

    spare_places = SPARE_PLACES

    def __init__(self, limits: Limits, turns: LoopTurns, unsent_answers: HeldAmounts, bounds: LimitsReached) -> None:
        self.limits, self.turns, self.bounds = limits, turns, bounds
        self.unsent_answers = unsent_answers
        """Bytes of answers that wait for their clients."""
        self.is_stopping = False
        self.addresses = Quotas(limits.address_rate)
        self.proxies = Proxies(limits.trusted_proxies)
        self.exemption = Exemption(limits.exempt)
        self._connections: ConnectionTable[Connection] = ConnectionTable(limits.connections, limits.address_connections)
        self._spare: ConnectionTable[Connection] = ConnectionTable(0, 0)
        self.buffered_requests = HeldAmounts(limits.held_bytes)
        self.late_answers = HeldAmounts(limits.all_late_answers)
        self.received = self.sent = self.accepted = 0
        """Bytes from and to clients, and their connections, since the start."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._left = asyncio.Event()
        self.given_up = GivenUpAnswers()
        self.tasks = Tasks(_log_fault)
        """The tasks of unfinished answers. A failed one closes its connection only."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        return self._loop

    @property
    def connections(self) -> dict[Connection, None]:
        return self._connections.all

    @property
    def spare_connections(self) -> dict[Connection, None]:
        return self._spare.all

    def admit(self, connection: Connection) -> bool:
        """Accept a connection; above the limits it is served `/health` only, where there are places for that."""
        if self.is_stopping:
            return False
        if not self._has_room(connection.charged):
            if not self.spare_places:
                return False
            connection.is_spare = True
            if len(self._spare.all) >= self.spare_places:
                self._dismiss(self._spare.oldest_of_largest())
            self._spare.add(connection)
        else:
            self._connections.add(connection)
        connection.seen = (None, self.loop.time())
        self.accepted += 1
        self._watch_on()
        return True

    def _has_room(self, address: str) -> bool:
        check = self._connections.check(address)
        if check.option:
            self.count_limit(check.option, check.evicted.charged if check.evicted is not None else address)
        if check.evicted is not None:
            self._dismiss(check.evicted)
        return check.is_within

    def bound_buffered_requests(self) -> None:
        held = self.buffered_requests
        while held.is_too_much:
            share = held.largest
            own = [each for each in (*self.connections, *self.spare_connections) if each.asker.share == share]
            largest = max(own, key=lambda each: each.buffered_bytes)
            self.count_limit("webserver-max-held-bytes", largest.address)
            largest.cut_off("the node holds too much of what has not arrived whole")

    def bound_unsent_answers(self) -> None:
        """While too many bytes of answers are unsent, close the largest connection of the client with most of them."""
        held = self.unsent_answers
        while held.is_too_much:
            share = held.largest
            own = [each for each in self.connections if each.asker.share == share and each.unsent_bytes]
            if not own:
                return
            self.count_limit("webserver-max-held-answer-bytes", own[0].address)
            largest = max(own, key=lambda each: each.unsent_bytes)
            largest.count_unsent(0)
            self._dismiss(largest)

    def late_answer_limit(self, connection: Connection) -> str:
        """The option that forbids a connection one more unfinished answer; empty if none does. If all clients have too
        many together, the largest connection of the client with most of them is cut off.
        """
        limits, late, share = self.limits, self.late_answers, connection.asker.share
        if 0 < limits.late_answers <= connection.late_answers:
            return "webserver-max-subscriptions"
        if 0 < limits.address_late_answers <= late.of(share):
            return "webserver-max-subscriptions-per-address"
        if late.has_room_for(1):
            return ""
        option, most = "webserver-max-subscriptions-per-process", late.largest
        if late.of(most) <= late.of(share) + 1:
            return option
        own = [each for each in self.connections if each.asker.share == most]
        largest = max(own, key=lambda each: each.late_answers)
        self.count_limit(option, largest.address)
        largest.cut_off("the node has too many subscriptions, and most of them for this client")
        return ""

    def _dismiss(self, connection: Connection) -> None:
        connection.count_late_answers(0)
        self.leave(connection)
        connection.transport.abort()

    def _watch_on(self) -> None:
        if self._watch is None:
            self._watch = self.loop.call_later(self._round, self._check)

    def leave(self, connection: Connection) -> None:
        if self._connections.remove(connection) or self._spare.remove(connection):
            self._left.set()

    def replace(self, connection: Connection, other: Connection) -> bool:
        if connection.charged != other.charged and not self._has_room(other.charged):
            return False
        self._connections.remove(connection)
        self._connections.add(other)
        return True

    def may_ask(self, address: str) -> bool:
        if self.addresses.allows(address, self.loop.time()):
            return True
        self.count_limit("webserver-max-requests-per-second", address)
        return False

    def count_limit(self, option: str, address: str) -> None:
        self.bounds.count(option, address)
        self._watch_on()

    @property
    def _round(self) -> float:
        limits = self.limits
        shortest = min(limits.request_seconds, limits.idle_seconds, limits.write_seconds)
        return min(LONGEST_ROUND, shortest / 4)

    def _check(self) -> None:
        now = self.loop.time()
        self.check_connections(now)
        self.addresses.forget(now)
        self._watch = None
        if self.connections or self.spare_connections or self.bounds.has_unlogged:
            self._watch_on()

    def check_connections(self, now: float) -> None:
        line = self.bounds.line(now)
        if line:
            log.warning("limits reached by clients: %(limits)s", {"limits": line})
        for connection in [*self.connections, *self.spare_connections]:
            step, since = connection.seen
            connection.count_write_buffer()
            if connection.is_spare and step is not None and now - since >= SPARE_SECONDS:
                connection.transport.abort()
                continue
            progress = connection.progress()
            if step != progress:
                connection.seen = (progress, now)
                continue
            limit = self.limits.write_seconds if connection.is_congested else connection.time_limit()
            if limit is not None and now - since >= limit:
                connection.expire()

    async def stop(self) -> None:
        self.is_stopping = True
        for connection in [*self.connections, *self.spare_connections]:
            connection.finish()
        try:
            async with asyncio.timeout(self.limits.stop_seconds):
                while self.connections or self.spare_connections:
                    self._left.clear()
                    await self._left.wait()
        except TimeoutError:
            for connection in [*self.connections, *self.spare_connections]:
                connection.transport.abort()
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None


class Service(Server):
    """The server of JSON-RPC and of pages beside it."""

    def __init__(self, dispatcher: Dispatcher, limits: Limits, routes: PageRoutes | None = None) -> None:
        super().__init__(limits, dispatcher.turns, dispatcher.unsent_answers, dispatcher.bounds)
        self.dispatcher = dispatcher
        dispatcher.charge_batch = lambda address, requests: self.addresses.charge(
            address, requests - 1, self.loop.time()
        )
        self.routes: PageRoutes = dict(routes or {})
        self.negotiated: NegotiatedRoutes = {}
        self.event_streams: Mapping[bytes, Callable[[bytes, bytes], AsyncGenerator[bytes, None]]] = {}
        """Paths that answer a GET with events, by its query and its `Last-Event-ID`."""
        self.refusal = b""
        """The answer to every request, with status 503, while there is no state (spec 05, section 2.2)."""
        self.is_private = False
        """Whether clients can do more than read, or read more than others, so that web pages are refused unless their
        origin is allowed.
        """
        self.open_paths: frozenset[bytes] = frozenset()
        """Pages for programs: where others than this machine can connect, they are given under any name of it."""

    def gate(self, address: str, host: str) -> Gate | None:
        if not (self.is_private or is_loopback(address)):
            return None
        open_paths = frozenset[bytes]() if is_loopback(address) else self.open_paths
        return Gate((address, host), self.limits.allowed_origins, open_paths)

    @property
    def is_open(self) -> bool:
        return not (self.refusal or self.is_stopping or self.limits.address_rate)


def _log_fault(problem: BaseException) -> None:
    log.error("an answer has failed: internal error", exc_info=problem)
