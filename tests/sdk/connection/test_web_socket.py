"""WebSocket: the node's word that there is a block, and what comes of it where there is none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.server import ServerConnection, serve

from ledgerd.sdk.connection.limits import ClientLimits
from ledgerd.sdk.connection.node_link import NodeLink
from ledgerd.sdk.connection.nodes import Nodes
from ledgerd.sdk.connection.web_socket import BlockSubscription
from ledgerd.sdk.errors import NodeUnavailable, WrongAnswer
from tests.ports import free_port
from tests.rpc.loopback import play
from tests.sdk.scripted_node import PlainClock

BLOCK = b'{"jsonrpc":"2.0","result":{"previous":"00"},"id":1}'
REFUSAL = b'{"jsonrpc":"2.0","error":{"code":-32000,"message":"too many"},"id":1}'


class Told:
    """What a server was sent, over how many connections."""

    def __init__(self) -> None:
        self.messages: list[str | bytes] = []
        self.connections = 0


@asynccontextmanager
async def answering(*answers: bytes) -> AsyncIterator[tuple[str, Told]]:
    """A server that says all of this at the first message of a connection, and then nothing; or, if that is nothing,
    ends the connection.
    """
    told = Told()

    async def talk(socket: ServerConnection) -> None:
        told.connections += 1
        async for message in socket:
            told.messages.append(message)
            if not answers:
                return
            for each in answers:
                await socket.send(each, text=True)

    async with serve(talk, "127.0.0.1", 0) as server:
        yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}", told


def test_each_word_of_a_node_is_a_block_and_silence_is_none() -> None:
    async def scene() -> None:
        async with answering(BLOCK, BLOCK) as (url, told):
            subscription = BlockSubscription(url, ClientLimits())
            assert [await subscription.wait(30) for _ in range(2)] == [True, True]
            assert await subscription.wait(0.01)
            assert (told.connections, len(told.messages)) == (1, 1)
            subscription.close()

    play(scene)


def test_a_node_that_refuses_to_say_it_is_not_asked_again() -> None:
    async def scene() -> None:
        async with answering(REFUSAL) as (url, told):
            subscription = BlockSubscription(url, ClientLimits())
            assert [await subscription.wait(30) for _ in range(3)] == [False] * 3
            assert told.connections == 1

    play(scene)


def test_a_connection_that_ends_is_no_word_and_is_replaced() -> None:
    async def scene() -> None:
        async with answering() as (url, told):
            subscription = BlockSubscription(url, ClientLimits())
            assert [await subscription.wait(30) for _ in range(2)] == [False, False]
            assert told.connections == 2
        assert not await BlockSubscription(f"ws://127.0.0.1:{free_port()}", ClientLimits()).wait(30)

    play(scene)


@pytest.mark.parametrize(
    ("answers", "kind"), [((), NodeUnavailable), ((b"<html>",), WrongAnswer), ((BLOCK,), WrongAnswer)]
)
def test_what_is_no_answer_fails_as_over_http(answers: tuple[bytes, ...], kind: type[Exception]) -> None:
    async def scene() -> None:
        async with answering(*answers) as (url, _):
            nodes = Nodes(url, clock=PlainClock())
            with pytest.raises(kind) as caught:
                await nodes.chain_id()
            assert type(caught.value) is kind
            nodes.close()

    play(scene)


def test_an_address_is_shown_without_what_follows_the_host() -> None:
    link = NodeLink("wss://node.example:8443/secret", ClientLimits())
    assert link.name == "wss://node.example:8443"
