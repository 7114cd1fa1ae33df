"""A connection with events: heartbeats, its place among the others, back-pressure, and its end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import pytest

from ledgerd.rpc.api.history.server_events import EVENTS_PATH
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.http.streams import event_stream
from ledgerd.rpc.http.streams.event_stream import EventStreamConnection
from tests.rpc.api.history.test_server_events import Listener, service_over, three_blocks
from tests.rpc.api.history.test_stream import Story
from tests.rpc.loopback import http_request, play, serving, until
from tests.rpc.sample_api import Main


def test_silence_is_broken_by_a_comment_and_the_node_ends_the_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_SECONDS", 0.0)
    story = three_blocks(tmp_path)

    async def scene() -> bytes:
        service = service_over(story, Main(), Limits())
        async with serving(service) as server:
            listener = Listener(server)
            await listener.connect()
            await listener.event()
            for _ in range(2):
                service.check_connections(service.loop.time())
            beat = await listener.client.reader.readuntil(b":\n\n")
            await service.stop()
            assert await listener.client.rest() == b""
            return beat

    assert play(scene).endswith(b":\n\n")
    story.close()


def test_each_counts_as_a_connection_and_is_not_closed_for_others(tmp_path: Path) -> None:
    story = three_blocks(tmp_path)

    async def scene() -> tuple[int, bytes]:
        service = service_over(story, Main(), Limits(connections=2))
        async with serving(service) as server:
            for _ in range(2):
                listener = Listener(server)
                await listener.connect()
                await listener.event()
            third = await server.connect()
            await third.say(http_request(b"", method="GET", path=EVENTS_PATH.decode()))
            status = (await third.answer())[0]
            return sum(isinstance(each, EventStreamConnection) for each in service.connections), status.encode()

    count, status = play(scene)
    assert count == 2
    assert b"503" in status
    story.close()


def test_nothing_is_made_ahead_for_a_client_that_does_not_read(tmp_path: Path) -> None:
    story = Story(tmp_path, Random(1))  # noqa: S311
    for number in range(2_000):
        story.teller.block([[number, number, number]] * 3)
    story.end()

    async def scene() -> int:
        service = service_over(story, Main(), Limits())
        async with serving(service) as server:
            client = await server.connect()
            client.reader._transport.pause_reading()  # type: ignore[attr-defined] # noqa: SLF001 - nobody reads
            await client.say(http_request(b"", method="GET", path=f"{EVENTS_PATH.decode()}?from=1"))
            await until(lambda: any(each.is_congested for each in service.connections))
            await asyncio.sleep(0)
            [connection] = service.connections
            return int(connection.transport.get_write_buffer_size())

    assert play(scene) < 1_000_000
    story.close()
