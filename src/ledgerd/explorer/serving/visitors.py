"""All visitors of one explorer: their connections, what each address may have, and their open pages."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from typing import Protocol

import orjson

from ledgerd.basics.quotas import HeldAmounts, Quotas
from ledgerd.explorer.node.watch import ChainWatch
from ledgerd.explorer.pages.answering import PageMaker
from ledgerd.explorer.serving import bounds
from ledgerd.rpc.call.bounds import LimitsReached
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.http.service import Connection, Server
from ledgerd.rpc.shares.loop_turns import LoopTurns

log = logging.getLogger(__name__)

OWN_MACHINE = ("127.0.0.0/8", "::1")
"""A proxy here is believed which address its visitor has; where none is named, the operator may ask."""
NAMING = {"header": "X-Forwarded-For"}
"""The headers in which a proxy says who its visitor is."""


class OpenPage(Protocol):
    """The connection of a page that is kept at the head."""

    visitor: str
    """The address that asks, which a proxy may have named; empty for the operator on this machine."""

    def push(self, event: bytes) -> None:
        """Send an event."""


class Visitors(Server):
    """The state that the connections of one explorer share."""

    spare_places = 0

    def __init__(
        self, answering: PageMaker, watch: ChainWatch, clock: Callable[[], float], trusted: tuple[str, ...] = ()
    ) -> None:
        limits = Limits(
            body_bytes=0,
            header_bytes=bounds.HEADER_BYTES,
            connections=bounds.MOST_CONNECTIONS,
            address_connections=bounds.CONNECTIONS_OF_ADDRESS,
            address_rate=bounds.REQUESTS_A_SECOND,
            request_seconds=bounds.REQUEST_SECONDS,
            idle_seconds=bounds.IDLE_SECONDS,
            write_seconds=bounds.WRITE_SECONDS,
            stop_seconds=0.0,
            trusted_proxies=(*OWN_MACHINE, *trusted),
            exempt=(),
        )
        super().__init__(limits, LoopTurns(), HeldAmounts(bounds.UNREAD_BYTES), LimitsReached())
        self.answering = answering
        self.watch = watch
        self.bytes = Quotas(bounds.BYTES_A_SECOND)
        self.streams: dict[OpenPage, tuple[str, bool]] = {}
        self.downloads: Counter[str] = Counter()
        self.answered = self.refused = 0
        """Requests since the start."""
        self._clock = clock
        self._pinged = 0.0
        self._has_warned = False
        watch.on_change.append(self._spread)

    def admit(self, connection: Connection) -> bool:
        is_admitted = super().admit(connection)
        self.refused += not is_admitted
        return is_admitted

    def count_limit(self, option: str, address: str) -> None:
        """Count nothing: the names of limits are options of a node, and `refused` is counted."""

    def may_ask(self, address: str) -> bool:
        if not address or (super().may_ask(address) and self.bytes.allows(address, self.loop.time())):
            return True
        self.refused += 1
        return False

    def warn_of_unnamed(self) -> None:
        """Tell the operator of a proxy that has to be set up otherwise, once."""
        if not self._has_warned:
            self._has_warned = True
            log.warning("no %(header)s in requests from here: its clients together have the limits of one", NAMING)

    def charge_bytes(self, address: str, size: int) -> None:
        if address:
            self.bytes.charge(address, size, self.loop.time())

    async def ready_for_more(self, address: str) -> None:
        if address:
            now = self.loop.time()
            await asyncio.sleep(self.bytes.of(address, now).wait(now))

    def check_connections(self, now: float) -> None:
        super().check_connections(now)
        if now - self._pinged >= bounds.PING_SECONDS:
            self._pinged = now
            for each in list(self.streams):
                each.push(b": still here\n\n")
        self.bytes.forget(now)

    def follow(self, page: OpenPage, code: str, *, is_front: bool) -> bool:
        """Keep an open page at the head; false where its address has enough of them."""
        own = sum(each.visitor == page.visitor for each in self.streams)
        if page.visitor and own >= bounds.STREAMS_OF_ADDRESS:
            self.refused += 1
            return False
        self.streams[page] = (code, is_front)
        return True

    def news(self, code: str, *, is_front: bool) -> bytes:
        if self.watch.away or not self.watch.properties:
            return b"event: away\ndata: {}\n\n"
        parts = self.answering.live_parts(code, is_front=is_front)
        return b"event: block\ndata: %b\n\n" % orjson.dumps({"now": self._clock(), "parts": parts})

    def _spread(self) -> None:
        """Tell every open page, with one drawing for all that show the same."""
        drawn: dict[tuple[str, bool], bytes] = {}
        for page, shown in list(self.streams.items()):
            if shown not in drawn:
                drawn[shown] = self.news(shown[0], is_front=shown[1])
            page.push(drawn[shown])

    async def stop(self) -> None:
        await super().stop()
        await self.tasks.stop()
