"""A stream of operations: a client that reconnects has seen each operation once, whatever the chain does."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import connect

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.histories import History, Wanted
from ledgerd.history.embedded.log_bytes import LogBytes
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.settings import HistorySettings
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.rpc.api.history import stream as history_stream
from ledgerd.rpc.api.history.history_api import HISTORY_API
from ledgerd.rpc.api.history.stream import HistoryStream, Subscriptions, messages_of
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node, nothing_to_read
from ledgerd.rpc.http.service import Service
from tests.history.model import text_of
from tests.history.test_against_model import Teller
from tests.rpc.loopback import Server, play, serving, until
from tests.rpc.sample_api import Main

CUTS = 50

ALL = Wanted()


class Subscriber:
    """Takes messages, and does what the documents tell a client to do when it was cut off."""

    def __init__(self) -> None:
        self.blocks: dict[int, list[Any]] = {}
        self.next = 1
        self.irreversible = 0
        self.undone = 0

    def take(self, message: dict[str, Any]) -> None:
        if "undone_from" in message:
            self.undone += 1
            self.forget_from(message["undone_from"])
        elif "operations" in message:
            assert message["first_block"] == self.next
            self.next = message["last_block"] + 1
            self.irreversible = message["irreversible_block"]
            for each in message["operations"]:
                assert message["first_block"] <= each["block"] <= message["last_block"]
                self.blocks.setdefault(each["block"], []).append(each)

    def forget_from(self, number: int) -> None:
        self.blocks = {block: each for block, each in self.blocks.items() if block < number}
        self.next = min(self.next, number)

    def is_cut_off(self, *, reversible: bool) -> None:
        """Blocks that may be taken back while nobody listens are asked for again."""
        if reversible:
            self.forget_from(self.irreversible + 1)

    @property
    def operations(self) -> list[Any]:
        return [each for block in sorted(self.blocks) for each in self.blocks[block]]


class Story:
    """A chain that makes blocks, switches forks and makes blocks irreversible, as a seed says."""

    def __init__(self, folder: Path, random: Random) -> None:
        self.teller = Teller(folder, HistorySettings())
        self.history = EmbeddedHistory(
            self.teller.store.environment, LogBytes(folder / STATE_FOLDER), HistorySettings()
        )
        self.random = random

    def step(self) -> None:
        random, teller = self.random, self.teller
        what = random.random()
        if what < 0.25:
            teller.undo(random.randint(1, 4))
        for _ in range(random.randint(1, 3)):
            teller.block(
                [[random.randint(0, 200) for _ in range(random.randint(1, 3))] for _ in range(random.randint(0, 3))]
            )
        if what > 0.5:
            teller.advance(random.randint(0, 5))
        teller.commit()

    def end(self) -> None:
        self.teller.advance(0)
        self.teller.commit()

    def expected(self, last: int) -> list[Any]:
        found = []
        for number in range(1, last + 1):
            operations = sorted(self.teller.model.blocks[number], key=lambda each: each[2:5])
            found += [json.loads(text_of(each)) for each in operations]
        return found

    def close(self) -> None:
        self.teller.close()


@settings(max_examples=25)
@given(seed=st.integers(0, 1 << 32), reversible=st.booleans(), looked_at=st.sampled_from([1, 7, 500]))
def test_a_stream_tells_each_operation_of_the_final_chain_once(seed: int, reversible: bool, looked_at: int) -> None:
    random = Random(seed)  # noqa: S311 - a story, no secret
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(history_stream, "EXAMINED_AT_ONCE", looked_at)
        story, subscriber = Story(Path(name), random), Subscriber()
        stream = HistoryStream(story.history, ALL, 1, reversible=reversible)
        for step in range(60):
            story.step()
            if step == 59:
                story.end()
            has_more = True
            while has_more and (step == 59 or random.random() < 0.9):
                message, has_more = stream.advance()
                if message:
                    subscriber.take(json.loads(message))
                if random.random() < 0.1:
                    subscriber.is_cut_off(reversible=reversible)
                    stream = HistoryStream(story.history, ALL, subscriber.next, reversible=reversible)
                    has_more = True
        assert subscriber.operations == story.expected(len(story.teller.trunk))
        story.close()


def test_a_reversible_stream_says_what_was_taken_back(tmp_path: Path) -> None:
    story, subscriber = Story(tmp_path, Random(1)), Subscriber()  # noqa: S311
    teller, stream = story.teller, HistoryStream(story.history, ALL, 1, reversible=True)
    for number in range(5):
        teller.block([[number]])
    teller.advance(3)
    teller.commit()
    assert stream.advance()[0].startswith('{"first_block":1,"last_block":5,"irreversible_block":2,')
    teller.undo(2)
    teller.block([[100]])
    teller.commit()
    assert stream.advance() == ('{"undone_from":4}', True)
    message, has_more = stream.advance()
    assert message.startswith('{"first_block":4,"last_block":4,"irreversible_block":2,')
    assert not has_more
    teller.undo(1)
    teller.block([[101]])
    teller.advance(0)
    teller.commit()
    assert stream.advance() == ('{"undone_from":4}', True), "also when the other block is final by now"
    subscriber.next = 4
    subscriber.take(json.loads(stream.advance()[0]))
    assert stream.advance() == ("", False)
    story.close()


def test_only_what_is_irreversible_is_told_unless_more_is_asked_for(tmp_path: Path) -> None:
    story = Story(tmp_path, Random(1))  # noqa: S311
    stream = HistoryStream(story.history, ALL, 0, reversible=False)
    story.teller.block([[1]])
    story.teller.block([[2]])
    story.teller.advance(1)
    story.teller.commit()
    assert stream.opening("name") == '{"subscription":"name","next_block":2,"oldest_block":1}'
    assert stream.advance() == ("", False)
    story.end()
    assert stream.advance()[0].startswith('{"first_block":2,"last_block":2,"irreversible_block":2,')
    story.close()


def test_a_stream_without_matches_reports_its_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_stream, "SILENT_BLOCKS", 10)
    story = Story(tmp_path, Random(1))  # noqa: S311
    stream = HistoryStream(story.history, Wanted(tags=frozenset({0})), 1, reversible=False)
    told = []
    for _ in range(25):
        story.teller.block([[1]])
        story.end()
        message, _ = stream.advance()
        if message:
            told.append(json.loads(message))
    assert [(each["first_block"], each["last_block"], each["operations"]) for each in told] == [
        (1, 10, []),
        (11, 20, []),
    ]
    story.close()


# -- over a WebSocket


def service_over(story: Story, main: Main) -> tuple[Service, Subscriptions]:
    limits, subscriptions = Limits(), Subscriptions(story.history)
    services: dict[type, object] = {History: story.history, Subscriptions: subscriptions}
    node = Node(TESTNET, nothing_to_read, main, services)
    dispatcher = Dispatcher([HISTORY_API], node, lambda: 0.0, cache=AnswerCache(0), limits=limits)
    return Service(dispatcher, limits), subscriptions


def asking(method: str, *arguments: Any, identity: int = 1) -> str:
    params = ["history_api", method, list(arguments)]
    return json.dumps({"jsonrpc": "2.0", "method": "call", "params": params, "id": identity})


async def listen_until_cut(server: Server, subscriber: Subscriber, *, reversible: bool, cut_after: int) -> None:
    """One connection, which breaks after so many messages."""
    async with connect(f"ws://127.0.0.1:{server.port}", max_size=None, compression=None, ping_interval=None) as client:
        await client.send(asking("subscribe", subscriber.next, {}, reversible))
        for _ in range(cut_after):
            answer = json.loads(await client.recv())
            assert answer["id"] == 1
            subscriber.take(answer["result"])
        client.transport.abort()


@pytest.mark.parametrize("reversible", [False, True])
def test_a_subscriber_that_is_cut_fifty_times_has_seen_each_operation_once(tmp_path: Path, reversible: bool) -> None:
    random = Random(f"{reversible}")  # noqa: S311 - a story, no secret
    story, main, subscriber = Story(tmp_path, random), Main(), Subscriber()

    async def live() -> None:
        """The chain goes on as long as anybody listens."""
        while True:
            story.step()
            main.publish(b"")
            for _ in range(random.randint(1, 8)):
                await asyncio.sleep(0)

    async def scene() -> None:
        service, subscriptions = service_over(story, main)
        async with serving(service) as server:
            life = asyncio.create_task(live())
            for _ in range(CUTS):
                cut_after = random.randint(2, 6)
                await listen_until_cut(server, subscriber, reversible=reversible, cut_after=cut_after)
                subscriber.is_cut_off(reversible=reversible)
            life.cancel()
            story.end()
            last = len(story.teller.trunk)
            while subscriber.next <= last:
                await listen_until_cut(server, subscriber, reversible=reversible, cut_after=2)
            await until(lambda: not len(subscriptions))

    play(scene)
    assert subscriber.operations == story.expected(len(story.teller.trunk))
    assert subscriber.undone or not reversible
    story.close()


def test_a_subscription_ends_when_it_is_told_to(tmp_path: Path) -> None:
    story, main = Story(tmp_path, Random(1)), Main()  # noqa: S311

    async def scene() -> None:
        service, subscriptions = service_over(story, main)
        async with (
            serving(service) as server,
            connect(f"ws://127.0.0.1:{server.port}", compression=None, ping_interval=None) as client,
        ):
            await client.send(asking("subscribe", 1))
            name = json.loads(await client.recv())["result"]["subscription"]
            await client.send(asking("unsubscribe", name, identity=2))
            assert json.loads(await client.recv()) == {"jsonrpc": "2.0", "result": True, "id": 2}
            await until(lambda: not main.listeners)
            await client.send(asking("unsubscribe", name, identity=3))
            assert json.loads(await client.recv())["result"] is False
            assert len(subscriptions) == 0

    play(scene)
    story.close()


def test_no_operations_are_read_ahead_for_a_client_that_does_not_read(tmp_path: Path) -> None:
    story, main = Story(tmp_path, Random(1)), Main()  # noqa: S311
    for number in range(3_000):
        story.teller.block([[number, number, number]] * 3)
    story.end()

    async def scene() -> int:
        service, _ = service_over(story, main)
        async with serving(service) as server:
            client = await server.connect()
            client.reader._transport.pause_reading()  # type: ignore[attr-defined] # noqa: SLF001 - nobody reads
            key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            await client.say(
                f"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{key}\r\n".encode()
            )
            await until(lambda: service.connections)
            said = asking("subscribe", 1).encode()
            await client.say(b"\x81" + bytes([0x80 | len(said)]) + bytes(4) + said)
            await until(lambda: any(each.is_congested for each in service.connections))
            [connection] = service.connections
            return int(connection.transport.get_write_buffer_size())

    assert play(scene) < 1_000_000
    story.close()


def test_a_stream_survives_a_flood_of_heads_and_ends_with_the_node(tmp_path: Path) -> None:
    story = Story(tmp_path, Random(1))  # noqa: S311

    class Flooded:
        """A main process whose listeners are dropped twice, and which then stops."""

        def __init__(self) -> None:
            self.listened = 0

        async def ask(self, topic: str, _payload: bytes) -> bytes:
            raise AssertionError(topic)

        async def events(self, _topic: str) -> Any:
            self.listened += 1
            if self.listened < 3:
                story.teller.block([[self.listened]])
                story.end()
                yield b""

    async def scene() -> list[str]:
        stream = HistoryStream(story.history, ALL, 1, reversible=False)
        async with aclosing(messages_of(stream, "name", Flooded())) as messages:
            return [message async for message in messages]

    told = play(scene)
    assert [each[:18] for each in told[1:]] == ['{"first_block":1,"', '{"first_block":2,"']
    story.close()
