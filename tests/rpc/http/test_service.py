"""Who is served when there are too many, and which pages of the web are not (spec 05, section 2.2)."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from functools import partial

import pytest
from websockets.asyncio.client import connect

from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.http.connection import HttpConnection
from ledgerd.rpc.http.gate import Gate
from ledgerd.rpc.http.service import READ_TURN_BYTES, SPARE_PLACES, SPARE_SECONDS, Connection
from tests.rpc.loopback import Client, Server, http_request, play, serving, until
from tests.rpc.sample_api import Main, request, service

CALL = json.dumps(request("get_hardfork_version")).encode()
ANSWER = b'{"jsonrpc":"2.0","result":"3.2.0","id":1}'
LONG_POLL = json.dumps(request("follow", "blocks", api="network_broadcast_api")).encode()


def held(client: Client) -> Awaitable[None]:
    """Have a worker make an answer that does not come."""
    return client.say(http_request(LONG_POLL))


async def status_of(client: Client, request: bytes) -> str:
    await client.say(request)
    return (await client.answer())[0]


def test_of_an_address_that_has_too_many_the_oldest_that_does_nothing_gives_way() -> None:
    async def scene() -> None:
        main = Main()
        async with serving(service(main, Limits(address_connections=2))) as server:
            first, second = await server.connect(), await server.connect()
            await held(first)
            await main.heard.wait()
            assert await second.ask(CALL) == ANSWER
            third = await server.connect()
            assert await third.ask(CALL) == ANSWER
            assert await second.rest() == b""

    play(scene)


@pytest.mark.parametrize("limits", [Limits(connections=2), Limits(address_connections=2)])
def test_where_nobody_gives_way_health_answers_and_requests_are_put_off(limits: Limits) -> None:
    async def scene() -> None:
        main = Main()
        serves = service(main, limits)
        async with serving(serves) as server:
            for _ in range(2):
                await held(await server.connect())
            await until(lambda: len(main.listeners) == 2)
            client = await server.connect()
            assert await status_of(client, http_request(b"", method="GET", path="/health")) == "HTTP/1.1 200 OK"
            assert await client.rest() == b""
            client = await server.connect()
            assert await status_of(client, http_request(CALL)) == "HTTP/1.1 503 Service Unavailable"
            assert serves.dispatcher.bounds.line(0).startswith("webserver-max-connections")

    play(scene)


def test_two_thousand_sockets_of_one_address_leave_room_for_another() -> None:
    async def scene() -> None:
        serves = service(limits=Limits(connections=100, address_connections=60))
        async with serving(serves) as server:
            flood = [await server.connect() for _ in range(200)]
            await until(lambda: sum(each.reader.at_eof() for each in flood) >= 140)
            assert len(serves.connections) == 60
            other = await server.connect(source="127.0.0.2")
            assert await other.ask(CALL) == ANSWER
            assert await status_of(other, http_request(b"", method="GET", path="/health")) == "HTTP/1.1 200 OK"

    play(scene)


def test_connections_without_a_place_are_bounded_and_do_not_stay() -> None:
    async def scene() -> None:
        main = Main()
        serves = service(main, Limits(connections=1))
        async with serving(serves) as server:
            await held(await server.connect())
            await main.heard.wait()
            silent = [await server.connect() for _ in range(SPARE_PLACES + 10)]
            await until(lambda: sum(each.reader.at_eof() for each in silent) == 10)
            assert len(serves.spare_connections) == SPARE_PLACES
            for now in (1000.0, 1000.0 + SPARE_SECONDS):
                serves.check_connections(now)
            await until(lambda: not serves.spare_connections)

    play(scene)


def test_an_address_that_asks_too_often_is_still_shown_health() -> None:
    async def scene() -> list[str]:
        async with serving(service(limits=Limits(address_rate=1))) as server:
            client = await server.connect()
            asked = (http_request(CALL), http_request(CALL), http_request(b"", method="GET", path="/health"))
            return [await status_of(client, each) for each in asked]

    assert play(scene) == ["HTTP/1.1 200 OK", "HTTP/1.1 429 Too Many Requests", "HTTP/1.1 200 OK"]


def test_each_request_of_a_batch_counts_for_its_address() -> None:
    async def scene() -> list[str]:
        async with serving(service(limits=Limits(address_rate=5))) as server:
            client = await server.connect()
            batch = b"[" + b",".join([CALL] * 1000) + b"]"
            asked = (http_request(CALL), http_request(batch), http_request(CALL))
            return [await status_of(client, each) for each in asked]

    assert play(scene) == ["HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "HTTP/1.1 429 Too Many Requests"]


@pytest.mark.parametrize(
    ("proxies", "statuses"), [(("127.0.0.0/8",), [200, 200, 429, 200]), ((), [200, 429, 429, 429])]
)
def test_the_clients_of_a_trusted_proxy_are_limited_each_by_itself(
    proxies: tuple[str, ...], statuses: list[int]
) -> None:
    async def scene() -> list[int]:
        limits = Limits(address_rate=1, address_connections=1, trusted_proxies=proxies)
        async with serving(service(limits=limits)) as server:
            client = await server.connect()
            named = ("192.0.2.1", "8.8.8.8, 192.0.2.2", "192.0.2.1", "2001:db8::1, 127.0.0.9")
            asked = [http_request(CALL, headers=f"X-Forwarded-For: {each}\r\n") for each in named]
            return [int((await status_of(client, each)).split()[1]) for each in asked]

    assert play(scene) == statuses


CHARGED = json.dumps(request("charged", api="network_broadcast_api")).encode()
BY_CONNECTION = "by connection"
Asking = Callable[[Server, dict[str, str]], Awaitable[tuple[int, list[bytes]]]]


BODIES = (CHARGED, b"[" + CHARGED + b"," + CHARGED + b"]")


async def over_http(server: Server, headers: dict[str, str]) -> tuple[int, list[bytes]]:
    client = await server.connect()
    said = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return client.writer.get_extra_info("sockname")[1], [await client.ask(body, headers=said) for body in BODIES]


async def over_websocket(server: Server, headers: dict[str, str]) -> tuple[int, list[bytes]]:
    answers = []
    async with connect(f"ws://127.0.0.1:{server.port}", additional_headers=headers, proxy=None) as client:
        for body in BODIES:
            await client.send(body.decode())
            answers.append(await client.recv(decode=False))
        return client.local_address[1], answers


@pytest.mark.parametrize("asking", [over_http, over_websocket])
@pytest.mark.parametrize(
    ("limits", "forwarded", "share"),
    [
        (Limits(), "8.8.8.8", BY_CONNECTION),
        (Limits(exempt=("none",)), "8.8.8.8", "127.0.0.1"),
        (Limits(exempt=("10.0.0.0/8",)), "", "127.0.0.1"),
        (Limits(exempt=("127.0.0.0/8",)), "", BY_CONNECTION),
        (Limits(trusted_proxies=("127.0.0.1",)), "8.8.8.8", "8.8.8.8"),
        (Limits(trusted_proxies=("127.0.0.1",)), "10.1.2.3", "10.1.2.3"),
        (Limits(trusted_proxies=("127.0.0.1",)), "2001:db8::1", "2001:db8::/64"),
        (Limits(trusted_proxies=("127.0.0.1",), exempt=("none",)), "", BY_CONNECTION),
    ],
)
def test_broadcasts_are_charged_to_the_address_or_where_many_share_it_to_the_connection(
    asking: Asking, limits: Limits, forwarded: str, share: str
) -> None:
    async def scene() -> tuple[int, list[bytes]]:
        async with serving(service(limits=limits)) as server:
            return await asking(server, {"X-Forwarded-For": forwarded} if forwarded else {})

    port, (alone, batch) = play(scene)
    charged = {each["result"] for each in [json.loads(alone), *json.loads(batch)]}
    assert charged == {f"127.0.0.1 port {port}" if share == BY_CONNECTION else share}


# -- answers that nobody takes


def test_answers_that_nobody_takes_are_bounded_for_all_together_and_whoever_has_most_is_closed() -> None:
    size, bound = 8_000_000, 20_000_000

    async def scene() -> bytes:
        serves = service(limits=Limits(held_answer_bytes=bound, exempt=("none",)))
        wanted = http_request(json.dumps(request("long", size)).encode())
        seen, clients = set[Connection](), list[Client]()

        def are_answered() -> bool:
            seen.update(serves.connections)
            return len(seen) == len(clients) and all(each.unsent_bytes for each in serves.connections)

        async with serving(serves) as server:
            for place in range(9):
                clients.append(client := await server.connect(f"127.0.0.{2 + (place > 0)}"))
                client.writer.transport.pause_reading()  # type: ignore[attr-defined] # a stream's transport is one
                await client.say(wanted)
                await until(are_answered)
            assert len(serves.connections) < len(clients)
            assert serves.dispatcher.unsent_answers.total <= bound
            clients[0].writer.transport.resume_reading()  # type: ignore[attr-defined] # as above
            _, _, honest = await clients[0].answer()
            await until(lambda: serves.dispatcher.unsent_answers.total <= bound)
            return honest

    assert len(play(scene)) > size


def test_an_answer_counts_until_its_last_byte_is_taken() -> None:
    size = 8_000_000

    async def scene() -> None:
        serves = service()
        async with serving(serves) as server:
            client = await server.connect()
            client.writer.transport.pause_reading()  # type: ignore[attr-defined] # a stream's transport is one
            await client.say(http_request(json.dumps(request("long", size)).encode()))
            await until(lambda: serves.dispatcher.unsent_answers.total > 0)
            [connection] = serves.connections
            counted = serves.dispatcher.unsent_answers.total
            client.writer.transport.resume_reading()  # type: ignore[attr-defined] # as above
            while connection.is_congested:
                connection.count_write_buffer()
                assert not connection.is_congested or connection.unsent_bytes >= counted
                await client.reader.read(1 << 16)
            assert connection.transport.get_write_buffer_size() == 0
            assert serves.dispatcher.unsent_answers.total == 0

    play(scene)


def test_of_a_large_body_others_are_read_between_its_parts() -> None:
    """A loop that reads all of one connection first would hold everybody else up."""
    size = 2_000_000
    parts: list[tuple[int, int]] = []
    turn = 0

    class Observed(HttpConnection):
        def data_received(self, data: bytes) -> None:
            parts.append((turn, len(data)))
            super().data_received(data)

    async def count() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    async def scene() -> bytes:
        counting = asyncio.ensure_future(count())
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * size)
        theirs.setblocking(False)
        body = json.dumps(request("echo", "x" * size)).encode()
        sent = theirs.send(http_request(body))
        _, connection = await loop.create_connection(lambda: Observed(service()), sock=ours)
        await until(lambda: sum(length for _, length in parts) == sent)
        connection.transport.abort()
        counting.cancel()
        theirs.close()
        return body[:1]

    assert play(scene)
    large = [place for place, length in parts if length >= READ_TURN_BYTES]
    assert large
    assert len(set(large)) == len(large), "one part in a turn"


# -- pages of the web


GATE = Gate(("127.0.0.1", "node.example"), ("https://wallet.example",))


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (b"Host: localhost:8090\r\n", 200),
        (b"Host: node.example\r\nOrigin: https://wallet.example\r\n", 200),
        (b"Host: localhost\r\nOrigin: https://evil.example\r\n", 403),
        (b"Host: localhost\r\nOrigin: null\r\n", 403),
        (b"Host: evil.example\r\n", 403),
        (b"Host: localhost\r\nHost: evil.example\r\n", 403),
    ],
)
@pytest.mark.parametrize("kind", ["POST", "OPTIONS", "WebSocket"])
def test_a_page_of_the_web_is_refused_where_it_has_no_business(kind: str, headers: bytes, status: int) -> None:
    heads = {
        "POST": b"POST / HTTP/1.1\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n" % len(CALL),
        "OPTIONS": b"OPTIONS / HTTP/1.1\r\nAccess-Control-Request-Method: POST\r\n",
        "WebSocket": b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n",
    }
    body = CALL if kind == "POST" else b""

    async def scene(gate: Gate | None) -> int:
        async with serving(service(), gate=gate) as server:
            client = await server.connect()
            await client.say(heads[kind] + headers + b"\r\n" + body)
            return int((await client.head())[0].split()[1])

    good = 101 if kind == "WebSocket" else 200
    assert play(partial(scene, GATE)) == (good if status == 200 else 403)
    assert play(partial(scene, None)) == good
