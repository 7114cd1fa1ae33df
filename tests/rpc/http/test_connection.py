"""JSON-RPC over HTTP: recorded answers, keep-alive, limits, and misbehaving clients (spec 05, section 2.2)."""

from __future__ import annotations

import asyncio
import gc
import json
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.rpc.call.envelope import RECOVERING
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.http.connection import HttpConnection, Speech
from ledgerd.rpc.http.reader import PARSED_BYTES
from ledgerd.rpc.http.service import ALWAYS_HELD, Service
from ledgerd.rpc.shares.loop_turns import LoopTurns
from tests.rpc.call.test_envelope import DIFFERENCES
from tests.rpc.loopback import connection_of, http_request, play, serving, until
from tests.rpc.recorded_requests import ENVELOPES, Exchange, comparable, recorded_exchanges
from tests.rpc.sample_api import Main, calls, request, service
from tests.rpc.ticking import TICKS, ticking

CALL = json.dumps(request("get_hardfork_version")).encode()
ANSWER = b'{"jsonrpc":"2.0","result":"3.2.0","id":1}'
LONG_POLL = json.dumps(request("follow", "blocks", api="network_broadcast_api")).encode()

# Answers say what they are, who made them, and that there is no body; a HEAD has none (docs/api.md).
NEW_HEADERS = {"Content-Type", "Server", "Connection"}


def refused(status: int) -> bytes:
    return b"HTTP/1.1 %d \r\nConnection: close\r\nContent-Length: 0\r\nServer: ledgerd\r\n\r\n" % status


def stand_still(serves: Service, seconds: float) -> None:
    """Let the watch come by twice, so many seconds apart."""
    serves.check_connections(1000.0)
    serves.check_connections(1000.0 + seconds)


def recorded_http() -> list[Exchange]:
    return [recorded_exchanges()[number] for number in (0, 2, 3, *(each for each in ENVELOPES if each > 71))]


@pytest.mark.parametrize("exchange", recorded_http(), ids=lambda each: str(each.number))
def test_every_recorded_request_gets_its_status_headers_and_body(exchange: Exchange) -> None:
    async def scene() -> tuple[str, dict[str, str], bytes]:
        async with serving(service()) as server:
            client = await server.connect()
            headers = "".join(f"{name}: {value}\r\n" for name, value in exchange.headers.items())
            await client.say(
                http_request(exchange.body.encode(), method=exchange.method, path=exchange.path, headers=headers)
            )
            status, answered = await client.head()
            body = (
                b"" if exchange.method == "HEAD" else await client.reader.readexactly(int(answered["Content-Length"]))
            )
            return status, answered, body

    status, headers, body = play(scene)

    assert status == exchange.status
    recorded = dict(line.split(": ", 1) for line in exchange.answer_headers)
    assert list(headers) == sorted(headers)
    assert set(headers) - NEW_HEADERS - {"Content-Length"} == set(recorded) - {"Server", "Content-Length"}
    assert all(headers[name] == recorded[name] for name in recorded if name.startswith("Access-Control"))
    if exchange.method in {"HEAD", "OPTIONS"}:
        assert body == b""
    elif status.endswith("200 OK"):
        assert headers["Content-Type"] == "application/json"
        assert comparable(body) == DIFFERENCES.get(exchange.number, comparable(exchange.answer))
    else:
        assert body == exchange.answer.encode()


def test_a_connection_stays_and_answers_request_after_request() -> None:
    async def scene() -> None:
        async with serving(service()) as server:
            client = await server.connect()
            for identity in (1, 2, 3, 100, "a"):
                body = json.dumps(request("get_hardfork_version", identity=identity)).encode()
                assert json.loads(await client.ask(body))["id"] == identity
            for wrong in (b"{", b"[]", b"1"):
                assert b'"error"' in await client.ask(wrong)
            assert await client.ask(CALL) == ANSWER

    play(scene)


def test_the_error_of_one_request_is_not_the_answer_to_another() -> None:
    async def scene() -> list[bytes]:
        async with serving(service()) as server:
            client = await server.connect()
            return [await client.ask(CALL.replace(b'"2.0"', version)) for version in (b'"1.0"', b'"2.0"', b'"1.0"')]

    first, second, third = play(scene)
    assert (second, first) == (ANSWER, third)
    assert b"-32600" in first


def test_requests_sent_ahead_are_answered_in_their_order() -> None:
    async def scene() -> None:
        main = Main()
        async with serving(service(main)) as server:
            client = await server.connect()
            late = json.dumps(request("broadcast", "a", api="network_broadcast_api", identity=0)).encode()
            calls = [json.dumps(request("echo", each, identity=each)).encode() for each in range(1, 200)]
            main.may_answer.clear()
            await client.say(b"".join(map(http_request, (late, *calls))))
            main.may_answer.set()
            answers = [json.loads((await client.answer())[2])["id"] for _ in range(200)]
            assert answers == list(range(200))

    play(scene)


