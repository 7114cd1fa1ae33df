"""The pages that a worker serves to GET: a start page, `openrpc.json`, and health checks for load balancers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from ledgerd.chain.rules.validators.unknown_hardforks import unknown_hardfork_votes
from ledgerd.codec.json.text import Json, dumps
from ledgerd.rpc.api.node.node_status import LatestStatus, status_of
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.errors import PlainError
from ledgerd.rpc.call.view import Node
from ledgerd.rpc.describe.openrpc import document_of
from ledgerd.rpc.http.page.person import person_page
from ledgerd.rpc.http.responses import Page
from ledgerd.rpc.http.service import PageRoutes
from ledgerd.rpc.link.topics import HealthReport, unpacked
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES, DynamicGlobalProperty

LONGEST_SILENCE = 60
"""If the head is older than this many seconds, the node is behind, or the network has stopped."""

LINKS = {
    "/openrpc.json": "every method with its types and examples, as OpenRPC",
    "/health": "whether the node answers",
    "/ready": f"whether it is to be asked: its head block is less than {LONGEST_SILENCE} seconds old and no part down",
}


class NodeHealth:
    """The health of the node, as last published by the main process."""

    def __init__(self) -> None:
        self.report = HealthReport({})
        self.behind: int | None = None
        """Blocks that the followed node has and the state here has not; None where none is followed."""

    def receive(self, payload: bytes) -> None:
        self.report = unpacked(payload, HealthReport)


def routes_of(
    apis: Sequence[Api],
    node: Node,
    clock: Callable[[], float],
    health: NodeHealth | None = None,
    status: LatestStatus | None = None,
) -> PageRoutes:
    shown = Pages(apis, node, clock, health or NodeHealth(), status or LatestStatus())
    return {
        b"/": cache(shown.person),
        b"/health": shown.health,
        b"/ready": shown.ready,
        b"/openrpc.json": cache(shown.openrpc),
    }


def json_page(status: int = 200, **fields: Json) -> Page:
    return Page(dumps(fields).encode(), status=status)


class Pages:
    """The pages of a worker."""

    def __init__(
        self, apis: Sequence[Api], node: Node, clock: Callable[[], float], health: NodeHealth, status: LatestStatus
    ) -> None:
        self._apis = apis
        self._node = node
        self._clock = clock
        self._health = health
        self._status = status

    def _head(self) -> DynamicGlobalProperty | None:
        try:
            with self._node.reading() as state:
                return state.get(DYNAMIC_GLOBAL_PROPERTIES, 0)
        except PlainError:
            return None

    def health(self) -> Page:
        return json_page(healthy=True)

    def ready(self) -> Page:
        head = self._head()
        if head is None:
            return json_page(503, ready=False, reason="there is no state yet")
        age = int(self._clock()) - head.time
        if age > LONGEST_SILENCE:
            reason = f"the head block is {age} seconds old"
            return self._not_ready(head, reason)
        down = self._health.report.down
        if down:
            return self._not_ready(head, "; ".join(f"{part} is down: {why}" for part, why in sorted(down.items())))
        fields: dict[str, Json] = {"ready": True, "head_block_number": head.head_block_number}
        if self._health.behind is not None:
            fields["blocks_behind"] = self._health.behind
        warning = self._warning()
        if warning:
            fields["warning"] = warning
        return json_page(200, **fields)

    def _not_ready(self, head: DynamicGlobalProperty, reason: str) -> Page:
        number, latest = head.head_block_number, self._status.status
        fields: dict[str, Json] = {"ready": False, "head_block_number": number, "reason": reason}
        if latest:
            status = status_of(latest)
            target, peers = status.sync.target, status.peers
            if peers.mode == "sync" and target > number:
                fields["catching_up"] = {
                    "target": target,
                    "percent": 100 * number // target,
                    "peers": peers.ahead,
                    "blocks_a_second": status.sync.blocks_a_second,
                    "seconds_left": status.sync.seconds_left,
                }
        return json_page(503, **fields)

    def _warning(self) -> str:
        with self._node.reading() as state:
            votes = unknown_hardfork_votes(state, self._node.network)
        return "; ".join((*self._health.report.warnings, *(() if votes is None else (str(votes),))))

    def openrpc(self) -> Page:
        return Page(dumps(document_of(self._apis)).encode())

    def person(self) -> Page:
        return person_page(self._apis, LINKS)
