"""The client over real nodes: HTTP and WebSocket, a node that is killed, and a chain that is put back."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.protocol.operations.virtual import ValidatorReward
from ledgerd.sdk import Client, ClientLimits
from ledgerd.sdk.errors import NodeError, NodeUnavailable, WrongAnswer
from ledgerd.sdk.streams.errors import ForkTooDeep
from tests.node.processes import NodeProcess
from tests.ports import free_port
from tests.rpc.loopback import play

SELDOM = ClientLimits(poll_seconds=40.0)
"""A stream that only asks, and is told nothing, takes longer than a test may."""
OFTEN = ClientLimits(poll_seconds=0.05)


def dev(folder: Path, port: int = 0) -> NodeProcess:
    endpoints = (f"--http=127.0.0.1:{port}", "--ws=127.0.0.1:0")
    return NodeProcess("dev", "--data-dir", str(folder), *endpoints, "--block-time=0")


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    with dev(tmp_path_factory.mktemp("node")) as running:
        running.port()
        running.call("dev_api", "mine_blocks", 60)
        yield running


@pytest.mark.parametrize("kind", ["http", "ws"])
def test_calls_batches_and_errors_are_the_same_over_both(node: NodeProcess, kind: str) -> None:
    async def scene() -> None:
        async with Client(f"{kind}://127.0.0.1:{node.port(kind)}") as client:
            block = await client.call("database_api", "get_block", [2])
            assert block == node.call("database_api", "get_block", 2)
            many = [client.call("database_api", "get_block_header", [number]) for number in range(1, 40)]
            assert len({each["previous"] for each in await asyncio.gather(*many)}) == 39
            with pytest.raises(NodeError):
                await client.call("database_api", "get_block", ["one"])
            assert await client.call("network_broadcast_api", "none", repeatable=True) is None

    with pytest.raises(NodeError, match="Could not find method none"):
        play(scene)


@pytest.mark.parametrize("kind", ["http", "ws"])
def test_an_answer_with_too_many_bytes_is_refused_over_both(node: NodeProcess, kind: str) -> None:
    async def scene() -> None:
        limits = ClientLimits(largest_answer=5_000)
        async with Client(f"{kind}://127.0.0.1:{node.port(kind)}", limits=limits) as client:
            with pytest.raises(WrongAnswer, match="an answer of more"):
                await client.call("database_api", "get_accounts", [["alice", "bob", "carol", "dave"] * 9])

    play(scene)


def test_nobody_at_an_address_of_websocket_is_a_node_that_is_not_available() -> None:
    async def scene() -> None:
        async with Client(f"ws://127.0.0.1:{free_port()}") as client:
            with pytest.raises(NodeUnavailable):
                await client.chain_id()

    play(scene)


def test_a_node_with_an_address_of_websocket_says_when_there_is_a_block(node: NodeProcess) -> None:
    async def scene() -> None:
        async with Client(f"ws://127.0.0.1:{node.port('ws')}", limits=SELDOM) as client:
            stream = client.blocks(irreversible=False, since=node.head)
            for _ in range(3):
                last = await anext(stream)
                node.call("dev_api", "mine_blocks", 1)
            assert last.number == node.head - 1

    play(scene)


def test_virtual_operations_come_with_their_blocks(node: NodeProcess) -> None:
    async def scene() -> None:
        async with Client(f"http://127.0.0.1:{node.port()}", limits=OFTEN) as client:
            last = node.head
            stream = client.operations(kinds=[ValidatorReward], since=1, until=last, irreversible=False)
            assert {each.number async for each in stream} == set(range(1, last + 1))

    play(scene)


def test_a_node_that_is_killed_in_the_middle_of_a_stream_is_waited_for(tmp_path: Path) -> None:
    port = free_port()

    async def scene() -> None:
        numbers: list[int] = []
        async with Client(f"http://127.0.0.1:{port}", limits=OFTEN) as client:
            stream = client.blocks(since=1, irreversible=False)
            for _ in range(2):
                with dev(tmp_path, port) as running:
                    running.port()
                    running.call("dev_api", "mine_blocks", 30)
                    head = running.head
                    async for each in stream:
                        numbers.append(each.number)
                        if each.number >= head:
                            break
                    running.stop(signal.SIGKILL)
            assert numbers == list(range(1, len(numbers) + 1))
            assert len(numbers) >= 50

    play(scene)


def test_a_chain_that_is_put_back_below_what_was_irreversible_is_no_way_to_go_on(tmp_path: Path) -> None:
    async def scene(running: NodeProcess) -> None:
        async with Client(f"http://127.0.0.1:{running.port()}", limits=OFTEN) as client:
            running.call("dev_api", "mine_blocks", 5)
            kept = running.call("dev_api", "snapshot")
            running.call("dev_api", "mine_blocks", 5)
            stream = client.blocks(since=1)
            while (await anext(stream)).number < running.head:
                pass
            running.call("dev_api", "revert", kept["snapshot"])
            running.call("dev_api", "move_time", 60)
            running.call("dev_api", "mine_blocks", 9)
            with pytest.raises(ForkTooDeep, match="this stream went by another one"):
                await anext(stream)

    with dev(tmp_path) as running:
        play(lambda: scene(running))
