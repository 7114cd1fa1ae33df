"""All visitors of one explorer: their connections, what each address may have, and their open pages."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from typing import Protocol

import orjson

from ledgerd.basics.quotas import Quotas
from ledgerd.explorer.node.watch import ChainWatch
from ledgerd.explorer.pages.answering import PageMaker
from ledgerd.explorer.serving import bounds
from ledgerd.rpc.http.gate import Proxies
from ledgerd.rpc.http.places.connection_table import Activity, ConnectionTable
from ledgerd.supervision.tasks import Tasks

log = logging.getLogger(__name__)

OWN_MACHINE = ("127.0.0.0/8", "::1")
"""A proxy here is believed which address its visitor has; where none is named, the operator may ask (`operator`)."""
ROUND_SECONDS = 1.0
NAMING = {"header": "X-Forwarded-For"}
"""By which a proxy says who its visitor is."""


class Visitor(Protocol):
    """One connection."""

    charged: str
    """The address that it counts for; empty for this machine, where a proxy may stand."""
    visitor: str
    """The address that asks, which a proxy may have named; empty for the operator on this machine."""

    @property
    def activity(self) -> Activity: ...

    @property
    def unread_bytes(self) -> int: ...

    def abort(self) -> None:
        """End at once."""

    def push(self, event: bytes) -> None:
        """Tell an open page something."""

    def is_late(self, now: float) -> bool:
        """Whether nothing has moved for longer than may be."""


class Visitors:
    """What the connections of one explorer share."""

    def __init__(
        self, answering: PageMaker, watch: ChainWatch, clock: Callable[[], float], trusted: tuple[str, ...] = ()
    ) -> None:
        self.answering = answering
        self.watch = watch
        self.proxies = Proxies((*OWN_MACHINE, *trusted))
        self.tasks = Tasks(_tell)
        self.connections: ConnectionTable[Visitor] = ConnectionTable(
            bounds.MOST_CONNECTIONS, bounds.CONNECTIONS_OF_ADDRESS
        )
        self.requests = Quotas(bounds.REQUESTS_A_SECOND)
        self.bytes = Quotas(bounds.BYTES_A_SECOND)
        self.streams: dict[Visitor, tuple[str, bool]] = {}
        self.downloads: Counter[str] = Counter()
        self.answered = self.refused = 0
        """Requests since the start."""
        self._clock = clock
        self._timer: asyncio.TimerHandle | None = None
        self._pinged = 0.0
        self._has_warned = False
        watch.followers.append(self._spread)

    # -- connections

    def admit(self, connection: Visitor) -> bool:
        """Accept a connection, for which an idle one may have to go."""
        check = self.connections.check(connection.charged)
        if check.evicted is not None:
            self.dismiss(check.evicted)
        if not check.is_within:
            self.refused += 1
            return False
        self.connections.add(connection)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(ROUND_SECONDS, self._round)
        return True

    def leave(self, connection: Visitor) -> None:
        self.connections.remove(connection)
        self.streams.pop(connection, None)

    def dismiss(self, connection: Visitor) -> None:
        self.leave(connection)
        connection.abort()

    def may_ask(self, address: str) -> bool:
        """Whether an address may have another answer; the operator's own may always."""
        if not address:
            return True
        now = asyncio.get_running_loop().time()
        if self.requests.allows(address, now) and self.bytes.allows(address, now):
            return True
        self.refused += 1
        return False

    def warn_of_unnamed(self) -> None:
        """Tell the operator of a proxy that has to be set up otherwise, once."""
        if not self._has_warned:
            self._has_warned = True
            log.warning("no %(header)s in requests from here: its clients together have the limits of one", NAMING)

    def sent(self, address: str, size: int) -> None:
        if address:
            self.bytes.charge(address, size, asyncio.get_running_loop().time())

    async def ready_for_more(self, address: str) -> None:
        """Wait until an address may have more of a download."""
        if address:
            now = asyncio.get_running_loop().time()
            await asyncio.sleep(self.bytes.of(address, now).wait(now))

    def _round(self) -> None:
        """Look at every connection, once a second."""
        now = asyncio.get_running_loop().time()
        self._timer = None
        for each in list(self.connections.all):
            if each.is_late(now):
                self.dismiss(each)
        unread = {each: each.unread_bytes for each in self.connections.all}
        total = sum(unread.values())
        while total > bounds.UNREAD_BYTES:
            largest = max(unread, key=unread.__getitem__)
            total -= unread.pop(largest)
            self.dismiss(largest)
        if now - self._pinged >= bounds.PING_SECONDS:
            self._pinged = now
            for each in list(self.streams):
                each.push(b": still here\n\n")
        self.requests.forget(now)
        self.bytes.forget(now)
        if self.connections.all:
            self._timer = asyncio.get_running_loop().call_later(ROUND_SECONDS, self._round)

    # -- open pages

    def follow(self, connection: Visitor, code: str, *, is_front: bool) -> bool:
        """Keep an open page at the head; false where its address has enough of them."""
        own = sum(each.visitor == connection.visitor for each in self.streams)
        if connection.visitor and own >= bounds.STREAMS_OF_ADDRESS:
            self.refused += 1
            return False
        self.streams[connection] = (code, is_front)
        return True

    def news(self, code: str, *, is_front: bool) -> bytes:
        """What an open page is told now."""
        if self.watch.away or not self.watch.properties:
            return b"event: away\ndata: {}\n\n"
        parts = self.answering.live_parts(code, is_front=is_front)
        return b"event: block\ndata: %b\n\n" % orjson.dumps({"now": self._clock(), "parts": parts})

    def _spread(self) -> None:
        """Tell every open page, with one drawing for all that show the same."""
        drawn: dict[tuple[str, bool], bytes] = {}
        for connection, shown in list(self.streams.items()):
            if shown not in drawn:
                drawn[shown] = self.news(shown[0], is_front=shown[1])
            connection.push(drawn[shown])

    async def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for each in list(self.connections.all):
            self.dismiss(each)
        await self.tasks.stop()


def _tell(problem: BaseException) -> None:
    log.error("an answer to a browser failed", exc_info=problem)
