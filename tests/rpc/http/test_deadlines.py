"""The time that a connection has for its requests and answers."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.rpc.http.test_connection import CALL, LONG_POLL, stand_still
from tests.rpc.loopback import connection_of, http_request, play, serving, until
from tests.rpc.sample_api import Main, request, service


@pytest.mark.parametrize(
    ("said", "steps", "bound"),
    [
        (b"", 0, 30.0),
        (b"POST / HTTP/1.1\r\nHo", 1, 30.0),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{", 2, 30.0),
        (http_request(CALL), 4, 75.0),
    ],
    ids=["silent", "in the headers", "in the body", "between requests"],
)
def test_a_connection_that_stands_still_is_closed(said: bytes, steps: int, bound: float) -> None:
    async def scene() -> None:
        serves = service()
        async with serving(serves) as server:
            client = await server.connect()
            await client.say(said)
            connection = await connection_of(serves)
            await until(lambda: connection.progress() >= steps)
            stand_still(serves, bound - 0.1)
            assert not connection.transport.is_closing()
            stand_still(serves, bound)
            assert connection.transport.is_closing()

    play(scene)


def test_bytes_that_trickle_in_do_not_extend_the_deadline() -> None:
    async def scene() -> None:
        serves = service()
        async with serving(serves) as server:
            client = await server.connect()
            await client.say(b"POST / HTTP/1.1\r\nHost: a\r\nX: ")
            connection = await connection_of(serves)
            await until(lambda: connection.progress() >= 1)
            for second in range(10):
                serves.check_connections(second)
                await client.say(b"x")
                await asyncio.sleep(0)
            assert not connection.transport.is_closing()
            serves.check_connections(10)
            assert await client.rest() == b""

    play(scene)


def test_a_long_poll_has_no_deadline() -> None:
    async def scene() -> None:
        main = Main()
        serves = service(main)
        async with serving(serves) as server:
            client = await server.connect()
            await client.say(http_request(LONG_POLL))
            await main.heard.wait()
            stand_still(serves, 1e6)
            main.publish(b"block")
            assert b"block" in (await client.answer())[2]

    play(scene)


def test_a_client_that_reads_nothing_is_paused_and_then_disconnected() -> None:
    async def scene() -> None:
        serves = service()
        async with serving(serves) as server:
            client = await server.connect()
            client.writer.transport.pause_reading()  # type: ignore[attr-defined] # a stream's transport is one
            body = json.dumps(request("echo", "x" * 200_000)).encode()
            connection = await connection_of(serves)
            for _ in range(2000):
                client.writer.write(http_request(body))
                await asyncio.sleep(0)
                if connection.is_congested:
                    break
            assert connection.is_congested
            stand_still(serves, 60.0)
            assert connection.transport.is_closing()

    play(scene)
