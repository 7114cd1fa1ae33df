"""What a dispatcher counts of each request: its method and its answer, wherever it came in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import aclosing
from typing import Any

import pytest

from ledgerd.codec.json.text import Json
from ledgerd.metrics.meters.requests import RequestMeter
from ledgerd.metrics.table.requests import REQUEST_TIME, REQUESTS
from ledgerd.rpc.call.dispatch import Later
from tests.metrics.memories import NodeMemory, node_memory
from tests.rpc.sample_api import BROADCAST, DATABASE, Main, dispatcher, request

KNOWN = tuple(method.full_name for api in (DATABASE, BROADCAST) for method in api)


class Counting:
    """A dispatcher that counts, and what it has counted."""

    def __init__(self, node: NodeMemory) -> None:
        self._node = node
        self.main = Main()
        self.serving = dispatcher(self.main)
        self.serving.count_with(RequestMeter(node.worker(0, KNOWN), KNOWN))

    def ask(self, value: Json) -> Any:
        answer = self.serving.answer(value if isinstance(value, bytes) else json.dumps(value).encode())
        return json.loads(asyncio.run(answer.first()) if isinstance(answer, Later) else answer)

    def counted(self) -> dict[tuple[str, ...], float]:
        self.serving.cache.report_hits()
        found = self._node.values(KNOWN).get(REQUESTS.name, {})
        return {labels: numbers[0] for labels, numbers in found.items() if numbers[0]}

    def timed(self) -> dict[str, float]:
        found = self._node.values(KNOWN).get(REQUEST_TIME.name, {})
        return {labels[0]: sum(numbers[:-1]) for labels, numbers in found.items()}


@pytest.fixture
def counting() -> Iterator[Counting]:
    with node_memory() as node:
        yield Counting(node)


@pytest.mark.parametrize(
    ("asked", "counted"),
    [
        (request("echo", 1), ("database_api.echo", "ok")),
        (request("echo", 1, 2), ("database_api.echo", "refused")),
        (request("break_down"), ("database_api.break_down", "failed")),
        (request("read_damaged"), ("database_api.read_damaged", "failed")),
        (request("broadcast", "x", api="network_broadcast_api"), ("network_broadcast_api.broadcast", "ok")),
        (request("broadcast", "wrong", api="network_broadcast_api"), ("network_broadcast_api.broadcast", "refused")),
        (request("nothing_like_it"), ("other", "refused")),
        (request("echo", 1, api="no_api"), ("other", "refused")),
        ({"x": 1}, ("other", "refused")),
        ([], ("other", "refused")),
        (7, ("other", "refused")),
    ],
)
def test_a_request_is_counted_by_method_and_answer(counting: Counting, asked: Json, counted: tuple[str, str]) -> None:
    counting.ask(asked)

    assert counting.counted() == {counted: 1.0}


def test_what_is_no_json_is_a_refused_request(counting: Counting) -> None:
    counting.ask(b"{")  # type: ignore[arg-type]

    assert counting.counted() == {("other", "refused"): 1.0}
    assert counting.timed() == {}


def test_answers_of_the_cache_are_counted_and_not_timed(counting: Counting) -> None:
    for identity in range(4):
        counting.ask(request("echo", 1, identity=identity))

    assert counting.counted() == {("database_api.echo", "ok"): 1.0, ("database_api.echo", "cached"): 3.0}
    assert counting.timed() == {"database_api.echo": 1.0}


def test_hits_are_counted_though_the_cache_is_dropped_between(counting: Counting) -> None:
    for _ in range(3):
        counting.ask(request("echo", 1))
        counting.ask(request("echo", 1))
        counting.serving.cache.clear()

    assert counting.counted() == {("database_api.echo", "ok"): 3.0, ("database_api.echo", "cached"): 3.0}


def test_requests_of_a_batch_are_counted_one_by_one(counting: Counting) -> None:
    batch: list[Json] = [*(request("echo", number) for number in range(5)), request("nothing_like_it")]
    counting.ask(batch)

    assert counting.counted() == {("database_api.echo", "ok"): 5.0, ("other", "refused"): 1.0}


def test_a_subscription_is_counted_once_at_its_end(counting: Counting) -> None:
    async def scene() -> None:
        asked = json.dumps(request("follow", "t", api="network_broadcast_api")).encode()
        answer = counting.serving.answer(asked)
        assert isinstance(answer, Later)
        async with aclosing(answer.answers) as answers:
            take: Callable[[], Any] = answers.__anext__
            waiting = asyncio.ensure_future(take())
            await counting.main.heard.wait()
            counting.main.publish(b"one")
            await waiting

    asyncio.run(scene())

    assert counting.counted() == {("network_broadcast_api.follow", "ok"): 1.0}
    assert counting.timed() == {}
