"""Between an API worker and the process of a plugin: answers in order, and a bound for whatever either may do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import msgspec
import pytest

from ledgerd.basics.framing.frames import framed
from ledgerd.plugins.calling import MOST_OF_ONE, PluginLink
from ledgerd.plugins.messages import (
    MOST_ANSWER,
    MOST_OPEN,
    MOST_REQUEST,
    MethodAnswer,
    MethodRequest,
    PluginDescription,
    ServedApi,
)
from ledgerd.plugins.serving import HOST, MethodServer
from ledgerd.rpc.call.errors import PlainError
from tests.rpc.loopback import play

NOTE = PluginDescription("Rates.", (), {})
ASKED = MethodRequest("of", [msgspec.Raw(b"1")], "10.0.0.1", 0)


def counted(request: bytes) -> bytes:
    """The answer of a plugin that gives back what it was asked."""
    asked = msgspec.json.decode(request, type=MethodRequest)
    return msgspec.json.encode(MethodAnswer(result=asked.params[0]))


@asynccontextmanager
async def served(answer: Callable[[bytes], bytes] = counted) -> AsyncIterator[tuple[MethodServer, int]]:
    server, ports, is_over = MethodServer(answer), asyncio.Queue[int](), asyncio.Event()

    async def say(port: int) -> None:
        ports.put_nowait(port)
        await is_over.wait()

    serving = asyncio.ensure_future(server.serve(say))
    try:
        yield server, await ports.get()
    finally:
        is_over.set()
        await serving


@asynccontextmanager
async def answering(data: bytes) -> AsyncIterator[int]:
    """A process that says the same to whoever comes."""

    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(data)
        if len(data) == 1:
            writer.close()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(say, HOST, 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def all_read(reader: asyncio.StreamReader) -> bytes:
    """What comes until the connection is ended, or reset."""
    found = b""
    with suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            found += data
    return found


async def refusal(link: PluginLink, asked: MethodRequest = ASKED) -> str:
    with pytest.raises(PlainError) as refused:
        await link.ask(asked)
    return refused.value.message


def link_to(port: int, token: str = "") -> PluginLink:
    return PluginLink(ServedApi("rates", NOTE, port, token))


def asked_by(share: str, number: int = 0) -> MethodRequest:
    return MethodRequest("of", [msgspec.Raw(str(number).encode())], share, 0)


def test_answers_belong_to_their_requests_however_many_are_on_their_way() -> None:
    async def scene() -> None:
        async with served() as (server, port):
            link = link_to(port, server.token)
            asked = [asked_by(str(number // MOST_OF_ONE), number) for number in range(MOST_OPEN)]
            answers = await asyncio.gather(*map(link.ask, asked))
            assert [bytes(each.result) for each in answers] == [str(number).encode() for number in range(MOST_OPEN)]
            link.close()

    play(scene)


def test_a_client_and_all_clients_have_so_many_requests_at_a_time() -> None:
    async def scene() -> None:
        async with served() as (server, port):
            link = link_to(port, server.token)
            asked = [asyncio.ensure_future(link.ask(asked_by("one"))) for _ in range(MOST_OF_ONE)]
            await asyncio.sleep(0)
            assert "too much to do" in await refusal(link, asked_by("one"))
            others = range(MOST_OPEN - MOST_OF_ONE)
            asked += [asyncio.ensure_future(link.ask(asked_by(str(each)))) for each in others]
            await asyncio.sleep(0)
            assert "too much to do" in await refusal(link, asked_by("another"))
            await asyncio.gather(*asked)
            assert (await link.ask(asked_by("another"))).code is None
            link.close()

    play(scene)


def test_who_does_not_know_the_token_gets_no_answer() -> None:
    async def scene() -> None:
        async with served() as (server, port):
            assert "is not there now" in await refusal(link_to(port, "guessed"))
            reader, writer = await asyncio.open_connection(HOST, port)
            writer.write(framed(server.token.encode()) + (MOST_REQUEST + 1).to_bytes(4, "big"))
            assert await all_read(reader) == b""
            writer.close()

    play(scene)


def test_a_worker_that_asks_too_much_at_a_time_is_cut() -> None:
    async def scene() -> None:
        async with served() as (server, port):
            reader, writer = await asyncio.open_connection(HOST, port)
            request = framed(msgspec.json.encode(ASKED))
            writer.write(framed(server.token.encode()) + request * (MOST_OPEN + 1))
            assert len(await all_read(reader)) < MOST_OPEN * len(request)
            writer.close()

    play(scene)


@pytest.mark.parametrize(
    "said",
    [
        (MOST_ANSWER + 1).to_bytes(4, "big"),
        framed(b"{]"),
        framed(b'{"code": "no number"}'),
        framed(b'{"message": "\xff"}'),
        b"\0",
    ],
)
def test_a_process_that_answers_nonsense_costs_the_client_its_answer(said: bytes) -> None:
    async def scene() -> None:
        async with answering(said) as port:
            link = link_to(port)
            assert "is not there now" in await refusal(link)
            link.close()

    play(scene)


def test_too_large_a_request_is_not_sent() -> None:
    async def scene() -> None:
        asked = MethodRequest("of", [msgspec.Raw(b'"' + b"x" * MOST_REQUEST + b'"')], "", 0)
        assert f"at most {MOST_REQUEST} bytes" in await refusal(link_to(1), asked)
        assert "is not there now" in await refusal(link_to(1))

    play(scene)
