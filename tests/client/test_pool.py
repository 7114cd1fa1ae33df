"""Batches to a node: over connections that stay open, bounded, and without a hanging visitor when it is away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from ledgerd.client import pool as connection
from ledgerd.client.envelope import ErrorAnswer, NodeCall
from ledgerd.client.pool import MOST_CONNECTIONS, NodeAway, NodePool
from tests.patience import PATIENCE
from tests.rpc.loopback import play

PING = NodeCall("database_api", "ping", (1,))


class FakeServer:
    """Answers batches with what it is told to, over HTTP."""

    def __init__(self) -> None:
        self.connections = self.batches = self.at_once = self.most_at_once = 0
        self.answer: Callable[[list[dict[str, object]]], Awaitable[bytes]] = self.echo
        self.is_full = asyncio.Event()
        self.tasks: set[asyncio.Task[None] | None] = set()
        self.head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"

    async def echo(self, batch: list[dict[str, object]]) -> bytes:
        return json.dumps([{"id": each["id"], "result": each["params"]} for each in reversed(batch)]).encode()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.tasks.add(asyncio.current_task())
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                size = int(head.lower().partition("content-length: ")[2].partition("\r")[0])
                batch = json.loads(await reader.readexactly(size))
                self.batches += 1
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
                if self.at_once == MOST_CONNECTIONS:
                    self.is_full.set()
                body = await self.answer(batch)
                self.at_once -= 1
                writer.write(self.head % len(body) + body)
                if b"close" in self.head:
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        writer.transport.abort()


@asynccontextmanager
async def pool_to(server: FakeServer) -> AsyncIterator[NodePool]:
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    pool = NodePool(f"http://127.0.0.1:{port}")
    try:
        yield pool
    finally:
        pool.close()
        listening.close()
        for task in server.tasks:
            if task is not None:
                task.cancel()
        await asyncio.gather(*filter(None, server.tasks), return_exceptions=True)


def test_a_batch_has_its_answers_in_order_and_the_connection_stays_open() -> None:
    async def scene() -> None:
        server = FakeServer()
        async with pool_to(server) as pool:
            for _ in range(3):
                found = await pool.ask(PING, NodeCall("a", "b"))
                assert found == [["database_api", "ping", [1]], ["a", "b", []]]
            assert (server.connections, server.batches, pool.failures) == (1, 3, 0)

    play(scene)


def test_nothing_is_asked_where_there_is_nothing_to_ask() -> None:
    async def scene() -> None:
        server = FakeServer()
        async with pool_to(server) as pool:
            assert await pool.ask() == []
            assert server.batches == 0

    play(scene)


def test_a_connection_that_the_node_has_closed_is_replaced() -> None:
    async def scene() -> None:
        server = FakeServer()
        server.head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
        async with pool_to(server) as pool:
            for _ in range(3):
                await pool.ask(PING)
            assert server.connections == 3

    play(scene)


def test_no_more_connections_than_allowed_are_used_and_all_are_answered() -> None:
    async def scene() -> None:
        server, gate = FakeServer(), asyncio.Event()

        async def held(batch: list[dict[str, object]]) -> bytes:
            await gate.wait()
            return await server.echo(batch)

        server.answer = held
        async with pool_to(server) as pool:
            asked = [asyncio.ensure_future(pool.ask(PING)) for _ in range(3 * MOST_CONNECTIONS)]
            await server.is_full.wait()
            gate.set()
            await asyncio.gather(*asked)
            assert (server.most_at_once, server.connections) == (MOST_CONNECTIONS, MOST_CONNECTIONS)

    play(scene)


def test_too_many_that_wait_are_told_so_and_the_others_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MOST_WAITING", 2)

    async def scene() -> None:
        server, gate = FakeServer(), asyncio.Event()

        async def held(batch: list[dict[str, object]]) -> bytes:
            await gate.wait()
            return await server.echo(batch)

        server.answer = held
        async with pool_to(server) as pool:
            asked = [asyncio.ensure_future(pool.ask(PING)) for _ in range(MOST_CONNECTIONS + 2)]
            await server.is_full.wait()
            with pytest.raises(NodeAway, match="too many requests wait for it"):
                await pool.ask(PING)
            gate.set()
            assert len(await asyncio.gather(*asked)) == MOST_CONNECTIONS + 2

    play(scene)


def test_a_node_that_says_nothing_is_away_after_a_while_and_its_place_is_free_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scene() -> None:
        server = FakeServer()

        async def never(_: list[dict[str, object]]) -> bytes:
            await asyncio.Event().wait()
            return b""

        server.answer = never
        async with pool_to(server) as pool:
            monkeypatch.setattr(connection, "SECONDS", 0.05)
            with pytest.raises(NodeAway, match="no answer within"):
                await pool.ask(PING)
            monkeypatch.setattr(connection, "SECONDS", PATIENCE)
            server.answer = server.echo
            assert await asyncio.gather(*(pool.ask(PING) for _ in range(MOST_CONNECTIONS)))

    play(scene)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"<html>", "no JSON-RPC"),
        (b"[]", "no JSON-RPC"),
        (b'{"id":null,"error":{"message":"the node starts"}}', "the node starts"),
    ],
)
def test_an_answer_of_another_kind_means_that_the_node_is_away(body: bytes, why: str) -> None:
    async def scene() -> None:
        server = FakeServer()

        async def strange(_: list[dict[str, object]]) -> bytes:
            return body

        server.answer = strange
        async with pool_to(server) as pool:
            with pytest.raises(NodeAway, match=why):
                await pool.ask(PING)
            assert pool.failures == 1

    play(scene)


def test_an_answer_without_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LARGEST_ANSWER", 1_000)

    async def scene() -> None:
        server = FakeServer()

        async def long(_: list[dict[str, object]]) -> bytes:
            return b" " * 100_000

        server.answer = long
        async with pool_to(server) as pool:
            with pytest.raises(NodeAway, match="more than 1,000 bytes"):
                await pool.ask(PING)

    play(scene)


def test_nobody_at_the_address_is_said_at_once() -> None:
    async def scene() -> None:
        server = FakeServer()
        async with pool_to(server) as pool:
            pass
        with pytest.raises(NodeAway):
            await pool.ask(PING)

    play(scene)


def test_an_error_stands_for_its_own_request() -> None:
    async def scene() -> None:
        server = FakeServer()

        async def refusing(batch: list[dict[str, object]]) -> bytes:
            return json.dumps([{"id": each["id"], "error": {"message": "no"}} for each in batch]).encode()

        server.answer = refusing
        async with pool_to(server) as pool:
            (found,) = await pool.ask(PING)
            assert isinstance(found, ErrorAnswer)
            assert str(found) == "no"

    play(scene)
