"""The pages for GET: the one for people, `openrpc.json` and health checks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.types.versions import version_number
from ledgerd.rpc.api import APIS
from ledgerd.rpc.api.node.node_status import LatestStatus, NodeStatus, PeerCounts, PoolFacts, SyncFacts
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node, nothing_to_read
from ledgerd.rpc.describe.openrpc import document_of
from ledgerd.rpc.http.routes import LONGEST_SILENCE, NodeHealth, routes_of
from ledgerd.rpc.http.service import PageRoutes, Service
from ledgerd.rpc.link.topics import HealthReport, packed_topic
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.views.reader import StateReader
from tests.chain.ledgers import change, close_all, fresh_ledger
from tests.rpc.loopback import http_request, play, serving
from tests.rpc.sample_api import Main

HEAD_TIME = 1_900_000_000
PATHS = (b"/", b"/health", b"/ready", b"/openrpc.json")


class Clock:
    """A clock that stands still until a test moves it."""

    now = float(HEAD_TIME)

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def health() -> NodeHealth:
    return NodeHealth()


@contextmanager
def pages(
    folder: Path, clock: Clock, health: NodeHealth, vote: int = 0, board: LatestStatus | None = None
) -> Iterator[PageRoutes]:
    """The pages of a node whose head is block 1234, and whose validator votes for a hardfork."""
    ledger = fresh_ledger(folder)
    change(ledger, ledger.globals, head_block_number=1234, time=HEAD_TIME)
    change(ledger, ledger.validator(COMMITTEE_ACCOUNT), hardfork_version_vote=vote, hardfork_time_vote=HEAD_TIME)
    ledger.store.commit()
    close_all()
    with StateReader.open(folder / "state", STORED_TABLES) as reader:
        yield routes_of(APIS, Node(TESTNET, reader.snapshot, Main()), clock, health, board)


@pytest.fixture
def routes(tmp_path: Path, clock: Clock, health: NodeHealth) -> Iterator[PageRoutes]:
    with pages(tmp_path, clock, health) as routes:
        yield routes


@pytest.fixture
def without_state(clock: Clock) -> PageRoutes:
    return routes_of(APIS, Node(TESTNET, nothing_to_read, Main()), clock)


def test_a_person_gets_the_page_and_where_to_read_on(routes: PageRoutes) -> None:
    page = routes[b"/"]()
    text = page.body.decode()

    assert page.status == 200
    assert page.content_type == b"text/html; charset=utf-8"
    assert all(f'href="{path.decode()[1:]}"' in text for path in PATHS[1:])
    assert all(api.name in text for api in APIS)


def test_the_page_is_made_once_and_reads_no_state(without_state: PageRoutes) -> None:
    assert without_state[b"/"]() is without_state[b"/"]()


def test_a_node_that_runs_is_healthy(without_state: PageRoutes) -> None:
    page = without_state[b"/health"]()

    assert (page.status, json.loads(page.body)) == (200, {"healthy": True})


def test_a_node_whose_head_is_new_is_ready(routes: PageRoutes, clock: Clock) -> None:
    clock.now += LONGEST_SILENCE
    page = routes[b"/ready"]()

    assert (page.status, json.loads(page.body)) == (200, {"ready": True, "head_block_number": 1234})


def test_a_node_that_is_ready_warns_of_votes_for_an_unknown_hardfork(
    tmp_path: Path, clock: Clock, health: NodeHealth
) -> None:
    with pages(tmp_path, clock, health, vote=version_number(9, 1)) as routes:
        page = routes[b"/ready"]()

    assert page.status == 200
    assert json.loads(page.body)["warning"].startswith("1 of 1 validators vote for hardfork version 9.1.0 of 2030-")


def test_a_node_whose_head_is_old_is_not_ready(routes: PageRoutes, clock: Clock) -> None:
    clock.now += LONGEST_SILENCE + 1
    page = routes[b"/ready"]()

    assert page.status == 503
    assert json.loads(page.body) == {
        "ready": False,
        "head_block_number": 1234,
        "reason": f"the head block is {LONGEST_SILENCE + 1} seconds old",
    }


def test_a_node_that_catches_up_says_how_far_it_is(tmp_path: Path, clock: Clock, health: NodeHealth) -> None:
    clock.now += LONGEST_SILENCE + 1
    peers = PeerCounts("sync", "normal", 5, 3, 1, 1, 2468)
    board, sync = LatestStatus(), SyncFacts(2468, 617, 2)
    status = NodeStatus(1, 0, "testnet", 1234, 0, 1234, 128, False, (), peers, sync, PoolFacts(0, 0, 0))
    with pages(tmp_path, clock, health, board=board) as routes:
        assert "catching_up" not in json.loads(routes[b"/ready"]().body)
        board.receive_status(packed_topic(status))
        told = json.loads(routes[b"/ready"]().body)["catching_up"]
        board.receive_status(packed_topic(replace(status, peers=replace(peers, mode="forward"))))
        assert "catching_up" not in json.loads(routes[b"/ready"]().body)
    assert told == {"target": 2468, "percent": 50, "peers": 3, "blocks_a_second": 617, "seconds_left": 2}


def test_a_node_with_a_part_that_is_down_is_not_ready(routes: PageRoutes, health: NodeHealth) -> None:
    health.receive(
        packed_topic(HealthReport({"webserver": "API worker 1: exit code -9", "history": "the disk is full"}))
    )
    page = routes[b"/ready"]()

    assert page.status == 503
    assert json.loads(page.body) == {
        "ready": False,
        "head_block_number": 1234,
        "reason": "history is down: the disk is full; webserver is down: API worker 1: exit code -9",
    }
    health.receive(packed_topic(HealthReport({})))
    assert routes[b"/ready"]().status == 200


def test_a_node_that_is_ready_tells_the_warnings_of_its_parts(routes: PageRoutes, health: NodeHealth) -> None:
    health.receive(packed_topic(HealthReport({}, ("the disk is nearly full", "the clock is wrong"))))
    page = routes[b"/ready"]()

    assert page.status == 200
    assert json.loads(page.body)["warning"] == "the disk is nearly full; the clock is wrong"


def test_a_node_without_a_state_is_not_ready(without_state: PageRoutes) -> None:
    page = without_state[b"/ready"]()

    assert (page.status, json.loads(page.body)["ready"]) == (503, False)


def test_the_document_is_written_once(routes: PageRoutes) -> None:
    page = routes[b"/openrpc.json"]()

    assert json.loads(page.body) == json.loads(json.dumps(document_of(APIS)))
    assert routes[b"/openrpc.json"]() is page


def test_a_service_shows_the_pages_to_whoever_asks_without_a_body(routes: PageRoutes, clock: Clock) -> None:
    async def scene() -> list[tuple[str, str, bytes]]:
        dispatcher = Dispatcher(
            APIS, Node(TESTNET, nothing_to_read, Main()), clock, cache=AnswerCache(0), limits=LIMITS
        )
        async with serving(Service(dispatcher, LIMITS, routes)) as server:
            client = await server.connect()
            seen = []
            for path in PATHS:
                await client.say(http_request(b"", method="GET", path=path.decode()))
                status, headers, body = await client.answer()
                seen.append((status, headers["Content-Type"], body))
            return seen

    seen = play(scene)

    assert [status for status, _, _ in seen] == ["HTTP/1.1 200 OK"] * len(PATHS)
    assert [kind for _, kind, _ in seen] == ["text/html; charset=utf-8", *["application/json"] * 3]
    assert [body for _, _, body in seen] == [routes[path]().body for path in PATHS]


LIMITS = Limits()
