"""Supervision of the API workers in the main process: start, watchdog, restart, stop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import NamedTuple

import msgspec

from ledgerd.protocol.errors import OperatorError
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.http.connection import Speech
from ledgerd.rpc.http.listeners import listen
from ledgerd.rpc.link.frames import TopicEvent, frame
from ledgerd.rpc.link.link import STOP
from ledgerd.rpc.link.switchboard import Switchboard, WorkerLink
from ledgerd.rpc.settings import WebserverSettings
from ledgerd.rpc.worker import ListeningSocket, WorkerArguments
from ledgerd.supervision.processes import PIPE, RETURNS_MEMORY, Child, module_command
from ledgerd.supervision.tasks import all_of, first_of
from ledgerd.supervision.work import Ended, Work, Working

COMMAND = module_command("ledgerd.rpc.worker")

HTTP_OPTION = "webserver-http-endpoint"
START_SECONDS = 60.0
SILENT_SECONDS = 20.0
"""A worker that sends no heartbeat for so long hangs and is killed."""


class ClientEndpoint(NamedTuple):
    """An address on which clients are served, and the protocols."""

    host: str
    port: int
    speech: Speech
    option: str = ""
    """Which option says so."""


def endpoints_of(options: WebserverSettings) -> list[ClientEndpoint]:
    """The endpoints of JSON-RPC; one for HTTP and WebSocket together if their options are equal."""
    http, websocket = options.http_endpoint, options.ws_endpoint
    if http is not None and http == websocket:
        return [ClientEndpoint(http.host, http.port, Speech.BOTH, HTTP_OPTION)]
    listed = (
        (http, Speech.HTTP, HTTP_OPTION),
        (websocket, Speech.WEBSOCKET, "webserver-ws-endpoint"),
    )
    return [ClientEndpoint(each.host, each.port, speech, option) for each, speech, option in listed if each is not None]


class Slot:
    """One worker: its listening sockets stay open when its process is replaced."""

    def __init__(self, name: str, number: int, sockets: list[tuple[socket.socket, ClientEndpoint]]) -> None:
        self.name = name
        self.number = number
        self.sockets = sockets
        self.process: Child | None = None
        self.serves = asyncio.Event()
        """Set at the first heartbeat of any process in it."""


class Workers:
    """The API workers of a node."""

    def __init__(
        self,
        board: Switchboard,
        endpoints: Sequence[ClientEndpoint],
        parts: str,
        settings: msgspec.Struct | None,
        *,
        count: int,
        work: Work,
        limits: Limits | None = None,
    ) -> None:
        self._board = board
        self._endpoints = endpoints
        self._parts = parts
        self._settings = msgspec.Raw(msgspec.json.encode(settings))
        self._count = count
        self._limits = limits or Limits()
        self.silent_seconds = SILENT_SECONDS
        self.slots: list[Slot] = []
        self._work = work
        self.name = "API worker"
        self.inherited: tuple[int, ...] = ()
        """Descriptors that each worker inherits besides its sockets; set them before the start."""
        self.starts = 0
        self._cannot_start = asyncio.Event()

    @property
    def addresses(self) -> list[tuple[str, int]]:
        return [sock.getsockname()[:2] for sock, _ in self.slots[0].sockets]

    @property
    def processes(self) -> list[int]:
        children = [slot.process for slot in self.slots if slot.process is not None]
        return [child.pid for child in children if child.is_running]

    async def start(self, listening: Sequence[list[socket.socket]] = ()) -> None:
        """Listen, unless sockets are given; start every worker, and return when all of them serve."""
        sockets = listening or [listen(each.host, each.port, self._count, each.option) for each in self._endpoints]
        spread = list(zip(sockets, self._endpoints, strict=True))
        self.slots = [
            Slot(f"{self.name} {number}", number, [(sockets[number], endpoint) for sockets, endpoint in spread])
            for number in range(self._count)
        ]
        for slot in self.slots:
            self._work.keep(slot.name, partial(self._live, slot))
        with suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                await first_of(all_of(slot.serves.wait() for slot in self.slots), self._cannot_start.wait())
        if not all(slot.serves.is_set() for slot in self.slots):
            await self.stop()
            raise OperatorError(f"the {self.name}s do not start; the messages above say why")

    async def stop(self) -> None:
        await self._work.stop()
        for slot in self.slots:
            for sock, _ in slot.sockets:
                sock.close()

    async def _live(self, slot: Slot, working: Working) -> None:
        try:
            child, link = await self._launch(slot, working)
            try:
                raise Ended(await self._watched(child, link))
            finally:
                link.send(frame(TopicEvent(STOP, b"")))
                await child.stop(self._limits.stop_seconds + 1)
        finally:
            if not slot.serves.is_set():
                self._cannot_start.set()

    async def _launch(self, slot: Slot, working: Working) -> tuple[Child, WorkerLink]:
        def heartbeat() -> None:
            slot.serves.set()
            working()

        ours, theirs = socket.socketpair()
        with theirs, ExitStack() as failing:
            failing.callback(ours.close)
            listeners = tuple(ListeningSocket(sock.fileno(), each.speech, each.host) for sock, each in slot.sockets)
            link_end = theirs.fileno()
            order = WorkerArguments(self._parts, self._settings, self._limits, link_end, listeners, slot.number)
            inherited = (link_end, *self.inherited, *(each.descriptor for each in listeners))
            self.starts += 1
            slot.process = child = Child.start(COMMAND, stdin=PIPE, inherited=inherited, environment=RETURNS_MEMORY)
            failing.callback(child.kill)
            child.write(msgspec.json.encode(order))
            ours.setblocking(False)
            link = self._board.link(heartbeat)
            await asyncio.get_running_loop().create_connection(lambda: link, sock=ours)
            failing.pop_all()
        return child, link

    async def _watched(self, child: Child, link: WorkerLink) -> str:
        loop = asyncio.get_running_loop()
        heartbeats, start_deadline = 0, loop.time() + START_SECONDS
        while True:
            try:
                async with asyncio.timeout(self.silent_seconds):
                    return f"exit code {await child.ended()}"
            except TimeoutError:
                if link.heartbeats == heartbeats and (heartbeats or loop.time() >= start_deadline):
                    child.kill()
                    return "it hangs and is killed"
                heartbeats = link.heartbeats
