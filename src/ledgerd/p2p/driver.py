"""The sockets of the network state machine: listening, dialling, deadlines, back-pressure (spec 04, section 22)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence

from ledgerd.metrics.meters.peers import round_trip
from ledgerd.p2p.network_state import TICK_SECONDS, NetworkState
from ledgerd.p2p.shared.actions import Batch, Close, Dial, Precompute, Send
from ledgerd.p2p.shared.core import log_peer
from ledgerd.p2p.turns import BLOCKS, Turns
from ledgerd.p2p.wire.messages import ForkStatus, TransactionMessage
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.supervision.tasks import Tasks

log = logging.getLogger(__name__)

QUEUED_BYTES = 8 << 20
"""The largest send buffer of one peer; one that reads more slowly is disconnected."""
SPARED_BYTES = 1 << 20
"""Above this size of its send buffer, a peer is not sent the messages that may be omitted (`SPARED`)."""
ALL_QUEUED_BYTES = 128 << 20
"""The largest size of all send buffers together; beyond it a slow peer is disconnected sooner."""
UNREAD_BYTES = 2 << 20
"""Back-pressure: while the send buffer of a peer is larger than this, its socket is not read."""
SPARED = frozenset({ForkStatus.NUMBER, TransactionMessage.NUMBER})
DIAL_SECONDS = 5
CLOSING_SECONDS = 2
BACKLOG = 256
"""Connections that wait, and that are accepted in a round of the loop: beyond, newcomers wait for seconds."""

TURN_SECONDS = 0.02
"""Seconds of work before control returns to the event loop."""
WAITS = "its messages wait"
SYNC_SECONDS = 1
PRECOMPUTE_SECONDS = 0.25

Precomputer = Callable[[Sequence["Block"], int], Coroutine[object, object, None]]
"""Computes ahead, in other processes; who signed transactions only above the block of a number."""


NetworkSleep = Callable[[float], Awaitable[None]]


class PeerConnection(asyncio.Protocol):
    """One socket, and the peer it belongs to."""

    def __init__(self, driver: Driver, peer: int | None = None) -> None:
        self._driver = driver
        self.peer = peer
        self.transport: asyncio.Transport | None = None
        self.is_gone = False
        """Whether the connection has ended while messages from it are still to be handled."""
        self._holds: set[str] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            return
        self.transport = transport
        transport.set_write_buffer_limits(high=UNREAD_BYTES, low=UNREAD_BYTES // 4)
        raw = transport.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            with contextlib.suppress(OSError):
                raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._driver.made(self)

    def data_received(self, data: bytes) -> None:
        self._driver.received(self, data)

    def connection_lost(self, exc: Exception | None) -> None:
        _ = exc
        self._driver.gone(self)

    def pause_writing(self) -> None:
        self.hold("it does not read")

    def resume_writing(self) -> None:
        self.release("it does not read")

    def hold(self, why: str) -> None:
        if not self._holds and self.transport is not None and not self.transport.is_closing():
            self.transport.pause_reading()
        self._holds.add(why)

    def release(self, why: str) -> None:
        was_held = bool(self._holds)
        self._holds.discard(why)
        if was_held and not self._holds and self.transport is not None and not self.transport.is_closing():
            self.transport.resume_reading()

    @property
    def remote(self) -> Endpoint:
        name = None if self.transport is None else self.transport.get_extra_info("peername")
        return Endpoint(str(name[0]), int(name[1])) if name else Endpoint("", 0)

    @property
    def waiting(self) -> int:
        return 0 if self.transport is None else self.transport.get_write_buffer_size()

    def send(self, number: int, frame: bytes) -> bool:
        """Send a frame, or omit it when the peer is slow; `False` when the peer is to be disconnected."""
        transport, waiting = self.transport, self.waiting
        if transport is None or transport.is_closing():
            return True
        if waiting > SPARED_BYTES and number in SPARED:
            return True
        if waiting > QUEUED_BYTES:
            return False
        transport.write(frame)
        return True


class Driver:
    """The sockets of a node."""

    def __init__(
        self,
        network: NetworkState,
        clock: Callable[[], float],
        precompute: Precomputer | None = None,
        sleep: NetworkSleep = asyncio.sleep,
    ) -> None:
        self.network = network
        self.network.core.precomputes = precompute is not None
        self.network.core.room = self._room
        self._clock = clock
        self._precompute = precompute
        self._sleep = sleep
        self._connections: dict[int, PeerConnection] = {}
        self._dials: dict[int, asyncio.Task[None]] = {}
        self.listening: asyncio.Server | None = None
        self._tasks = Tasks(self._fail)
        self._turns = Turns[int]()
        self._work_asked = asyncio.Event()
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    # -- life

    async def start(self, listen: Endpoint | None) -> None:
        if listen is not None and listen.port:
            try:
                self.listening = await asyncio.get_running_loop().create_server(
                    lambda: PeerConnection(self), listen.host, listen.port, backlog=BACKLOG
                )
                log.info("listening for peers at %(endpoint)s", {"endpoint": listen})
            except OSError as error:
                log.warning(
                    "cannot listen for peers at %(endpoint)s, only dialling: %(reason)s",
                    {"endpoint": listen, "reason": error},
                )
        for each in (self._tick(), self._watch_sync(), self._work()):
            self._tasks.begin(each)

    async def ended(self) -> None:
        """Wait for an error that no peer caused, such as one of the disk, and raise it."""
        await asyncio.shield(self._failure)

    @property
    def port(self) -> int:
        return int(self.listening.sockets[0].getsockname()[1]) if self.listening is not None else 0

    @property
    def queued(self) -> int:
        return sum(connection.waiting for connection in self._connections.values())

    def round_trips(self) -> Iterator[tuple[int, float]]:
        for peer, connection in self._connections.items():
            raw = None if connection.transport is None else connection.transport.get_extra_info("socket")
            if raw is not None and (measured := round_trip(raw)) is not None:
                yield peer, measured

    async def stop(self) -> None:
        """Close all sockets and commit the applied blocks, unless a failed commit is the reason to stop."""
        is_well = not self._failure.done()
        await self._tasks.stop()
        if self.listening is not None:
            self.listening.close()
        for connection in list(self._connections.values()):
            if connection.transport is not None:
                connection.transport.abort()
        if self.listening is not None:
            await self.listening.wait_closed()
        self.listening = None
        if is_well:
            self.network.intake.commits.commit()

    async def _tick(self) -> None:
        while True:
            self.network.tick(self._clock())
            self.run_actions()
            await self._sleep(TICK_SECONDS)

    async def _watch_sync(self) -> None:
        while True:
            await asyncio.sleep(SYNC_SECONDS)
            self.network.watch_sync(self._clock())
            self.run_actions()

    async def _work(self) -> None:
        """Handle what waits, in short turns; in between the loop serves sockets and other work, block
        production first.
        """
        loop = asyncio.get_running_loop()
        while True:
            await self._work_asked.wait()
            end = loop.time() + TURN_SECONDS
            while self._step():
                if loop.time() > end:
                    break
            else:
                self._work_asked.clear()
            self.run_actions()
            await asyncio.sleep(0)

    def _step(self) -> bool:
        is_more = self.network.work(self._clock())
        peer = self._turns.next()
        if peer is None:
            return is_more
        loop = asyncio.get_running_loop()
        began = loop.time()
        self.network.handle_next(self._clock(), peer)
        self._turns.charge(peer, loop.time() - began)
        self.run_actions()
        self._queue(peer)
        return True

    def _queue(self, peer: int) -> None:
        """Queue a peer that has a whole message; until its turn its socket is not read."""
        connection = self._connections.get(peer)
        number = self.network.waiting_message(peer)
        found = self.network.core.find(peer)
        if number is not None and connection is not None and found is not None:
            self._turns.wait(peer, found.allowance, is_block=number in BLOCKS)
            connection.hold(WAITS)
            self._work_asked.set()
            return
        self._turns.leave(peer)
        if connection is not None:
            connection.release(WAITS)
            if connection.is_gone:
                self._disconnected(connection)

    # -- events of sockets

    def made(self, connection: PeerConnection) -> None:
        now = self._clock()
        with self._reporting_failures():
            if connection.peer is None:
                connection.peer = self.network.accepted(now, connection.remote)
                is_wanted = connection.peer is not None
            else:
                is_wanted = self.network.connected(now, connection.peer, connection.remote.host)
            if is_wanted and connection.peer is not None:
                self._connections[connection.peer] = connection
            elif connection.transport is not None:
                connection.transport.abort()
            self.run_actions()

    def received(self, connection: PeerConnection, data: bytes) -> None:
        if connection.peer not in self._connections:
            return
        with self._reporting_failures():
            self.network.receive(self._clock(), connection.peer, data)
            self._queue(connection.peer)

    def gone(self, connection: PeerConnection) -> None:
        """A connection has ended; the messages that arrived before are still handled."""
        connection.is_gone = True
        if connection.peer not in self._turns:
            self._disconnected(connection)

    def _disconnected(self, connection: PeerConnection) -> None:
        if connection.peer is not None and self._connections.pop(connection.peer, None) is not None:
            with self._reporting_failures():
                self.network.lost(self._clock(), connection.peer)
                self.run_actions()

    @contextlib.contextmanager
    def _reporting_failures(self) -> Iterator[None]:
        """Pass an exception on to `ended`: in a callback of the event loop it would only be logged."""
        try:
            yield
        except BaseException as error:
            self._fail(error)
            raise

    def _fail(self, problem: BaseException) -> None:
        if not self._failure.done():
            self._failure.set_exception(problem)

    # -- actions of the state machine

    def run_actions(self) -> None:
        while actions := self.network.actions():
            for action in actions:
                match action:
                    case Send(peer, number, frame):
                        self._send(peer, number, frame)
                    case Dial(peer, endpoint):
                        self._dials[peer] = self._tasks.begin(self._dial(peer, endpoint))
                    case Close(peer, _):
                        self._close(peer)
                    case Precompute(batch):
                        self._precompute_batch(batch)
        if self.network.intake.is_busy:
            self._work_asked.set()

    def _send(self, peer: int, number: int, frame: bytes) -> None:
        connection = self._connections.get(peer)
        if connection is None or connection.transport is None:
            return
        if self._is_too_much(connection, len(frame)) or not connection.send(number, frame):
            log_peer(connection.remote, "reads too slowly")
            connection.transport.abort()

    def _room(self, peer: int) -> int:
        """The bytes that may still be sent to a peer before transactions are left out."""
        connection = self._connections.get(peer)
        if connection is None or connection.transport is None or connection.transport.is_closing():
            return 0
        return SPARED_BYTES - connection.waiting

    def _is_too_much(self, connection: PeerConnection, size: int) -> bool:
        if connection.waiting + size <= SPARED_BYTES or connection.waiting == 0:
            return False
        return size + self.queued > ALL_QUEUED_BYTES

    def _precompute_batch(self, batch: Batch) -> None:
        """Start to compute ahead for a batch. When the chain has waited in vain for a while, it computes all itself."""
        if self._precompute is None:
            self.network.precomputed(self._clock(), batch)
            return
        waiting = self._tasks.begin(self._wait_for(batch))

        def end(task: asyncio.Task[None]) -> None:
            waiting.cancel()
            if not task.cancelled() and task.exception() is None:
                self._precomputed(batch)

        computing = self._precompute(tuple(batch.blocks), self.network.core.chain.signers_above)
        self._tasks.begin(computing).add_done_callback(end)

    async def _wait_for(self, batch: Batch) -> None:
        has_waited = False
        while not has_waited:
            before = self.network.intake.waits_for(batch)
            await asyncio.sleep(PRECOMPUTE_SECONDS)
            has_waited = before and self.network.intake.waits_for(batch)
        self._precomputed(batch)

    def _precomputed(self, batch: Batch) -> None:
        if not batch.is_precomputed:
            with self._reporting_failures():
                self.network.precomputed(self._clock(), batch)
                self.run_actions()

    async def _dial(self, peer: int, endpoint: Endpoint) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(DIAL_SECONDS):
                await loop.create_connection(lambda: PeerConnection(self, peer), endpoint.host, endpoint.port)
        except (OSError, TimeoutError) as error:
            log.debug("%s: cannot be reached: %s", endpoint, error)
            self.network.lost(self._clock(), peer)
            self.run_actions()
        finally:
            self._dials.pop(peer, None)

    def _close(self, peer: int) -> None:
        dial = self._dials.pop(peer, None)
        if dial is not None and dial is not asyncio.current_task():
            dial.cancel()
        connection = self._connections.pop(peer, None)
        if connection is not None and connection.transport is not None:
            connection.transport.close()
            asyncio.get_running_loop().call_later(CLOSING_SECONDS, connection.transport.abort)
