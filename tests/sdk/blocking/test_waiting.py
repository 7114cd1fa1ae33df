"""The blocking client has all that the other has, and waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from ledgerd.sdk import BlockingClient, Client
from ledgerd.sdk.calling import TypedCall
from ledgerd.sdk.errors import ClientError, NodeError, NodeUnavailable
from ledgerd.sdk.streams.events import BlockEvent
from tests.patience import PATIENCE
from tests.recorded import recorded_blocks
from tests.sdk.recorded_nodes import RecordedNode, serving_nodes
from tests.sdk.scripted_node import ScriptedNode


@contextmanager
def served(nodes: Sequence[ScriptedNode]) -> Iterator[list[str]]:
    """Nodes on a loop in another thread, as they are for a program that waits."""
    is_there, is_over, urls = threading.Event(), threading.Event(), list[str]()

    async def serve() -> None:
        async with serving_nodes(nodes) as found:
            urls.extend(found)
            is_there.set()
            while not is_over.is_set():  # noqa: ASYNC110 - set by another thread
                await asyncio.sleep(0.01)

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    assert is_there.wait(PATIENCE)
    try:
        yield urls
    finally:
        is_over.set()
        thread.join(PATIENCE)


def test_calls_batches_and_errors_are_those_of_the_other_client() -> None:
    with served([RecordedNode()]) as urls, BlockingClient(*urls) as client:
        assert client.call("database_api", "get_block", [1])["validator"] == "committee"
        assert client.batch([TypedCall("some_api", "echo", (1,), list)]) == [[1]]
        assert client.chain_id() == "ab" * 32
        with pytest.raises(NodeError):
            client.call("some_api", "none")


def test_a_stream_is_gone_through_and_has_its_cursor() -> None:
    with served([RecordedNode()]) as urls, BlockingClient(*urls) as client:
        stream = client.blocks(since=1, until=100)
        blocks = [each.block.packed for each in stream]
        assert blocks == list(recorded_blocks("open-2")[:100])
        assert stream.cursor is not None
        assert stream.cursor.number == 100
        for each in client.blocks(since=str(stream.cursor)):
            assert isinstance(each, BlockEvent)
            assert each.number == 101
            break


def test_what_is_left_by_with_is_closed() -> None:
    with served([RecordedNode()]) as urls, BlockingClient(*urls) as client:
        with client.blocks(since=1) as stream:
            assert next(stream).number == 1
        assert list(stream) == []


def test_several_threads_may_use_one_client() -> None:
    found: list[object] = []
    with served([ScriptedNode()]) as urls, BlockingClient(*urls) as client:

        def ask(number: int) -> None:
            found.append(client.call("some_api", "echo", [number]))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(PATIENCE)
    assert sorted(map(str, found)) == [f"[{number}]" for number in range(8)]


def test_a_closed_client_says_so_and_leaves_no_thread() -> None:
    with served([ScriptedNode()]) as urls:
        before = threading.active_count()
        client = BlockingClient(*urls)
        client.chain_id()
        client.close()
        client.close()
        assert threading.active_count() == before
        with pytest.raises(ClientError, match="the client is closed"):
            client.chain_id()


def test_nobody_at_the_address_is_the_same_error() -> None:
    with served([ScriptedNode()]) as urls:
        pass
    with BlockingClient(*urls) as client, pytest.raises(NodeUnavailable):
        client.chain_id()


def test_every_name_of_the_client_is_there_with_its_signature_and_its_words() -> None:
    with BlockingClient("http://127.0.0.1:1") as client:
        names = {name for name in dir(Client) if not name.startswith("_")}
        assert names <= set(dir(client))
        assert client.blocks.__doc__ == Client.blocks.__doc__
        assert client.call.__name__ == "call"