def test_a_chunked_body_is_read() -> None:
    async def scene() -> bytes:
        async with serving(service()) as server:
            client = await server.connect()
            await client.say(b"POST / HTTP/1.1\r\nHost: node\r\nTransfer-Encoding: chunked\r\n\r\n")
            for start in range(0, len(CALL), 7):
                piece = CALL[start : start + 7]
                await client.say(b"%x\r\n%b\r\n" % (len(piece), piece))
            await client.say(b"0\r\n\r\n")
            return (await client.answer())[2]

    assert play(scene) == ANSWER


@pytest.mark.parametrize(
    ("head", "header"),
    [("POST / HTTP/1.1\r\nConnection: close", "close"), ("POST / HTTP/1.0", "close")],
)
def test_a_client_that_asks_for_close_is_disconnected_after_its_answer(head: str, header: str) -> None:
    async def scene() -> None:
        async with serving(service()) as server:
            client = await server.connect()
            await client.say(f"{head}\r\nHost: node\r\nContent-Length: {len(CALL)}\r\n\r\n".encode() + CALL)
            _, headers, body = await client.answer()
            assert (headers["Connection"], body) == (header, ANSWER)
            assert await client.rest() == b""

    play(scene)


def test_a_path_may_have_something_to_show() -> None:
    async def scene() -> None:
        async with serving(service()) as server:
            client = await server.connect()
            assert await client.ask(b"", method="GET", path="/health?x=1") == b'{"ok":true}'
            assert await client.ask(b"", method="GET", path="/nothing") == b"empty request body"
            assert await client.ask(CALL, method="GET", path="/health") == ANSWER
            await client.say(http_request(b"", method="HEAD", path="/health"))
            assert (await client.head())[1]["Content-Length"] == "11"

    play(scene)


def test_a_long_poll_gets_one_event_and_the_connection_stays() -> None:
    async def scene() -> None:
        main = Main()
        async with serving(service(main)) as server:
            client = await server.connect()
            await client.say(http_request(LONG_POLL))
            await main.heard.wait()
            main.publish(b"block")
            assert (await client.answer())[2] == b'{"jsonrpc":"2.0","result":"block","id":1}'
            assert main.listeners == []
            assert await client.ask(CALL) == ANSWER

    play(scene)


def test_a_client_that_has_left_is_not_kept_for_long() -> None:
    async def scene() -> None:
        main = Main()
        serves = service(main)
        async with serving(serves) as server:
            client = await server.connect()
            await client.say(http_request(LONG_POLL))
            await main.heard.wait()
            connection = await connection_of(serves)
            steps = connection.progress()
            client.writer.transport.abort()
            await until(lambda: connection.progress() > steps)
            stand_still(serves, 75.0)
            await until(lambda: not (main.listeners or serves.connections))

    play(scene)


def test_a_client_that_has_half_closed_still_gets_its_answer() -> None:
    async def scene() -> None:
        main = Main()
        async with serving(service(main)) as server:
            client = await server.connect()
            await client.say(http_request(LONG_POLL))
            await main.heard.wait()
            client.writer.write_eof()
            await asyncio.sleep(0)
            main.publish(b"block")
            assert (await client.answer())[2] == b'{"jsonrpc":"2.0","result":"block","id":1}'
            assert await client.rest() == b""

    play(scene)


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 1000, 431),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 1000 + b"\r\n\r\n", 431),
    ],
)
def test_what_is_no_request_or_too_large_is_refused_and_the_connection_ends(said: bytes, status: int) -> None:
    async def scene() -> bytes:
        async with serving(service(limits=Limits(header_bytes=500, body_bytes=1000))) as server:
            client = await server.connect()
            await client.say(said[:100])
            await client.say(said[100:600])
            await asyncio.sleep(0)
            await client.say(said[600:])
            return await client.rest()

    assert play(scene) == refused(status)


