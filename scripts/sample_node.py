"""A node that is not one: it serves the page, to everybody and to the operator, with a status that its caller gives.

For pictures of the page and for tests of what it shows. It listens on this machine alone.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.rpc.api.node.node_api import NODE_API, OPERATOR_API
from ledgerd.rpc.api.node.node_status import (
    LatestStatus,
    NodeDetails,
    NodeStatus,
    PeerCounts,
    PeerFacts,
    PoolFacts,
    Problem,
    SlotFacts,
    SyncFacts,
    WatchedFacts,
    WatchedSlotFacts,
)
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node, nothing_to_read
from ledgerd.rpc.http.connection import HttpConnection
from ledgerd.rpc.http.page.person import operator_page, person_page
from ledgerd.rpc.http.responses import Page
from ledgerd.rpc.http.routes import LINKS, json_page
from ledgerd.rpc.http.service import PageRoutes, Service
from ledgerd.rpc.link.topics import STATUS, packed_topic

ROUNDS, VALIDATORS = 3, 21
NAMES = (
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "islet", "jade", "kelp",
    "larch", "maple", "north", "ocean", "pearl", "quartz", "river", "slate", "tundra", "willow",
)  # fmt: skip
MISSED = {11: (0, 1, 2), 4: (1,), 17: (2,)}
"""The rounds in which a validator missed its slot, by its place."""


def sample_status(*, head: int = 71_204_518, now: float = 0.0, number: int = 1) -> NodeStatus:
    """The status of a node of the main network with three validators that miss slots."""
    slots, block = [], head - ROUNDS * VALIDATORS + sum(map(len, MISSED.values()))
    for place in range(ROUNDS * VALIDATORS):
        turn, validator = divmod(place, VALIDATORS)
        if turn in MISSED.get(validator, ()):
            slots.append(SlotFacts(NAMES[validator], 0, -1))
        else:
            block += 1
            slots.append(SlotFacts(NAMES[validator], block, 140 + 37 * validator % 410))
    return NodeStatus(
        number=number,
        time=round(1_000 * now),
        network="VIZ",
        head=head,
        head_time=int(now) - 1,
        irreversible=head - 14,
        participation=121,
        is_emergency=False,
        slots=tuple(slots),
        peers=PeerCounts("forward", "normal", 12, 1, 9, 2, head + 1),
        sync=SyncFacts(head, 0, -1),
        pool=PoolFacts(7, 5, 2_140),
    )


def sample_details(status: NodeStatus) -> NodeDetails:
    """What the operator of that node sees. The addresses are those that documents may use."""
    peers = [
        PeerFacts(
            f"203.0.113.{10 + each}:2001",
            "active" if each else "syncing",
            each % 3 == 0,
            status.head + (each == 4) - (800 if not each else 0),
            status.irreversible,
            int(each == 7),
            each % 4,
            round_trip=12 + 19 * each,
            delay=-1 if each % 5 == 4 else 310 + 45 * each,
        )
        for each in range(12)
    ]
    lines = [
        f"12:04:{10 + 3 * each:02}  Got block #{status.head - 9 + each} with {each % 4} transaction(s) validated by "
        f"{NAMES[each]} [203.0.113.{10 + each}:2001]"
        for each in range(9)
    ]
    lines.append("12:04:36  warn: 203.0.113.17:2001: banned: spam strike threshold exceeded")
    problem = Problem(
        "webserver is down: API worker 2: exit code -9",
        "It is started again by itself. Where it stays down, the log says why before the first restart.",
    )
    return NodeDetails(
        status, tuple(peers), (problem,), tuple(lines), (_watched("amber", status), _watched("larch", status))
    )


def _watched(name: str, status: NodeStatus) -> WatchedFacts:
    """A watched validator, with the slots that the status has of it."""
    slots = [
        WatchedSlotFacts(status.head_time - 3 * (len(status.slots) - place), slot.block, slot.delay, cause)
        for place, slot in enumerate(status.slots)
        if slot.validator == name
        for cause in ("" if slot.block else "no block seen",)
    ]
    missed = sum(not slot.block for slot in slots)
    return WatchedFacts(
        name=name,
        slots=tuple(slots),
        made=4_117 if missed == 0 else 3_902,
        missed=missed,
        mean_delay=212,
        reward=1_204_118_000,
        votes=48_210_000_000_000,
        counted_votes=48_210_000_000_000 * (100 - missed) // 100,
        penalty_percent=100 * missed,
        is_scheduled=True,
        has_key=missed == 0,
    )


class SampleNode:
    """The two endpoints, and what they show. Its methods may be called from any thread."""

    def __init__(self, details: NodeDetails, ports: Sequence[int] = (0, 0)) -> None:
        self._ports = ports
        self.urls: list[str] = []
        self.reason = ""
        """What `/ready` says to be wrong."""
        self._board = LatestStatus()
        self._take(details)
        self._queues: dict[asyncio.Queue[bytes], str] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()

    def _take(self, details: NodeDetails) -> None:
        self._board.receive_status(packed_topic(details.status))
        self._board.receive_details(packed_topic(details))

    def show(self, details: NodeDetails) -> None:
        """Show another state, at once."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._publish, details)

    def _publish(self, details: NodeDetails) -> None:
        self._take(details)
        for queue, topic in self._queues.items():
            queue.put_nowait(self._board.status if topic == STATUS else self._board.details)

    async def ask(self, _topic: str, _payload: bytes) -> bytes:
        """Nobody asks this."""
        return b""

    async def events(self, topic: str) -> AsyncGenerator[bytes, None]:
        """The states that are shown from now on."""
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._queues[queue] = topic
        try:
            while True:
                yield await queue.get()
        finally:
            del self._queues[queue]

    def _ready(self) -> Page:
        return json_page(503, ready=False, reason=self.reason) if self.reason else json_page(ready=True)

    def run(self, began: threading.Event) -> None:
        """Serve until the end, on two free ports: for everybody, and for the operator."""
        asyncio.run(self._serve(began))

    async def _serve(self, began: threading.Event) -> None:
        self._loop = loop = asyncio.get_running_loop()
        node = Node(MAINNET, nothing_to_read, self, {LatestStatus: self._board})
        public = person_page((NODE_API,), LINKS)
        routes: tuple[PageRoutes, ...] = ({b"/": lambda: public, b"/ready": self._ready}, {b"/": operator_page})
        servers, services = [], []
        for api, pages, port in zip((NODE_API, OPERATOR_API), routes, self._ports, strict=True):
            service = Service(Dispatcher((api,), node, lambda: 0.0, limits=Limits()), Limits(), pages)
            services.append(service)
            servers.append(await loop.create_server(partial(HttpConnection, service), "127.0.0.1", port))
            self.urls.append("http://{}:{}/".format(*servers[-1].sockets[0].getsockname()[:2]))
        began.set()
        await self._stopping.wait()
        for server, service in zip(servers, services, strict=True):
            server.close()
            await service.stop()

    def stop(self) -> None:
        """Serve no more."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)


@contextmanager
def sample_node(details: NodeDetails, ports: Sequence[int] = (0, 0)) -> Iterator[SampleNode]:
    """A node that serves within the `with` block."""
    node, began = SampleNode(details, ports), threading.Event()
    thread = threading.Thread(target=node.run, args=(began,))
    thread.start()
    began.wait()
    try:
        yield node
    finally:
        node.stop()
        thread.join()
