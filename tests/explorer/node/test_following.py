"""The head of a node, followed: each block once, over forks and pauses, and without a word too many to the node."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from ledgerd.client.envelope import ErrorAnswer, NodeCall
from ledgerd.client.pool import NodeAway, NodePool
from ledgerd.explorer.node import following
from ledgerd.explorer.node.following import HeadFollower
from ledgerd.explorer.node.watch import BLOCKS_KEPT, ChainWatch
from ledgerd.protocol.errors import OperatorError
from tests.rpc.loopback import play

TRANSFER = {"from": "alice", "to": "bob", "amount": "1.000 VIZ", "memo": ""}


class ScriptedNode(NodePool):
    """A node with as many blocks as it is told to have, on a branch."""

    def __init__(self, head: int = 0) -> None:
        super().__init__("http://127.0.0.1:1")
        self.branch = ["a"] * (head + 1)
        self.has_history = True
        self.is_away = False
        self.batches: list[list[str]] = []

    def grow(self, count: int = 1, branch: str = "a") -> None:
        self.branch += [branch] * count

    @property
    def head(self) -> int:
        return len(self.branch) - 1

    def id_of(self, number: int) -> str:
        return f"{number:08x}{self.branch[number]:0>32}"

    async def ask(self, *calls: NodeCall, asker: str = "") -> Sequence[Any]:  # noqa: ARG002 - the pool has it
        if self.is_away:
            raise NodeAway("nobody is there")
        self.batches.append([each.method for each in calls])
        return [getattr(self, each.method)(*each.arguments) for each in calls]

    def get_dynamic_global_properties(self) -> object:
        return {"head_block_number": self.head, "head_block_id": self.id_of(self.head), "time": "2027-01-01T00:00:00"}

    def get_config(self) -> object:
        return {"CHAIN_NAME": "VIZ"}

    def get_hardfork_version(self) -> object:
        return "4.1.0"

    def get_validator_schedule(self) -> object:
        return {}

    def get_operations(self, *_: object) -> object:
        return {"operations": [self.row(1)]} if self.has_history else ErrorAnswer("Could not find API history_api")

    def row(self, number: int) -> dict[str, object]:
        return {"op": ["transfer", TRANSFER], "block": number, "timestamp": "2027-01-01T00:00:00", "trx_id": "ab" * 20}

    def get_block(self, number: int) -> object:
        transactions = [{"operations": [["transfer", TRANSFER]]}]
        return {
            "previous": self.id_of(number - 1),
            "timestamp": "2027-01-01T00:00:00",
            "validator": "viz",
            "transactions": transactions,
        }

    def get_ops_in_block(self, number: int, *_: object) -> object:
        return [self.row(number)] if self.has_history else ErrorAnswer("Could not find API operation_history")


def followed(node: ScriptedNode) -> tuple[HeadFollower, ChainWatch]:
    watch = ChainWatch()
    follower = HeadFollower(node, watch)
    asyncio.run(follower.refresh())
    return follower, watch


def test_the_first_look_takes_the_latest_blocks_with_their_ids() -> None:
    node = ScriptedNode(head=500)
    _, watch = followed(node)
    assert [each.number for each in watch.blocks] == list(range(500, 500 - BLOCKS_KEPT, -1))
    assert all(each.id == node.id_of(each.number) for each in watch.blocks)
    assert (watch.away, watch.head, len(watch.transfers)) == ("", 500, 1)


def test_a_new_block_is_asked_for_once_and_nothing_while_there_is_none() -> None:
    node = ScriptedNode(head=200)
    follower, watch = followed(node)
    node.batches.clear()
    asyncio.run(follower.refresh())
    assert node.batches == [["get_dynamic_global_properties"]]
    node.batches.clear()
    node.grow(2)
    asyncio.run(follower.refresh())
    assert [len(each) for each in node.batches] == [1, 4, 2]
    assert [each.number for each in watch.blocks][:3] == [202, 201, 200]
    assert len(watch.transfers) == 3


@pytest.mark.parametrize("missing", [1, 5, 100])
def test_another_branch_takes_the_place_of_the_blocks_that_are_gone(missing: int) -> None:
    node = ScriptedNode(head=300)
    follower, watch = followed(node)
    del node.branch[-missing:]
    node.grow(missing + 1, branch="b")
    asyncio.run(follower.refresh())
    assert [each.id for each in watch.blocks] == [node.id_of(number) for number in range(301, 301 - BLOCKS_KEPT, -1)]


def test_after_many_blocks_at_once_it_begins_again() -> None:
    node = ScriptedNode(head=10)
    follower, watch = followed(node)
    node.grow(1_000)
    asyncio.run(follower.refresh())
    assert [each.number for each in watch.blocks] == list(range(1010, 1010 - BLOCKS_KEPT, -1))


def test_without_histories_blocks_are_followed_all_the_same() -> None:
    node = ScriptedNode(head=20)
    node.has_history = False
    follower, watch = followed(node)
    node.grow()
    asyncio.run(follower.refresh())
    assert (watch.head, watch.has_history, len(watch.transfers)) == (21, False, 0)
    assert watch.blocks[0].kinds == (("transfer", 1),)


def test_the_first_block_of_a_chain_is_followed_and_so_is_a_chain_whose_blocks_are_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node = ScriptedNode()
    follower, watch = followed(node)
    assert (watch.head, list(watch.blocks)) == (0, [])
    node.grow()
    asyncio.run(follower.refresh())
    assert (watch.head, watch.blocks[0].number) == (1, 1)
    node = ScriptedNode(head=7)
    monkeypatch.setattr(node, "get_block", lambda _: None)
    follower, watch = followed(node)
    node.grow()
    asyncio.run(follower.refresh())
    assert (watch.head, watch.away, list(watch.blocks)) == (8, "", [])


def test_answers_of_something_else_than_a_node_are_said_and_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "PAUSE", 0.0)
    node, watch, told = ScriptedNode(head=3), ChainWatch(), asyncio.Event()
    nonsense: list[object] = [{}, {"head_block_number": "many"}, {"head_block_number": None}]

    def properties() -> object:
        return nonsense.pop() if nonsense else ScriptedNode.get_dynamic_global_properties(node)

    monkeypatch.setattr(node, "get_dynamic_global_properties", properties)
    watch.on_change.append(lambda: None if watch.away else told.set())

    async def scene() -> None:
        running = asyncio.ensure_future(HeadFollower(node, watch).run(lambda: None))
        while not told.is_set():
            assert not running.done()
            await asyncio.sleep(0)
        running.cancel()

    play(scene)
    assert (watch.head, nonsense) == (3, [])


def test_a_node_that_goes_away_is_told_of_and_comes_back_by_itself(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(following, "PAUSE", 0.01)
    monkeypatch.setattr(following, "POLL_SECONDS", 0.01)
    node = ScriptedNode(head=20)
    watch, seen = ChainWatch(), []

    async def scene() -> None:
        follower, news = HeadFollower(node, watch), asyncio.Event()
        watch.on_change.append(lambda: seen.append(watch.away))
        watch.on_change.append(news.set)
        running = asyncio.ensure_future(follower.run(lambda: None))
        for is_away in (False, True, False):
            news.clear()
            node.is_away = is_away
            node.grow()
            while bool(watch.away) != is_away:
                await news.wait()
                news.clear()
        running.cancel()

    with caplog.at_level(logging.INFO):
        play(scene)
    assert [each for each in seen if each] == ["nobody is there"]
    assert "is away: nobody is there" in caplog.text


def test_told_of_a_block_over_a_websocket_it_looks_at_once() -> None:
    async def scene() -> None:
        node = ScriptedNode(head=20)
        watch, subscribed = ChainWatch(), asyncio.Event()
        sockets: list[ServerConnection] = []

        async def talk(socket: ServerConnection) -> None:
            assert "set_block_applied_callback" in str(await socket.recv())
            sockets.append(socket)
            subscribed.set()
            await socket.wait_closed()

        async with serve(talk, "127.0.0.1", 0) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            follower = HeadFollower(node, watch, f"ws://127.0.0.1:{port}")
            listening = asyncio.ensure_future(follower.listen(lambda: None))
            running = asyncio.ensure_future(follower.run(lambda: None))
            await subscribed.wait()
            news = asyncio.Event()
            watch.on_change.append(news.set)
            while not watch.head:
                await news.wait()
            news.clear()
            node.grow()
            await sockets[0].send('{"id":1,"result":{}}')
            await asyncio.wait_for(news.wait(), following.LONGEST_WAIT / 2)
            assert watch.head == 21
            await sockets[0].send('{"id":1,"error":{"message":"no"}}')
            with pytest.raises(NodeAway, match="tells of no blocks"):
                await listening
            running.cancel()

    play(scene)


@pytest.mark.parametrize("message", ["5", "null", "[", "\0", b"\xff", "[" * 5000])
def test_whatever_comes_over_a_websocket_ends_the_connection_alone(message: str | bytes) -> None:
    async def scene() -> None:
        async def talk(socket: ServerConnection) -> None:
            await socket.recv()
            await socket.send(message)
            await socket.wait_closed()

        async with serve(talk, "127.0.0.1", 0) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            with pytest.raises(NodeAway):
                await HeadFollower(ScriptedNode(), ChainWatch(), f"ws://127.0.0.1:{port}").listen(lambda: None)

    play(scene)


def test_an_address_that_is_no_websocket_is_refused_at_the_start() -> None:
    with pytest.raises(OperatorError, match="no address of a node"):
        HeadFollower(ScriptedNode(), ChainWatch(), "http://127.0.0.1:8091")