def test_an_oversized_body_is_refused_while_it_is_still_being_sent() -> None:
    async def scene() -> bytes:
        async with serving(service(limits=Limits(body_bytes=1000))) as server:
            client = await server.connect()
            await client.say(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
            for _ in range(10):
                await client.say(b"x" * 10000)
            return await client.rest()

    assert play(scene) == refused(413)


def test_all_clients_together_have_so_many_bytes_held_and_who_has_most_is_refused() -> None:
    async def scene() -> tuple[bytes, bytes, bytes, int]:
        serves = service(limits=Limits(held_bytes=35_000))
        async with serving(serves) as server:
            opening = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"
            most, less = await server.connect(), await server.connect()
            await most.say(opening + b" " * 90_000)
            await until(lambda: serves.buffered_requests.total == 90_000 - ALWAYS_HELD)
            await less.say(opening + b" " * 80_000)
            refusal = await most.rest()
            modest = await (await server.connect()).ask(CALL)
            await less.say(b" " * (20_000 - len(CALL)) + CALL)
            _, _, answer = await less.answer()
            return refusal, modest, answer, serves.buffered_requests.total

    refusal, modest, answer, held = play(scene)
    assert refusal == refused(503)
    assert modest == answer
    assert held == 0


@settings(max_examples=25)
@given(
    st.lists(st.binary(max_size=200) | st.sampled_from([http_request(CALL), http_request(b""), b"\r\n"]), max_size=5)
)
def test_no_bytes_on_one_connection_harm_another(said: list[bytes]) -> None:
    async def scene() -> None:
        async with serving(service()) as server:
            bystander, client = await server.connect(), await server.connect()
            for piece in said:
                await client.say(piece)
            client.writer.write_eof()
            assert await bystander.ask(CALL) == ANSWER
            await client.rest()

    play(scene)


# -- numbers


def test_an_address_that_asks_too_often_is_told_so_and_may_ask_again() -> None:
    async def scene() -> list[str]:
        async with serving(service(limits=Limits(address_rate=3))) as server:
            client = await server.connect()
            seen = []
            for _ in range(5):
                await client.say(http_request(CALL))
                seen.append((await client.answer())[0])
            return seen

    assert play(scene) == ["HTTP/1.1 200 OK"] * 3 + ["HTTP/1.1 429 Too Many Requests"] * 2


# -- the node


def test_while_the_state_is_rebuilt_every_request_is_put_off() -> None:
    async def scene() -> None:
        serves = service()
        async with serving(serves) as server:
            client = await server.connect()
            assert await client.ask(CALL) == ANSWER
            serves.refusal = RECOVERING
            await client.say(http_request(CALL))
            status, _, body = await client.answer()
            assert status == "HTTP/1.1 503 Service Unavailable"
            assert (len(body), json.loads(body)["error"]["code"]) == (132, -32003)
            assert await client.ask(b"", method="GET", path="/health") == b'{"ok":true}'

    play(scene)


def test_where_only_websocket_is_spoken_http_is_told_so() -> None:
    async def scene() -> bytes:
        async with serving(service(), Speech.WEBSOCKET) as server:
            client = await server.connect()
            await client.say(http_request(CALL))
            return await client.rest()

    assert play(scene).startswith(b"HTTP/1.1 426 Upgrade Required\r\n")


BROADCAST = json.dumps(request("broadcast", "a", api="network_broadcast_api")).encode()


def test_a_stopping_service_answers_what_is_in_flight_and_ends_every_connection() -> None:
    async def scene() -> None:
        main = Main()
        main.may_answer.clear()
        serves = service(main)
        async with serving(serves) as server:
            idle, waiting, polling = [await server.connect() for _ in range(3)]
            await idle.ask(CALL)
            await polling.say(http_request(LONG_POLL))
            await main.heard.wait()
            await waiting.say(http_request(BROADCAST))
            await until(lambda: all(each.progress() >= 3 for each in serves.connections))
            stopping = asyncio.ensure_future(serves.stop())
            assert await idle.rest() == await polling.rest() == b""
            main.may_answer.set()
            _, headers, body = await waiting.answer()
            assert (headers["Connection"], body) == ("close", b'{"jsonrpc":"2.0","result":{},"id":1}')
            await stopping

    play(scene)


def test_a_stopping_service_does_not_wait_for_ever() -> None:
    async def scene() -> None:
        main = Main()
        main.may_answer.clear()
        serves = service(main, Limits(stop_seconds=0.05))
        async with serving(serves) as server:
            waiting = await server.connect()
            await waiting.say(http_request(BROADCAST))
            connection = await connection_of(serves)
            await until(lambda: connection.progress() >= 3)
            await serves.stop()
            assert await waiting.rest() == b""

    play(scene)


def test_of_requests_sent_ahead_few_are_parsed_before_their_turn() -> None:
    async def scene() -> tuple[int, int]:
        serves = service()
        async with serving(serves) as server:
            await server.connect()
            connection = await connection_of(serves)
            assert isinstance(connection, HttpConnection)
            said = b"GET / HTTP/1.0\r\n\r\n" * 10_000
            connection.pause_writing()  # as if no answer was read
            gc.collect()
            tracemalloc.start()
            try:
                connection.data_received(said)
                return tracemalloc.get_traced_memory()[0], connection.buffered_bytes
            finally:
                tracemalloc.stop()

    parsed, held = play(scene)
    assert parsed < 50 * PARSED_BYTES
    assert held == 180_000 - ALWAYS_HELD


def test_requests_sent_ahead_leave_others_their_turn() -> None:
    async def scene() -> list[int]:
        serves = service()
        serves.turns = serves.dispatcher.turns = LoopTurns(ticking())
        async with serving(serves) as server:
            client = await server.connect()
            connection = await connection_of(serves)
            assert isinstance(connection, HttpConnection)
            calls.clear()
            connection.data_received(http_request(json.dumps(request("count")).encode()) * 200)
            seen = [len(calls)]
            while len(calls) < 200:
                await asyncio.sleep(0)
                seen.append(len(calls))
            for _ in range(200):
                await client.answer()
            return seen

    seen = play(scene)
    assert seen[0] <= 2 * TICKS
    assert all(after - before <= 2 * TICKS for before, after in pairwise(seen))
