"""JSON-RPC over WebSocket: requests, subscriptions, and misbehaving clients (spec 05, 2.3 and 2.4)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from ledgerd.rpc.call.envelope import RECOVERING
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.http.connection import Speech
from ledgerd.rpc.http.service import ALWAYS_HELD
from ledgerd.rpc.http.streams.websocket import WebSocketConnection, accept_key
from ledgerd.rpc.shares.loop_turns import LoopTurns
from tests.rpc.loopback import Client, Server, connection_of, play, serving, until
from tests.rpc.sample_api import Main, calls, request, service
from tests.rpc.ticking import TICKS, ticking

CALL = json.dumps(request("get_hardfork_version"))
ANSWER = '{"jsonrpc":"2.0","result":"3.2.0","id":1}'
KEY = b"dGhlIHNhbXBsZSBub25jZQ=="
HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Key: %b\r\nSec-WebSocket-Version: %b\r\n\r\n"
)


def follow(identity: int) -> str:
    return json.dumps(request("follow", "blocks", api="network_broadcast_api", identity=identity))


@asynccontextmanager
async def talking(server: Server) -> AsyncIterator[ClientConnection]:
    async with connect(f"ws://127.0.0.1:{server.port}", max_size=None, compression=None, ping_interval=None) as client:
        yield client


async def raw(server: Server, source: str = "127.0.0.1") -> Client:
    """A client after its handshake, that says whatever bytes it likes."""
    client = await server.connect(source)
    await client.say(HANDSHAKE % (KEY, b"13"))
    assert (await client.head())[0] == "HTTP/1.1 101 Switching Protocols"
    return client


def masked(frame: Frame) -> bytes:
    return frame.serialize(mask=True)


def test_each_message_is_a_request() -> None:
    async def scene() -> None:
        async with serving(service()) as server, talking(server) as client:
            for said, heard in ((CALL, ANSWER), (f"[{CALL},{CALL}]", f"[{ANSWER},{ANSWER}]")):
                await client.send(said)
                assert await client.recv() == heard

    play(scene)


def test_an_empty_message_is_invalid_json() -> None:
    async def scene() -> None:
        async with serving(service()) as server, talking(server) as client:
            await client.send("")
            assert json.loads(await client.recv())["error"]["code"] == -32000

    play(scene)


def test_a_binary_message_is_answered_with_a_text_and_harms_nothing() -> None:
    async def scene() -> None:
        async with serving(service()) as server, talking(server) as client:
            await client.send(b"\xff")
            assert await client.recv() == "error: string payload expected"
            await client.send(CALL)
            assert await client.recv() == ANSWER

    play(scene)


def test_a_message_may_come_in_fragments_with_pings_between() -> None:
    async def scene() -> None:
        async with serving(service()) as server:
            client = await raw(server)
            pieces = [CALL[:5].encode(), CALL[5:30].encode(), CALL[30:].encode()]
            opcodes = (Opcode.TEXT, Opcode.CONT, Opcode.CONT)
            for number, (opcode, piece) in enumerate(zip(opcodes, pieces, strict=True)):
                await client.say(masked(Frame(opcode, piece, number == 2)) + masked(Frame(Opcode.PING, b"p")))
            pongs = Frame(Opcode.PONG, b"p").serialize(mask=False)
            answer = Frame(Opcode.TEXT, ANSWER.encode()).serialize(mask=False)
            heard = await client.reader.readexactly(3 * len(pongs) + len(answer))
            assert sorted((heard.count(pongs), heard.count(answer))) == [1, 3]

    play(scene)


def test_an_answer_that_is_not_utf8_is_sent_with_replacements() -> None:
    # The reference drops such an answer silently; the client would wait for ever (docs/api.md).
    async def scene() -> None:
        async with serving(service()) as server, talking(server) as client:
            await client.send(json.dumps(request("raw_bytes")))
            assert await client.recv() == '{"jsonrpc":"2.0","result":"a\ufffd","id":1}'

    play(scene)


@pytest.mark.parametrize("version", [b"7", b"8", b"13"])
def test_the_versions_with_the_standards_frames_are_spoken(version: bytes) -> None:
    async def scene() -> tuple[str, dict[str, str]]:
        async with serving(service()) as server:
            client = await server.connect()
            await client.say(HANDSHAKE % (KEY, version))
            return await client.head()

    status, headers = play(scene)
    assert status == "HTTP/1.1 101 Switching Protocols"
    assert headers["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


@pytest.mark.parametrize(("key", "version"), [(KEY, b"12"), (b"short", b"13"), (b"", b"13"), (b"\xff", b"13")])
def test_a_wrong_handshake_is_refused(key: bytes, version: bytes) -> None:
    async def scene() -> bytes:
        async with serving(service()) as server:
            client = await server.connect()
            await client.say(HANDSHAKE % (key, version))
            return await client.rest()

    assert accept_key({b"sec-websocket-key": key, b"sec-websocket-version": version}) is None
    assert play(scene).startswith(b"HTTP/1.1 400 ")


def test_where_only_http_is_spoken_a_handshake_is_an_empty_request() -> None:
    async def scene() -> bytes:
        async with serving(service(), Speech.HTTP) as server:
            client = await server.connect()
            await client.say(HANDSHAKE % (KEY, b"13"))
            return (await client.answer())[2]

    assert play(scene) == b"empty request body"


def test_a_message_right_behind_the_handshake_is_not_lost() -> None:
    async def scene() -> None:
        async with serving(service()) as server:
            client = await server.connect()
            await client.say(HANDSHAKE % (KEY, b"13") + masked(Frame(Opcode.TEXT, CALL.encode())))
            await client.head()
            answer = Frame(Opcode.TEXT, ANSWER.encode()).serialize(mask=False)
            assert await client.reader.readexactly(len(answer)) == answer

    play(scene)


# -- subscriptions


def test_subscriptions_are_answered_under_their_ids_until_the_client_leaves() -> None:
    async def scene() -> None:
        main = Main()
        async with serving(service(main)) as server:
            async with talking(server) as client:
                await client.send(follow(1))
                await client.send(follow(2))
                await until(lambda: len(main.listeners) == 2)
                for block in (b"a", b"b"):
                    main.publish(block)
                    heard = sorted([await client.recv(), await client.recv()])
                    assert heard == [f'{{"jsonrpc":"2.0","result":"{block.decode()}","id":{i}}}' for i in (1, 2)]
                await client.send(CALL)
                assert await client.recv() == ANSWER
            await until(lambda: not main.listeners)

    play(scene)


def test_requests_do_not_wait_for_late_answers() -> None:
    async def scene() -> None:
        main = Main()
        main.may_answer.clear()
        async with serving(service(main)) as server, talking(server) as client:
            await client.send(json.dumps(request("broadcast", "a", api="network_broadcast_api", identity="late")))
            await client.send(CALL)
            assert await client.recv() == ANSWER
            main.may_answer.set()
            assert await client.recv() == '{"jsonrpc":"2.0","result":{},"id":"late"}'

    play(scene)


def test_one_connection_waits_for_so_many_answers() -> None:
    async def scene() -> None:
        main = Main()
        async with serving(service(main, Limits(late_answers=2))) as server, talking(server) as client:
            for identity in range(3):
                await client.send(follow(identity))
            refused = json.loads(await client.recv())
            assert (refused["id"], refused["error"]["code"]) == (2, -32000)

    play(scene)


def test_the_send_buffer_of_a_subscriber_that_does_not_read_is_bounded() -> None:
    async def scene() -> None:
        main = Main()
        serves = service(main)
        async with serving(serves) as server:
            client = await raw(server)
            client.writer.transport.pause_reading()  # type: ignore[attr-defined] # a stream's transport is one
            await client.say(masked(Frame(Opcode.TEXT, follow(1).encode())))
            await main.heard.wait()
            connection = await connection_of(serves)
            event = b"x" * 200_000
            for _ in range(200):
                main.publish(event)
                await asyncio.sleep(0)
            await until(lambda: connection.is_congested)
            for _ in range(50):
                main.publish(event)
                await asyncio.sleep(0)
            assert connection.transport.get_write_buffer_size() < 3 * len(event)
            serves.check_connections(0.0)
            serves.check_connections(60.0)
            assert connection.transport.is_closing()

    play(scene)


def test_frames_of_one_read_are_answered_as_far_as_the_client_takes_the_answers() -> None:
    async def scene() -> int:
        serves = service()
        async with serving(serves) as server:
            client = await raw(server)
            client.writer.transport.pause_reading()  # type: ignore[attr-defined] # a stream's transport is one
            connection = await connection_of(serves)
            known = json.dumps(request("get_hardfork_version")).encode()
            large = masked(Frame(Opcode.TEXT, json.dumps(request("long", 100_000)).encode()))
            assert isinstance(connection, WebSocketConnection)
            connection.data_received(large * 300 + masked(Frame(Opcode.TEXT, known)))
            written = connection.transport.get_write_buffer_size()
            client.writer.transport.resume_reading()  # type: ignore[attr-defined] # as above
            heard = b""
            while b"3.2.0" not in heard[-300:]:
                heard += await client.reader.read(1 << 20)
            assert heard.count(b"long:") == 300
            return written

    assert play(scene) < 1_000_000


def test_frames_sent_ahead_leave_others_their_turn() -> None:
    async def scene() -> list[int]:
        serves = service()
        serves.turns = serves.dispatcher.turns = LoopTurns(ticking())
        async with serving(serves) as server:
            await raw(server)
            connection = await connection_of(serves)
            assert isinstance(connection, WebSocketConnection)
            calls.clear()
            connection.data_received(masked(Frame(Opcode.TEXT, json.dumps(request("count")).encode())) * 200)
            seen = [len(calls)]
            while len(calls) < 200:
                await asyncio.sleep(0)
                seen.append(len(calls))
            return seen

    seen = play(scene)
    assert seen[0] <= 2 * TICKS
    assert all(after - before <= 2 * TICKS for before, after in pairwise(seen))


# -- bounds


def test_a_message_that_is_too_large_ends_the_connection_with_its_code() -> None:
    async def scene() -> int | None:
        async with serving(service(limits=Limits(body_bytes=1000))) as server, talking(server) as client:
            await client.send("x" * 1001)
            with pytest.raises(ConnectionClosed):
                await client.recv()
            return client.close_code

    assert play(scene) == 1009


def test_messages_that_have_not_arrived_whole_are_bounded_for_all_clients_together() -> None:
    async def scene() -> int:
        serves = service(limits=Limits(held_bytes=35_000))
        async with serving(serves) as server:
            first, second = await raw(server), await raw(server)
            begun = masked(Frame(Opcode.TEXT, b"x" * 90_000, fin=False))
            await first.say(begun)
            await until(lambda: serves.buffered_requests.total == 90_000 - ALWAYS_HELD)
            await second.say(masked(Frame(Opcode.TEXT, b"x" * 80_000, fin=False)))
            await first.reader.readuntil((1013).to_bytes(2, "big"))
            assert serves.buffered_requests.total == 80_000 - ALWAYS_HELD
            await first.close()
            await second.close()
            await until(lambda: not serves.connections)
            return serves.buffered_requests.total

    assert play(scene) == 0


def test_a_text_that_is_not_utf8_ends_the_connection_with_its_code() -> None:
    async def scene() -> bytes:
        async with serving(service()) as server:
            client = await raw(server)
            await client.say(masked(Frame(Opcode.TEXT, b"\xff")))
            return await client.rest()

    assert (1007).to_bytes(2, "big") in play(scene)


def test_a_silent_client_is_pinged_and_then_disconnected() -> None:
    async def scene() -> None:
        serves = service()
        async with serving(serves) as server:
            client = await raw(server)
            await until(lambda: any(isinstance(each, WebSocketConnection) for each in serves.connections))
            connection = await connection_of(serves)
            serves.check_connections(0.0)
            serves.check_connections(75.0)
            ping = Frame(Opcode.PING, b"").serialize(mask=False)
            assert await client.reader.readexactly(len(ping)) == ping
            await client.say(masked(Frame(Opcode.PONG, b"")))
            await until(lambda: connection.progress() > 2)
            for now in (75.0, 150.0):
                serves.check_connections(now)
            assert await client.reader.readexactly(len(ping)) == ping
            for now in (150.0, 225.0):
                serves.check_connections(now)
            assert await client.rest() == b""

    play(scene)


def test_a_message_that_does_not_end_is_not_waited_for() -> None:
    async def scene() -> None:
        serves = service()
        async with serving(serves) as server:
            client = await raw(server)
            connection = await connection_of(serves)
            steps = connection.progress()
            await client.say(masked(Frame(Opcode.TEXT, b"[" * 200))[:-10])
            await until(lambda: connection.progress() > steps)
            serves.check_connections(0.0)
            await client.say(b"xx")
            await asyncio.sleep(0)
            serves.check_connections(59.0)
            assert not connection.transport.is_closing()
            serves.check_connections(60.0)
            assert (1008).to_bytes(2, "big") in await client.reader.read(100)
            serves.check_connections(60.0)
            serves.check_connections(70.0)
            assert await client.rest() == b""

    play(scene)


@settings(max_examples=25)
@given(st.lists(st.binary(max_size=60) | st.sampled_from([masked(Frame(Opcode.TEXT, b"{}"))]), max_size=5))
def test_no_bytes_on_one_connection_harm_another(said: list[bytes]) -> None:
    async def scene() -> None:
        async with serving(service()) as server, talking(server) as bystander:
            client = await raw(server)
            for piece in said:
                await client.say(piece)
            client.writer.write_eof()
            await client.rest()
            await bystander.send(CALL)
            assert await bystander.recv() == ANSWER

    play(scene)


def test_while_the_state_is_rebuilt_every_message_is_put_off() -> None:
    async def scene() -> None:
        serves = service()
        serves.refusal = RECOVERING
        async with serving(serves) as server, talking(server) as client:
            await client.send(CALL)
            assert json.loads(await client.recv())["error"]["code"] == -32003

    play(scene)


def test_an_address_with_too_many_requests_is_disconnected() -> None:
    async def scene() -> int | None:
        async with serving(service(limits=Limits(address_rate=1))) as server, talking(server) as client:
            await client.send(CALL)
            assert await client.recv() == ANSWER
            await client.send(CALL)
            with pytest.raises(ConnectionClosed):
                await client.recv()
            return client.close_code

    assert play(scene) == 1008


def test_a_stopping_service_sends_a_close_frame() -> None:
    async def scene() -> int | None:
        main = Main()
        serves = service(main)
        async with serving(serves) as server, talking(server) as client:
            await client.send(follow(1))
            await main.heard.wait()
            stopping = asyncio.ensure_future(serves.stop())
            with pytest.raises(ConnectionClosed):
                await client.recv()
            await stopping
            return client.close_code

    assert play(scene) == 1001
