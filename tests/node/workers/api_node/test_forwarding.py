"""What an API node sends on to a node, and what its client hears of what the node answers, or does not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ledgerd.codec import codec_of
from ledgerd.node.workers.api_node.forwarding import (
    MOST_OF_ONE,
    NO_NODE,
    NOT_HERE,
    TOO_MANY,
    Forwarder,
    address_in,
)
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.errors import RuleViolation
from ledgerd.rpc.api.node.node_api import PEER_NETWORK, SIMULATE
from ledgerd.rpc.call.errors import PlainError, error_object
from ledgerd.rpc.link.topics import BROADCAST_BLOCK, BROADCAST_TRANSACTION, Broadcast, packed_topic
from ledgerd.supervision.tasks import Tasks, stream_server
from tests.recorded import recorded_blocks
from tests.rpc.loopback import play

BLOCK = next(block for packed in recorded_blocks("open-2") if (block := codec_of(Block).decode(packed)).transactions)
TRANSACTION = BLOCK.transactions[0]
TEXT = codec_of(Transaction).to_json(TRANSACTION)


def _raise(problem: BaseException) -> None:
    raise problem


class FakeNode:
    """A port that notes the heads and bodies of requests, and answers as it is told."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.heads: list[bytes] = []
        self.asked: list[Any] = []
        self.held = asyncio.Event()
        self.held.set()
        self._tasks = set[asyncio.Task[None]]()

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.add(asyncio.get_running_loop().create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        self.heads.append(head)
        self.asked.append(json.loads(await reader.readexactly(size)))
        await self.held.wait()
        length = b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(self.answer)
        writer.write(b"HTTP/1.1 200 OK\r\n" + length + self.answer)
        writer.close()


@asynccontextmanager
async def forwarding(answer: bytes) -> AsyncIterator[tuple[FakeNode, Forwarder]]:
    node = FakeNode(answer)
    server = await stream_server(node.accept, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    forwarder = Forwarder(f"http://127.0.0.1:{port}", lambda: 1_000, lambda: 1_060.0)
    try:
        yield node, forwarder
    finally:
        server.close()
        forwarder.close()


def of(packed: bytes, share: str = "", age: int = -1) -> bytes:
    return packed_topic(Broadcast(packed, age, share))


OK = b'[{"jsonrpc":"2.0","result":{},"id":0}]'


@pytest.mark.parametrize(
    ("topic", "packed", "method", "argument"),
    [
        (
            BROADCAST_TRANSACTION,
            TRANSACTION.packed,
            "broadcast_transaction",
            codec_of(Transaction).to_json(TRANSACTION),
        ),
        (BROADCAST_BLOCK, BLOCK.packed, "broadcast_block", codec_of(Block).to_json(BLOCK)),
        (SIMULATE, TRANSACTION.packed, "simulate_transaction", TEXT),
    ],
)
def test_what_is_sent_on_is_what_the_client_sent_under_its_address(
    topic: str, packed: bytes, method: str, argument: str
) -> None:
    async def scene() -> None:
        async with forwarding(OK) as (node, forwarder):
            assert await forwarder.ask(topic, of(packed, "203.0.113.7 port 9")) == b"{}"
            [[asked]] = node.asked
            assert asked["params"][1:] == [method, [json.loads(argument)]]
            assert b"\r\nX-Forwarded-For: 203.0.113.7\r\n" in node.heads[0]

    play(scene)


def test_an_error_of_the_node_comes_back_as_it_is() -> None:
    error = '{"code":-32000,"message":"Broken","data":{"code":10,"name":"n","message":"m","stack":[]}}'

    async def scene() -> str:
        async with forwarding(f'[{{"jsonrpc":"2.0","error":{error},"id":0}}]'.encode()) as (_, forwarder):
            with pytest.raises(PlainError) as refused:
                await forwarder.ask(BROADCAST_TRANSACTION, of(TRANSACTION.packed))
            return error_object(refused.value, 0).text

    assert play(scene) == error


@pytest.mark.parametrize(
    "answer", [b"", b"no JSON", b"[]", b'[{"id":1,"result":{}}]', b'{"error":{"message":"starts"}}']
)
def test_an_answer_that_is_none_is_told_as_a_node_out_of_reach(answer: bytes) -> None:
    async def scene() -> None:
        async with forwarding(answer) as (_, forwarder):
            with pytest.raises(PlainError, match="The node that takes broadcasts cannot be reached: "):
                await forwarder.ask(BROADCAST_TRANSACTION, of(TRANSACTION.packed))

    play(scene)


def test_without_a_node_and_for_what_only_a_node_is_asked_the_error_says_so() -> None:
    async def scene() -> None:
        with pytest.raises(PlainError, match=NO_NODE):
            await Forwarder("", lambda: 0, lambda: 0.0).ask(BROADCAST_BLOCK, of(BLOCK.packed))
        with pytest.raises(PlainError, match=NOT_HERE):
            await Forwarder("", lambda: 0, lambda: 0.0).ask(PEER_NETWORK, b"")

    play(scene)


def test_the_age_of_the_head_is_that_of_the_directory() -> None:
    async def scene() -> None:
        async with forwarding(OK) as (node, forwarder):
            await forwarder.ask(BROADCAST_TRANSACTION, of(TRANSACTION.packed, age=60))
            with pytest.raises(RuleViolation, match="check_max_block_age"):
                await forwarder.ask(BROADCAST_TRANSACTION, of(TRANSACTION.packed, age=59))
            assert len(node.asked) == 1

    play(scene)


def test_of_one_address_so_many_requests_wait_for_the_node() -> None:
    async def scene() -> None:
        async with forwarding(OK) as (node, forwarder):
            node.held.clear()
            payload = of(TRANSACTION.packed, "203.0.113.7")
            tasks = Tasks(_raise)
            waiting = [tasks.begin(forwarder.ask(BROADCAST_TRANSACTION, payload)) for _ in range(MOST_OF_ONE)]
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            with pytest.raises(PlainError, match=TOO_MANY):
                await forwarder.ask(BROADCAST_TRANSACTION, payload)
            other = tasks.begin(forwarder.ask(BROADCAST_TRANSACTION, of(TRANSACTION.packed, "203.0.113.8")))
            node.held.set()
            assert [await each for each in (*waiting, other)] == [b"{}"] * (MOST_OF_ONE + 1)
            assert await forwarder.ask(BROADCAST_TRANSACTION, payload) == b"{}"

    play(scene)


@pytest.mark.parametrize(
    ("share", "address"),
    [
        ("", ""),
        ("203.0.113.7", "203.0.113.7"),
        ("127.0.0.1 port 5", "127.0.0.1"),
        ("2001:db8::/64", "2001:db8::"),
        ("x\r\nEvil: 1", ""),
    ],
)
def test_only_an_address_is_told_to_the_node(share: str, address: str) -> None:
    assert address_in(share) == address
