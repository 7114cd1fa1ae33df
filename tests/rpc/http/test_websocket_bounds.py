"""What a client over WebSocket may cost: subscriptions that are not read, tiny frames, fragments without end."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from itertools import pairwise

from websockets.frames import Frame, Opcode

from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.http.places.connection_table import CANCELLED_AT_ONCE
from ledgerd.rpc.http.service import ALWAYS_HELD
from tests.rpc.http.streams.test_websocket import follow, masked, raw
from tests.rpc.loopback import connection_of, play, serving, until
from tests.rpc.sample_api import Main, service


def test_of_a_hundred_subscriptions_that_are_not_read_one_answer_is_kept() -> None:
    async def scene() -> int:
        main, large = Main(), 4_000_000
        serves = service(main)
        async with serving(serves) as server:
            client = await raw(server)
            client.writer.transport.pause_reading()  # type: ignore[attr-defined]  # those of sockets have it
            for number in range(100):
                await client.say(masked(Frame(Opcode.TEXT, follow(number).encode())))
            await until(lambda: len(main.listeners) == 100)
            connection = await connection_of(serves)
            main.publish(b"x" * large)
            await until(lambda: connection.is_congested)
            for _ in range(200):
                await asyncio.sleep(0)
            return connection.transport.get_write_buffer_size()

    assert play(scene) < 2 * 4_000_000


def test_subscriptions_of_a_connection_that_ends_are_given_up_in_parts() -> None:
    async def scene() -> list[int]:
        main = Main()
        serves = service(main, Limits(late_answers=1000, address_late_answers=1000))
        async with serving(serves) as server:
            client = await raw(server)
            for number in range(3 * CANCELLED_AT_ONCE):
                await client.say(masked(Frame(Opcode.TEXT, follow(number).encode())))
            await until(lambda: len(main.listeners) == 3 * CANCELLED_AT_ONCE)
            connection = await connection_of(serves)
            connection.transport.abort()
            await until(lambda: not serves.connections)
            left = [len(main.listeners)]
            while main.listeners:
                await asyncio.sleep(0)
                left.append(len(main.listeners))
            return left

    left = play(scene)
    assert all(before - after <= 2 * CANCELLED_AT_ONCE for before, after in pairwise(left))


def test_tiny_frames_count_for_what_they_take_in_memory() -> None:
    async def scene() -> tuple[int, int]:
        serves = service()
        async with serving(serves) as server:
            await raw(server)
            connection = await connection_of(serves)
            connection.pause_writing()  # as if nothing was read
            said = masked(Frame(Opcode.PONG, b"")) * 100_000
            connection.data_received(said)
            before = connection.buffered_bytes
            connection.is_congested = False
            connection.go_on()
            return before, len(said)

    held, said = play(scene)
    assert held == said - ALWAYS_HELD, "what is not parsed counts as it came"


def test_fragments_are_kept_as_their_bytes() -> None:
    async def scene() -> int:
        serves = service()
        async with serving(serves) as server:
            client = await raw(server)
            await client.say(masked(Frame(Opcode.TEXT, b"[", fin=False)))
            connection = await connection_of(serves)
            empty = masked(Frame(Opcode.CONT, b"", fin=False)) * 10_000
            gc.collect()
            tracemalloc.start()
            try:
                for _ in range(3):
                    await client.say(empty)
                await client.say(masked(Frame(Opcode.PING, b"end")))
                await client.reader.readexactly(5)
                await until(lambda: connection.buffered_bytes == 0)
                return tracemalloc.get_traced_memory()[0]
            finally:
                tracemalloc.stop()

    assert play(scene) < 120_000


def test_fragments_that_go_on_are_no_progress() -> None:
    async def scene() -> bytes:
        serves = service(limits=Limits(request_seconds=30.0))
        async with serving(serves) as server:
            client = await raw(server)
            await client.say(masked(Frame(Opcode.TEXT, b"[", fin=False)))
            connection = await connection_of(serves)
            await until(lambda: connection.progress() == 1)
            serves.check_connections(1000.0)
            for place in range(3):
                await client.say(masked(Frame(Opcode.CONT, b"1,", fin=False)) + masked(Frame(Opcode.PING, b"p")))
                await client.reader.readexactly(3)
                assert connection.progress() == 1
                serves.check_connections(1010.0 + 10 * place)
            return await client.reader.readexactly(4)

    assert play(scene).endswith((1008).to_bytes(2, "big"))
