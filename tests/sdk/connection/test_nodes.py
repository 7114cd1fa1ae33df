"""Several nodes as one: whichever is well answers, and each way of failing has its own clear error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ledgerd.sdk.calling import TypedCall
from ledgerd.sdk.connection.limits import ClientLimits
from ledgerd.sdk.connection.nodes import Nodes
from ledgerd.sdk.errors import (
    ClientError,
    NodeError,
    NodeUnavailable,
    TimedOut,
    UnknownMethod,
    WrongAnswer,
    WrongChain,
)
from tests.rpc.loopback import play, until
from tests.sdk.scripted_node import (
    BROKEN,
    BUSY,
    HALF,
    NEITHER,
    OTHER,
    PAGE,
    START_TEXT,
    STATELESS,
    PlainClock,
    ScriptedNode,
    http,
    refusing,
    scripted,
)

LATE_TEXT = "2027-01-15T07:58:00"
"""Two minutes before what the other nodes say."""


@asynccontextmanager
async def over(
    nodes: list[ScriptedNode], chain: str | None = None, limits: ClientLimits | None = None
) -> AsyncIterator[tuple[Nodes, PlainClock]]:
    clock = PlainClock()
    found = Nodes(*(each.url for each in nodes), chain=chain, limits=limits, clock=clock)
    try:
        yield found, clock
    finally:
        found.close()


async def echo(nodes: Nodes, value: object = 1) -> object:
    return await nodes.call("some_api", "echo", [value], list)


def test_the_first_node_answers_as_long_as_it_is_well_and_one_connection_is_enough() -> None:
    async def scene() -> None:
        async with scripted(2) as servers, over(servers) as (nodes, _):
            assert [await echo(nodes, each) for each in range(5)] == [[each] for each in range(5)]
            assert [each.connections for each in servers] == [1, 0]

    play(scene)


@pytest.mark.parametrize("answer", [None, HALF, PAGE, BUSY, BROKEN, OTHER, NEITHER, STATELESS, b"nonsense\r\n\r\n"])
def test_what_is_no_answer_of_a_node_is_asked_of_the_next_which_stays_the_first(answer: bytes | None) -> None:
    async def scene() -> None:
        async with scripted(2) as servers, over(servers) as (nodes, clock):
            await echo(nodes)
            servers[0].raw.extend([answer] * (2 if answer is None else 1))
            assert await echo(nodes, 2) == [2]
            assert await echo(nodes, 3) == [3]
            assert (servers[1].calls, clock.pauses) == (["echo", "echo"], [])

    play(scene)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (None, NodeUnavailable),
        (HALF, WrongAnswer),
        (PAGE, WrongAnswer),
        (BUSY, NodeUnavailable),
        (BROKEN, NodeUnavailable),
        (OTHER, WrongAnswer),
        (NEITHER, WrongAnswer),
        (STATELESS, NodeUnavailable),
        (http(b"[" * 100_000), WrongAnswer),
    ],
)
def test_where_no_node_answers_the_error_says_why_and_pauses_have_grown(
    answer: bytes | None, kind: type[ClientError]
) -> None:
    async def scene() -> None:
        async with scripted(1) as servers, over(servers) as (nodes, clock):
            await echo(nodes)
            if answer is None:
                servers[0].raw.extend([None] * 10)
            servers[0].always = answer
            with pytest.raises(ClientError, match=r"^http://127.0.0.1:\d+") as caught:
                await echo(nodes)
            assert type(caught.value) is kind
            assert clock.pauses == [0.5, 1.0]

    play(scene)


def test_nobody_at_the_address_is_a_node_that_is_not_available() -> None:
    async def scene() -> None:
        async with scripted(1) as servers:
            pass
        async with over(servers) as (nodes, _):
            with pytest.raises(NodeUnavailable):
                await echo(nodes)

    play(scene)


def test_a_node_that_failed_rests_longer_each_time_and_is_asked_again_then() -> None:
    async def scene() -> None:
        async with scripted(2) as servers, over(servers) as (nodes, clock):
            first, second = servers
            first.always = PAGE
            await echo(nodes)
            second.always = PAGE
            first.always = None
            assert await echo(nodes, "again") == ["again"]
            assert clock.pauses == [0.5]

    play(scene)


def test_an_answer_with_more_bytes_than_it_may_have_is_not_read_to_its_end() -> None:
    async def scene() -> None:
        limits = ClientLimits(largest_answer=1_000)
        async with scripted(1) as servers, over(servers, limits=limits) as (nodes, _):
            servers[0].methods["echo"] = lambda *_: ["x" * 5_000]
            with pytest.raises(WrongAnswer, match="more than 1,000 bytes"):
                await echo(nodes)

    play(scene)


def test_a_node_that_says_nothing_costs_the_time_of_one_call_and_the_next_is_asked() -> None:
    async def scene() -> None:
        async with scripted(1) as servers, silent() as url:
            clock = PlainClock()
            nodes = Nodes(url, servers[0].url, limits=ClientLimits(call_seconds=1.0), clock=clock)
            assert await echo(nodes) == [1]
            nodes.close()
            alone = Nodes(url, limits=ClientLimits(call_seconds=0.05), clock=clock)
            with pytest.raises(TimedOut, match=r"does not answer within 0.05 s"):
                await echo(alone)

    play(scene)


def test_a_request_with_all_its_retries_has_a_limit_of_its_own() -> None:
    async def scene() -> None:
        limits = ClientLimits(request_seconds=0.05)
        async with silent() as url:
            nodes = Nodes(url, limits=limits, clock=PlainClock())
            with pytest.raises(TimedOut, match=r"no answer within 0.05 s"):
                await echo(nodes)

    play(scene)


@asynccontextmanager
async def silent() -> AsyncIterator[str]:
    """A server that takes requests and never answers."""
    open_connections: list[asyncio.StreamWriter] = []

    async def keep(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_connections.append(writer)

    server = await asyncio.start_server(keep, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for writer in open_connections:
            writer.transport.abort()


def test_a_node_of_another_chain_is_refused_and_never_asked_for_anything_else() -> None:
    async def scene() -> None:
        async with scripted(2) as servers, over(servers, chain="ab" * 32) as (nodes, _):
            servers[0].chain = "cd" * 32
            assert await echo(nodes) == [1]
            assert servers[0].calls == []
        async with scripted(1) as servers, over(servers, chain="cd" * 32) as (nodes, _):
            with pytest.raises(WrongChain, match=r"is of the chain (ab){8}\.\.\., not of (cd){8}\.\.\.") as wrong:
                await echo(nodes)
            assert (wrong.value.expected, wrong.value.found) == ("cd" * 32, "ab" * 32)

    play(scene)


def test_a_client_that_was_closed_begins_no_connection_that_nobody_ends() -> None:
    async def scene() -> None:
        async with scripted(1) as servers:
            async with over(servers) as (nodes, _):
                await echo(nodes)
            with pytest.raises(ClientError, match="the client is closed"):
                await echo(nodes)
            assert servers[0].connections == 1

    play(scene)


def test_what_cannot_be_sent_is_said_before_it_is() -> None:
    addresses: Any = ["http://127.0.0.1:8090"]
    with pytest.raises(ClientError, match=r"one by one: Client\(\*addresses\)"):
        Nodes(addresses)

    async def scene() -> None:
        async with scripted(1) as servers, over(servers) as (nodes, _):
            for value in ({"alice"}, 1 << 80, "\ud800"):
                with pytest.raises(ClientError, match=r"some_api\.echo: a parameter has no form in JSON: "):
                    await echo(nodes, value)
            assert servers[0].calls == []

    play(scene)


def test_without_a_chain_the_first_that_answers_says_which_one_it_is() -> None:
    async def scene() -> None:
        async with scripted(2) as servers, over(servers) as (nodes, _):
            assert await nodes.chain_id() == "ab" * 32
            servers[1].chain = "cd" * 32
            servers[0].always = PAGE
            with pytest.raises(NodeUnavailable, match="is of the chain cdcdcdcdcdcdcdcd"):
                await echo(nodes)
            assert servers[1].calls == []

    play(scene)


def test_a_node_whose_head_is_stale_is_asked_last() -> None:
    async def scene() -> None:
        async with scripted(2) as servers, over(servers) as (nodes, _):
            servers[0].head_time = LATE_TEXT
            await echo(nodes)
            assert [each.calls for each in servers] == [[], ["echo"]]
            servers[1].always = PAGE
            assert await echo(nodes, "late") == ["late"]

    play(scene)


def test_where_all_heads_are_as_old_the_clock_is_wrong_or_the_chain_stands_and_the_order_stays() -> None:
    async def scene() -> None:
        async with scripted(2) as servers, over(servers) as (nodes, _):
            for each in servers:
                each.head_time = LATE_TEXT
            for _ in range(3):
                await echo(nodes)
            assert [each.calls for each in servers] == [["echo", "echo"], ["echo"]]

    play(scene)


def test_a_head_is_looked_at_again_after_a_while_where_there_is_another_node() -> None:
    async def scene() -> None:
        async with scripted(2) as servers, over(servers) as (nodes, clock):
            await echo(nodes)
            servers[0].head_time, clock.time = START_TEXT, 120.0
            servers[1].head_time = "2027-01-15T08:02:00"
            await echo(nodes)
            assert [each.calls for each in servers] == [["echo"], ["echo"]]

    play(scene)


def test_what_may_not_be_repeated_reaches_one_node_once_and_travels_alone() -> None:
    async def scene() -> None:
        async with scripted(2) as servers, over(servers) as (nodes, _):
            await echo(nodes)
            servers[0].raw.append(None)
            with pytest.raises(NodeUnavailable, match="the connection ended"):
                await nodes.call("some_api", "echo", [5], list, repeatable=False)
            assert isinstance(servers[0].requests[-1], dict)
            assert servers[1].requests == []
            assert await nodes.call("some_api", "echo", [6], list, repeatable=False) == [6]

    play(scene)


def test_what_may_not_be_repeated_has_a_new_connection_each_time_and_few_of_them_stay_open() -> None:
    async def scene() -> None:
        limits = ClientLimits(at_once=3)
        async with scripted(1) as servers, over(servers, limits=limits) as (nodes, _):
            for number in range(20):
                await nodes.call("some_api", "echo", [number], list, repeatable=False)
            assert servers[0].connections >= 20
            await until(lambda: servers[0].open_connections <= 3)

    play(scene)


def test_what_was_never_sent_goes_to_the_next_node_even_where_it_may_not_be_repeated() -> None:
    async def scene() -> None:
        async with scripted(1) as gone:
            pass
        async with scripted(1) as servers, over([*gone, *servers]) as (nodes, _):
            assert await nodes.call("some_api", "echo", [5], list, repeatable=False) == [5]
            assert servers[0].calls == ["echo"]

    play(scene)


def test_an_error_of_a_node_is_an_answer_and_no_other_node_is_asked() -> None:
    async def scene() -> None:
        async with scripted(2) as servers, over(servers) as (nodes, _):
            servers[0].methods["echo"] = refusing("no such thing")
            with pytest.raises(NodeError, match=r"some_api\.echo: no such thing"):
                await echo(nodes)
            assert servers[1].requests == []

    play(scene)


def test_a_method_that_a_node_lacks_is_asked_of_the_others_and_nobody_is_blamed() -> None:
    async def scene() -> None:
        async with scripted(2) as servers, over(servers) as (nodes, clock):
            servers[1].methods["rare"] = lambda: [7]
            assert await nodes.call("some_api", "rare", [], list) == [7]
            with pytest.raises(UnknownMethod, match="Could not find method rarer"):
                await nodes.call("some_api", "rarer", [], list)
            await echo(nodes)
            assert servers[0].calls == ["rare", "rarer", "echo"]
            assert clock.pauses == []

    play(scene)


def test_an_answer_of_another_form_than_was_asked_for_is_named_with_its_method() -> None:
    async def scene() -> None:
        async with scripted(1) as servers, over(servers) as (nodes, _):
            with pytest.raises(WrongAnswer, match=r"some_api\.echo: .* list where dict was expected"):
                await nodes.call("some_api", "echo", [5], dict)

    play(scene)


def test_a_batch_is_one_request_and_an_error_stands_for_its_own() -> None:
    async def scene() -> None:
        async with scripted(1) as servers, over(servers) as (nodes, _):
            await echo(nodes)
            before = len(servers[0].requests)
            calls = [TypedCall("some_api", name, (number,), list) for number, name in enumerate(["echo", "x", "echo"])]
            first, second, third = await nodes.batch(calls)
            assert (first, third) == ([0], [2])
            assert isinstance(second, NodeError)
            assert len(servers[0].requests) == before + 1
            assert await nodes.batch([]) == []

    play(scene)


def test_a_large_batch_is_sent_in_several_requests() -> None:
    async def scene() -> None:
        limits = ClientLimits(largest_batch=10)
        async with scripted(1) as servers, over(servers, limits=limits) as (nodes, _):
            calls = [TypedCall("some_api", "echo", (number,), list) for number in range(25)]
            assert await nodes.batch(calls) == [[number] for number in range(25)]
            assert [len(each) for each in servers[0].requests[1:]] == [10, 10, 5]

    play(scene)


def test_more_requests_than_may_be_at_once_wait_for_their_turn() -> None:
    async def scene() -> None:
        limits = ClientLimits(at_once=3)
        async with scripted(1) as servers, over(servers, limits=limits) as (nodes, _):
            found = await asyncio.gather(*(echo(nodes, each) for each in range(50)))
            assert found == [[each] for each in range(50)]
            assert servers[0].connections <= 3

    play(scene)


def test_many_requests_that_see_one_failure_count_it_once() -> None:
    async def scene() -> None:
        async with scripted(2) as servers, over(servers) as (nodes, clock):
            await echo(nodes)
            servers[0].always = PAGE
            await asyncio.gather(*(echo(nodes) for _ in range(10)))
            servers[0].always, servers[1].always = None, PAGE
            clock.time += 0.5
            assert await echo(nodes, 2) == [2]
            assert clock.pauses == []

    play(scene)


@pytest.mark.parametrize("url", ["localhost", "ftp://localhost", "http://user:secret@localhost"])
def test_an_address_that_is_none_is_said_at_once(url: str) -> None:
    with pytest.raises(ClientError, match="address"):
        Nodes(url)


def test_errors_do_not_show_what_follows_the_host_since_it_may_be_a_secret() -> None:
    async def scene() -> None:
        async with scripted(1) as servers:
            servers[0].always = PAGE
            nodes = Nodes(f"{servers[0].url}/token-of-mine", clock=PlainClock())
            with pytest.raises(WrongAnswer) as caught:
                await echo(nodes)
            assert "token-of-mine" not in str(caught.value)
            nodes.close()

    play(scene)
