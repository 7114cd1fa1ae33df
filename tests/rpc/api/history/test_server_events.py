"""Server-Sent Events: whoever resumes by the id of the last event has seen each operation once."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.chain.log.histories import History, Wanted
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.rpc.api.history import stream as history_stream
from ledgerd.rpc.api.history.history_api import HISTORY_API
from ledgerd.rpc.api.history.server_events import EVENTS_PATH, MOST_PARAMETERS, EventStream, events_of
from ledgerd.rpc.api.history.stream import Subscriptions
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node, nothing_to_read
from ledgerd.rpc.http.service import Service
from tests.rpc.api.history.test_stream import Story, Subscriber
from tests.rpc.loopback import Client, Server, http_request, play, serving
from tests.rpc.sample_api import Main

ALL = Wanted()
LONG = "?" + "&".join(f"p{number}=1" for number in range(MOST_PARAMETERS + 1))


@settings(max_examples=20)
@given(seed=st.integers(0, 1 << 32), reversible=st.booleans(), looked_at=st.sampled_from([1, 7, 500]))
def test_whoever_resumes_has_each_operation_once(seed: int, reversible: bool, looked_at: int) -> None:
    random = Random(seed)  # noqa: S311 - a story, no secret
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(history_stream, "EXAMINED_AT_ONCE", looked_at)
        story, subscriber = Story(Path(name), random), Subscriber()
        stream, last_id = EventStream(story.history, ALL, 1, reversible=reversible), ""
        stream.opening("")
        for step in range(50):
            story.step()
            if step == 49:
                story.end()
            has_more = True
            while has_more and (step == 49 or random.random() < 0.9):
                message, has_more = stream.advance()
                if message:
                    subscriber.take(json.loads(message))
                    last_id = stream.position()
                if random.random() < 0.2 and last_id:
                    stream = EventStream(story.history, ALL, 1, reversible=reversible)
                    stream.resume(last_id)
                    opening = json.loads(stream.opening(""))
                    assert opening["next_block"] <= subscriber.next
                    has_more = True
        assert subscriber.operations == story.expected(len(story.teller.trunk))
        story.close()


# -- over HTTP


def service_over(story: Story, main: Main, limits: Limits) -> Service:
    node = Node(TESTNET, nothing_to_read, main, {History: story.history, Subscriptions: Subscriptions(story.history)})
    service = Service(Dispatcher([HISTORY_API], node, lambda: 0.0, cache=AnswerCache(0), limits=limits), limits)
    service.event_streams = {EVENTS_PATH: partial(events_of, node)}
    return service


class Listener:
    """A client as browsers are: it keeps the last id, and sends it when it comes again."""

    def __init__(self, server: Server, query: str = "") -> None:
        self.server, self.path = server, f"{EVENTS_PATH.decode()}{query}"
        self.last_id = ""
        self.client: Client

    async def connect(self) -> dict[str, str]:
        self.client = await self.server.connect()
        resumed = f"Last-Event-ID: {self.last_id}\r\n" if self.last_id else ""
        await self.client.say(http_request(b"", method="GET", path=self.path, headers=resumed))
        status, headers = await self.client.head()
        assert status == "HTTP/1.1 200 OK"
        return headers

    async def event(self) -> dict[str, Any]:
        while True:
            lines = (await self.client.reader.readuntil(b"\n\n")).decode().splitlines()
            fields = dict(line.split(": ", 1) for line in lines if not line.startswith(":") and line)
            if "data" in fields:
                self.last_id = fields["id"]
                found: dict[str, Any] = json.loads(fields["data"])
                return found


def three_blocks(folder: Path) -> Story:
    story = Story(folder, Random(1))  # noqa: S311
    for number in range(3):
        story.teller.block([[number]])
    story.end()
    return story


def test_a_lost_connection_goes_on_behind_the_last_event(tmp_path: Path) -> None:
    story, main = three_blocks(tmp_path), Main()

    async def scene() -> None:
        async with serving(service_over(story, main, Limits())) as server:
            listener, subscriber = Listener(server, "?from=1"), Subscriber()
            headers = await listener.connect()
            assert headers["Content-Type"] == "text/event-stream"
            assert await listener.event() == {"next_block": 1, "oldest_block": 1}
            subscriber.take(await listener.event())
            listener.client.writer.transport.abort()
            story.teller.block([[4]])
            story.end()
            await listener.connect()
            assert await listener.event() == {"next_block": 4, "oldest_block": 1}
            subscriber.take(await listener.event())
            story.teller.block([[5]])
            story.end()
            main.publish(b"")
            subscriber.take(await listener.event())
        assert subscriber.operations == story.expected(5)

    play(scene)
    story.close()


def test_it_is_filtered_by_account_and_kind(tmp_path: Path) -> None:
    story = three_blocks(tmp_path)

    async def scene() -> tuple[Any, ...]:
        async with serving(service_over(story, Main(), Limits())) as server:
            listener = Listener(server, "?from=1&types=transfer&accounts=nobody,none&direction=incoming")
            await listener.connect()
            await listener.event()
            story.teller.block([[1]])
            story.end()
            asked = await server.connect()
            answers = []
            for query in (
                "?types=transfr",
                "?from=x",
                "?from=-1",
                "?nothing=1",
                "?reversible=1",
                "?from=1&from=2",
                LONG,
            ):
                await asked.say(http_request(b"", method="GET", path=f"{EVENTS_PATH.decode()}{query}"))
                status, _, body = await asked.answer()
                answers.append((status.split()[1], body))
            await asked.say(
                http_request(b"", method="GET", path=EVENTS_PATH.decode(), headers="Last-Event-ID: 5; drop\r\n")
            )
            return (*answers, await asked.answer())

    *answers, wrong_id = play(scene)
    story.close()
    assert {status for status, _ in answers} == {"400"}
    assert answers[-1][1] == b"the query cannot be read"
    assert answers[0][1] == b"filter.types[0]: Invalid operation name: transfr"
    assert wrong_id[2].endswith(b"Last-Event-ID: this is no id of this stream")
