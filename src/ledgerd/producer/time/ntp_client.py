"""The NTP client: asks time servers over UDP, on the event loop of the main thread; nothing waits for an answer."""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import suppress
from typing import cast

from ledgerd.producer.settings import NtpSettings
from ledgerd.producer.time.clock import Microseconds
from ledgerd.producer.time.ntp import MICRO, Address, AnswerVerdict, NtpOffset, Round, request
from ledgerd.supervision.work import Work

log = logging.getLogger(__name__)

NOTICED = 250_000
"""Microseconds: a quarter of a second is as much as a block may be early."""
ANSWER_SECONDS = 1.0


class NtpClient(asyncio.DatagramProtocol):
    """Keeps the offset of our clock from that of time servers up to date."""

    def __init__(self, settings: NtpSettings, wall: Microseconds) -> None:
        self._servers: list[Address] = [*settings.servers]
        self._wall = wall
        self._pause = settings.pause
        self.known = NtpOffset(settings)
        self.answered = asyncio.Event()
        self._transport: asyncio.DatagramTransport | None = None
        self._asked = Round()
        self._waiting: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._round: asyncio.Task[None] | None = None
        self._work: Work | None = None

    @property
    def offset(self) -> int:
        """Microseconds to add to the wall clock; none until a server has answered."""
        return self.known.offset or 0

    async def run(self, work: Work) -> None:
        self._loop, self._work = asyncio.get_running_loop(), work
        await self._loop.create_datagram_endpoint(lambda: self, local_addr=("0.0.0.0", 0))  # noqa: S104 - to receive answers
        try:
            while True:
                if self.known.is_due(self._wall()):
                    self._ask()
                await asyncio.sleep(self._pause)
        finally:
            if self._round is not None:
                self._round.cancel()
            if self._waiting is not None:
                self._waiting.cancel()
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
        addresses = [address for server in list(self._servers) if (address := await self._resolved(server))]
        if self._transport is None or self._transport.is_closing():
            return
        asked = self._asked = Round()
        for address in addresses:
            packet = request(self._wall())
            asked.ask(address, packet)
            self._transport.sendto(packet, address)
        self._waiting = asyncio.get_running_loop().call_later(ANSWER_SECONDS, self._end_round, asked)

    async def _resolved(self, server: Address) -> Address | None:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(*server, family=socket.AF_INET, type=socket.SOCK_DGRAM)
        except OSError as error:
            if isinstance(error, socket.gaierror) and error.errno == socket.EAI_NONAME:
                log.warning("the time server %(server)s does not exist, and is asked no more", {"server": server[0]})
                self._servers.remove(server)
            return None
        host, port = found[0][4][:2]
        return str(host), int(port)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: Address) -> None:
        now, asked = self._wall(), self._asked
        answer = asked.answer(addr[:2], data, now)
        if answer is None:
            return
        unusable = self.known.unusable(answer)
        if unusable is None:
            asked.count(addr[:2], answer)
            self._believe(is_over=False)
        elif unusable is AnswerVerdict.TOO_SLOW:
            self._ask()

    def _believe(self, *, is_over: bool) -> bool:
        choice = self._asked.choice(is_over=is_over)
        if choice is None:
            return False
        if self.known.judge(choice, self._wall()) is AnswerVerdict.ACCEPTED:
            self.answered.set()
            self._log_offset()
        return True

    def _end_round(self, asked: Round) -> None:
        if asked is self._asked and not self._believe(is_over=True) and asked.offsets:
            offsets = ", ".join(f"{offset / MICRO:+.3f} s" for offset in asked.offsets)
            log.warning(
                "time servers do not agree on our clock, and none is believed: it is behind by %(behind)s",
                {"behind": offsets},
            )

    def _log_offset(self) -> None:
        """Log the offset: blocks are made by the servers' time, so a large one is logged with each answer."""
        level = logging.WARNING if abs(self.offset) > NOTICED else logging.DEBUG
        log.log(
            level, "our clock is %(milliseconds)+d ms from the time servers", {"milliseconds": -self.offset // 1000}
        )

    def error_received(self, exc: Exception) -> None:
        log.debug("a time server cannot be reached: %s", exc)
