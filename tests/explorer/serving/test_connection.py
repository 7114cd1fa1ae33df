"""Browsers and whoever else connects: HTTP as it should be, and bounds for each address."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest

from ledgerd.explorer.node.watch import BlockFacts
from ledgerd.explorer.pages.answering import PageReply, PageRequest
from ledgerd.explorer.serving import bounds
from ledgerd.explorer.serving.connection import POLICY, head_of
from ledgerd.rpc.http.reader import PARSED_BYTES, Arrival, RequestReader
from tests.explorer.browsers import Site, site_of
from tests.explorer.recorded_node import RecordedExplorer, names_of, recorded_explorer
from tests.rpc.loopback import play, until

STRANGER = "X-Forwarded-For: 203.0.113.7\r\n"
"""What a proxy on this machine says of its visitor."""


@pytest.fixture(scope="module")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedExplorer]:
    with recorded_explorer("open-pm2", tmp_path_factory.mktemp("open-pm2")) as explorer:
        yield explorer


def on_site(explorer: RecordedExplorer, scene: Callable[[Site], Awaitable[None]]) -> None:
    """Play a scene with the site of an explorer."""

    async def whole() -> None:
        async with site_of(explorer.answering, explorer.watch) as site:
            await scene(site)

    play(whole)


def test_a_page_comes_with_a_policy_that_lets_nothing_else_in(explorer: RecordedExplorer) -> None:
    async def scene(site: Site) -> None:
        status, headers, body = await site.get("/", "Accept-Language: ru\r\n")
        assert (status, headers["Content-Security-Policy"]) == ("200", POLICY)
        assert "unsafe" not in POLICY
        assert "http" not in POLICY
        assert (headers["X-Content-Type-Options"], headers["Referrer-Policy"]) == ("nosniff", "same-origin")
        assert b'<html lang="ru"' in body
        assert b'data-theme="dark"' in (await site.get("/", "Cookie: theme=dark; lang=en\r\n"))[2]
        assert (await site.get("/", "Cookie: ;;=;[]\r\n"))[0] == "200"

    on_site(explorer, scene)


def test_several_requests_on_one_connection_are_answered_in_order(explorer: RecordedExplorer) -> None:
    async def scene(site: Site) -> None:
        client = await site.connect()
        paths = ["/health", "/blocks", "/robots.txt", "/nothing", "/validators"]
        await client.say("".join(f"GET {each} HTTP/1.1\r\nHost: a\r\n\r\n" for each in paths).encode())
        found = [(await client.answer())[0].split()[1] for _ in paths]
        assert found == ["200", "200", "200", "404", "200"]
        client.writer.close()

    on_site(explorer, scene)


def test_head_has_the_length_and_no_body_and_nothing_else_is_done_than_reading(explorer: RecordedExplorer) -> None:
    async def scene(site: Site) -> None:
        status, headers, body = await site.get("/blocks", method="HEAD")
        assert (status, int(headers["Content-Length"]) > 1_000, body) == ("200", True, b"")
        status, headers, _ = await site.get("/blocks", method="DELETE")
        assert (status, headers["Allow"]) == ("405", "GET, HEAD")

    on_site(explorer, scene)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", b"431"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"b" * 20_000, b"431"),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", b"413"),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", b"413"),
    ],
)
def test_what_is_no_request_for_a_page_is_refused_and_the_connection_ends(
    explorer: RecordedExplorer, sent: bytes, status: bytes
) -> None:
    async def scene(site: Site) -> None:
        client = await site.connect()
        await client.say(sent)
        assert (await client.reader.read()).startswith(b"HTTP/1.1 " + status)
        client.writer.close()

    on_site(explorer, scene)


def test_an_address_has_so_many_requests_a_second_and_others_have_theirs(explorer: RecordedExplorer) -> None:
    async def scene(site: Site) -> None:
        client = await site.connect()
        count = 2 * int(bounds.REQUESTS_A_SECOND)
        found = []
        for _ in range(count):  # on one connection, so that the bound of connections is not the one that holds
            await client.say(f"GET /health HTTP/1.1\r\nHost: a\r\n{STRANGER}\r\n".encode())
            found.append((await client.answer())[0].split()[1])
        assert found[0] == "200"
        assert "429" in found
        assert (await site.get("/health", "X-Forwarded-For: 203.0.113.8\r\n"))[0] == "200"
        assert (await site.get("/health"))[0] == "200"
        client.writer.close()

    on_site(explorer, scene)


def test_requests_sent_ahead_leave_others_their_turn(explorer: RecordedExplorer) -> None:
    """One answer, then others: of ten thousand requests in one read no more than a few are read before."""

    async def scene(site: Site) -> None:
        flooding, honest = await site.connect(), await site.connect()
        flooding.writer.write(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n" * 10_000)
        await until(lambda: site.visitors.answered)
        await honest.say(b"GET /blocks HTTP/1.1\r\nHost: a\r\n\r\n")
        assert (await honest.answer())[0].split()[1] == "200"
        assert site.visitors.answered < 100
        flooding.writer.transport.abort()
        honest.writer.close()

    on_site(explorer, scene)


def test_of_requests_sent_ahead_few_are_parsed_before_their_turn(
    explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[int] = []
    feed = RequestReader.feed

    def noted(reader: RequestReader, data: bytes) -> list[Arrival]:
        parsed.append(len(data))
        return feed(reader, data)

    monkeypatch.setattr(RequestReader, "feed", noted)

    async def scene(site: Site) -> None:
        client = await site.connect()
        lines = b"host:\r\n" * 40_000
        client.writer.write(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n" * 3 + b"GET / HTTP/1.1\r\n" + lines)
        for _ in range(3):
            assert (await client.answer())[2] == b"ok\n"
        assert (await client.head())[0].split()[1] == "431"
        client.writer.transport.abort()

    on_site(explorer, scene)
    assert max(parsed) <= PARSED_BYTES
    assert sum(parsed) < bounds.HEADER_BYTES + 3 * PARSED_BYTES


def test_an_address_has_so_many_bytes_a_second(explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(site: Site) -> None:
        site.visitors.charge_bytes("203.0.113.7", 3 * int(bounds.BYTES_A_SECOND))
        status, headers, _ = await site.get("/", STRANGER)
        assert (status, headers["Retry-After"]) == ("429", "1")
        assert (await site.get("/"))[0] == "200"

    del monkeypatch
    on_site(explorer, scene)


def test_of_an_address_so_many_connections_are_kept_and_an_idle_one_goes_first(
    explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.explorer.serving.visitors.OWN_MACHINE", ("192.0.2.1",))

    async def scene(site: Site) -> None:
        clients = [await site.connect() for _ in range(bounds.CONNECTIONS_OF_ADDRESS + 3)]
        await clients[-1].say(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        await clients[-1].answer()
        assert len(site.visitors.connections) == bounds.CONNECTIONS_OF_ADDRESS
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await clients[0].reader.readexactly(1)
        for each in clients:
            each.writer.close()

    on_site(explorer, scene)


def test_open_pages_of_an_address_are_bounded(explorer: RecordedExplorer) -> None:
    async def scene(site: Site) -> None:
        clients = []
        for number in range(bounds.STREAMS_OF_ADDRESS + 1):
            client = await site.connect()
            await client.say(f"GET /live HTTP/1.1\r\nHost: a\r\n{STRANGER}\r\n".encode())
            status, _ = await client.head()
            assert status.split()[1] == ("200" if number < bounds.STREAMS_OF_ADDRESS else "429")
            clients.append(client)
        for each in clients:
            each.writer.close()

    on_site(explorer, scene)


async def event_of(reader: asyncio.StreamReader) -> tuple[str, dict[str, object]]:
    """The next event of an open page."""
    while True:
        lines = (await reader.readuntil(b"\n\n")).decode().strip().split("\n")
        if lines[0].startswith("event: "):
            return lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: "))


def test_an_open_page_is_told_of_each_block_and_of_a_node_that_goes_away(explorer: RecordedExplorer) -> None:
    async def scene(site: Site) -> None:
        client = await site.connect()
        await client.say(b"GET /live?lang=ru&front=1 HTTP/1.1\r\nHost: a\r\n\r\n")
        status, headers = await client.head()
        assert (status.split()[1], headers["Content-Type"]) == ("200", "text/event-stream")
        kind, told = await event_of(client.reader)
        assert (kind, "live-blocks" in dict(told["parts"])) == ("block", True)  # type: ignore[call-overload]
        watch = explorer.watch
        block = BlockFacts(77_777, "ab" * 20, "2027-01-01T00:00:00", "viz", 3, 4)
        watch.move_to(watch.properties, watch.schedule, [block])
        kind, told = await event_of(client.reader)
        assert "/block/77777" in str(told)
        watch.blocks.popleft()
        watch.lose("gone")
        assert (await event_of(client.reader))[0] == "away"
        watch.away = ""
        watch.notify()
        assert (await event_of(client.reader))[0] == "block"
        client.writer.close()

    on_site(explorer, scene)


def test_an_open_page_that_takes_nothing_is_ended(explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.explorer.serving.connection.SLOW_STREAM", 10_000)

    async def scene(site: Site) -> None:
        client = await site.connect()
        await client.say(b"GET /live?front=1 HTTP/1.1\r\nHost: a\r\n\r\n")
        await client.head()
        client.writer.transport.pause_reading()  # type: ignore[attr-defined]  # of a socket it can
        (stream,) = site.visitors.streams
        for _ in range(10_000):
            stream.push(b": much\n" * 10_000 + b"\n")
            if stream not in site.visitors.streams:
                break
        assert site.visitors.streams == {}
        client.writer.transport.abort()

    on_site(explorer, scene)


def test_a_statement_is_sent_in_chunks_as_it_is_made(explorer: RecordedExplorer) -> None:
    name = names_of(explorer)[4]

    async def scene(site: Site) -> None:
        client = await site.connect()
        await client.say(f"GET /account/{name}/statement.csv HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        _, headers = await client.head()
        assert headers["Transfer-Encoding"] == "chunked"
        assert headers["Content-Disposition"] == f'attachment; filename="{name}.csv"'
        whole = b""
        while size := int((await client.reader.readline()).strip(), 16):
            whole += await client.reader.readexactly(size)
            await client.reader.readline()
        assert whole.startswith(b"time_utc,block,")
        await client.reader.readline()
        await client.say(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        assert (await client.answer())[2] == b"ok\n"
        client.writer.close()

    on_site(explorer, scene)


def test_downloads_of_an_address_are_bounded_and_a_cut_one_does_not_look_whole(
    explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()

    async def lines() -> AsyncIterator[bytes]:
        yield b"first\n"
        await gate.wait()
        raise ConnectionError("the node is gone")

    async def answer(_: PageRequest) -> PageReply:
        return PageReply(200, b"", "text/csv", None, lines())

    monkeypatch.setattr(explorer.answering, "answer", answer)

    async def scene(site: Site) -> None:
        clients = [await site.connect() for _ in range(bounds.DOWNLOADS_OF_ADDRESS + 1)]
        for place, client in enumerate(clients):
            await client.say(f"GET /a.csv HTTP/1.1\r\nHost: a\r\n{STRANGER}\r\n".encode())
            status, _ = await client.head()
            assert status.split()[1] == ("200" if place < bounds.DOWNLOADS_OF_ADDRESS else "429")
        gate.set()
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await clients[0].reader.readuntil(b"0\r\n\r\n")
        for each in clients:
            each.writer.close()

    on_site(explorer, scene)


def test_who_half_closes_its_connection_gets_its_answers(explorer: RecordedExplorer) -> None:
    async def scene(site: Site) -> None:
        client = await site.connect()
        await client.say(b"GET /blocks HTTP/1.1\r\nHost: a\r\n\r\n" + b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        client.writer.write_eof()
        assert (await client.answer())[0].split()[1] == "200"
        assert (await client.answer())[2] == b"ok\n"
        assert await client.reader.read() == b""
        client.writer.close()

    on_site(explorer, scene)


def test_an_answer_that_fails_ends_its_connection_alone(
    explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_: PageRequest) -> PageReply:
        raise LookupError("a mistake of ours")

    async def scene(site: Site) -> None:
        client, other = await site.connect(), await site.connect()
        with monkeypatch.context() as patch:
            patch.setattr(explorer.answering, "answer", fail)
            await client.say(b"GET /blocks HTTP/1.1\r\nHost: a\r\n\r\n")
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await client.reader.readexactly(1)
        client.writer.close()
        await other.say(b"GET /blocks HTTP/1.1\r\nHost: a\r\n\r\n")
        assert (await other.answer())[0].split()[1] == "200"
        other.writer.close()

    on_site(explorer, scene)
    assert "a mistake of ours" in caplog.text


def test_connections_without_progress_are_ended(explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "REQUEST_SECONDS", 0.04)

    async def scene(site: Site) -> None:
        client = await site.connect()
        await client.say(b"GET / HTTP/1.1\r\nHos")
        assert await client.reader.read() == b""
        client.writer.close()

    on_site(explorer, scene)


def test_answers_that_nobody_takes_are_bounded(explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "UNREAD_BYTES", 100_000)

    async def scene(site: Site) -> None:
        client, other = await site.connect(), await site.connect()
        await other.say(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await other.answer()
        client.writer.transport.pause_reading()  # type: ignore[attr-defined]  # of a socket it can
        await client.say(b"GET /validators HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await until(lambda: site.visitors.answered > 1)
        (connection, left) = site.visitors.connections
        connection.transport.write(b"x" * 30_000_000)
        site.visitors.check_connections(site.visitors.loop.time())
        assert [*site.visitors.connections] == [left]
        client.writer.transport.abort()
        other.writer.close()

    on_site(explorer, scene)


def test_programs_are_told_how_it_is_and_figures_only_on_this_machine(explorer: RecordedExplorer) -> None:
    async def scene(site: Site) -> None:
        assert (await site.get("/health"))[2] == b"ok\n"
        assert (await site.get("/ready"))[0] == "200"
        figures = (await site.get("/metrics"))[2].decode()
        assert f"ledgerd_explorer_head_block_number {explorer.watch.head}\n" in figures
        assert (await site.get("/metrics", STRANGER))[0] == "404"
        assert b"Disallow: /search" in (await site.get("/robots.txt"))[2]
        explorer.watch.lose("gone")
        assert (await site.get("/ready"))[0] == "503"
        explorer.watch.away = ""

    on_site(explorer, scene)


@pytest.mark.parametrize(
    ("host", "headers"),
    [
        ("explorer.example", ""),
        ("127.0.0.1:8092", "Connection: close\r\n"),
        ("127.0.0.1:8092", "X-Real-IP: 203.0.113.7\r\n"),
        ("127.0.0.1:8092", "Forwarded: for=203.0.113.7\r\n"),
        ("127.0.0.1:8092", "Via: 1.1 proxy\r\n"),
        ("127.0.0.1:8092", "X-Forwarded-Proto: https\r\n"),
        ("127.0.0.1.example", ""),
    ],
)
def test_visitors_of_a_proxy_that_names_none_are_not_the_operator(
    explorer: RecordedExplorer, host: str, headers: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene(site: Site) -> None:
        assert (await site.get("/metrics", headers, host=host))[0] == "404"
        site.visitors.charge_bytes("127.0.0.1", 3 * int(bounds.BYTES_A_SECOND))
        assert (await site.get("/", headers, host=host))[0] == "429", "all of them count as one address"
        assert (await site.get("/", headers, host=host))[0] == "429"
        for own in ("127.0.0.1:8092", "localhost", "[::1]:8092"):
            assert (await site.get("/metrics", host=own))[0] == "200"

    on_site(explorer, scene)
    assert len([each for each in caplog.records if "no X-Forwarded-For in requests" in each.getMessage()]) == 1


def test_no_value_of_a_header_can_begin_another() -> None:
    head = head_of(303, "text/html", 0, {"Location": "/a\r\nSet-Cookie: b=c"}, closes=True)
    assert b"\r\nSet-Cookie" not in head
    assert head.endswith(b"Connection: close\r\n\r\n")
