"""The NTP client: asks time servers over UDP, on the event loop of the main thread; nothing waits for an answer."""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import suppress
from typing import cast

from ledgerd.producer.clock import Microseconds
from ledgerd.producer.ntp import AnswerVerdict, NtpOffset, answer_of, request
from ledgerd.producer.settings import NtpSettings
from ledgerd.supervision.work import Work

log = logging.getLogger(__name__)

Address = tuple[str, int]

NOTICED = 250_000
"""Microseconds: a quarter of a second is as much as a block may be early."""


class NtpClient(asyncio.DatagramProtocol):
    """Keeps the offset of our clock up to date."""

    def __init__(self, settings: NtpSettings, wall: Microseconds) -> None:
        self._servers: list[Address] = [*settings.servers]
        self._wall = wall
        self._pause = settings.pause
        self.known = NtpOffset(settings)
        self.answered = asyncio.Event()
        """Set with the first answer that is believed."""
        self._transport: asyncio.DatagramTransport | None = None
        self._asked: set[Address] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._round: asyncio.Task[None] | None = None
        self._work: Work | None = None

    @property
    def offset(self) -> int:
        """Microseconds to add to the wall clock; none until a server has answered."""
        return self.known.offset or 0

    async def run(self, work: Work) -> None:
        """Ask now and whenever it is time, until cancelled."""
        self._loop, self._work = asyncio.get_running_loop(), work
        await self._loop.create_datagram_endpoint(lambda: self, local_addr=("0.0.0.0", 0))  # noqa: S104 - to hear answers
        try:
            while True:
                if self.known.is_due(self._wall()):
                    self._ask()
                await asyncio.sleep(self._pause)
        finally:
            if self._round is not None:
                self._round.cancel()
            if self._transport is not None:
                self._transport.close()

    def ask_soon(self) -> None:
        """Ask out of turn; may be called from any thread, and returns at once."""
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop is closed: the node stops
                loop.call_soon_threadsafe(self._ask)

    def _ask(self) -> None:
        if self._work is not None and (self._round is None or self._round.done()):
            self._round = self._work.begin(self._ask_all())

    async def _ask_all(self) -> None:
        if not self.known.begin_round(self._wall()):
            return
        self._asked.clear()
        for server in list(self._servers):
            address = await self._resolved(server)
            if address is not None and self._transport is not None and not self._transport.is_closing():
                self._asked.add(address)
                self._transport.sendto(request(self._wall()), address)

    async def _resolved(self, server: Address) -> Address | None:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(*server, family=socket.AF_INET, type=socket.SOCK_DGRAM)
        except OSError as error:
            if isinstance(error, socket.gaierror) and error.errno == socket.EAI_NONAME:
                log.warning("the time server %s does not exist, and is asked no more", server[0])
                self._servers.remove(server)
            return None
        host, port = found[0][4][:2]
        return str(host), int(port)

    # -- from the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: Address) -> None:
        if addr[:2] not in self._asked:
            return
        now = self._wall()
        answer = answer_of(data, now)
        if answer is None:
            return
        verdict = self.known.take(answer, now)
        if verdict is AnswerVerdict.TOO_SLOW:
            self._ask()
        elif verdict is AnswerVerdict.ACCEPTED:
            self.answered.set()
            self._say_offset(addr[0])

    def _say_offset(self, server: str) -> None:
        """Log the offset: blocks are made by the servers' time, so a large one is logged with each answer."""
        level = logging.WARNING if abs(self.offset) > NOTICED else logging.DEBUG
        log.log(level, "our clock is %+d ms from the time servers (last asked: %s)", -self.offset // 1000, server)

    def error_received(self, exc: Exception) -> None:
        log.debug("a time server cannot be reached: %s", exc)
