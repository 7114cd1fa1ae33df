"""The past of an account by its history: the same as by every block, in fewer requests, and only where it is sure."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ledgerd.sdk import Client, ClientLimits
from ledgerd.sdk.streams.cursor import StreamCursor
from ledgerd.sdk.streams.errors import ForkTooDeep, PastNotKept
from ledgerd.sdk.streams.events import OperationEvent
from tests.recorded import ANSWERED
from tests.rpc.loopback import play
from tests.sdk.recorded_nodes import RecordedNode, blocks_of, rows_by_account, serving_nodes
from tests.sdk.scripted_node import PAGE, PlainClock

CHAIN = "open-main"
LAST = ANSWERED[CHAIN]


class AccountNode(RecordedNode):
    """A reference node with histories of accounts."""

    def __init__(self, chain: str = CHAIN, **options: Any) -> None:
        super().__init__(chain, **options)
        self.methods["get_account_history"] = self.get_account_history

    @property
    def asked(self) -> Counter[str]:
        """How often each method was called."""
        return Counter(each["params"][1] for batch in self.requests for each in batch)


@asynccontextmanager
async def client_of(*nodes: RecordedNode, **limits: Any) -> AsyncIterator[Client]:
    async with (
        serving_nodes(nodes) as urls,
        Client(*urls, limits=ClientLimits(**limits), clock=PlainClock()) as client,
    ):
        yield client


async def given(node: RecordedNode, account: str, since: int | str = 1) -> Sequence[OperationEvent]:
    async with client_of(node) as client:
        stream = client.operations(account=account, until=len(node.blocks), since=since)
        return [each async for each in stream]


_WALKED: dict[tuple[str, int | str, str], Sequence[OperationEvent]] = {}


async def walked(account: str, since: int | str = 1, chain: str = CHAIN) -> Sequence[OperationEvent]:
    """The same by a node without histories of accounts; each walk is done once for all tests."""
    asked = (account, since, chain)
    if asked not in _WALKED:
        _WALKED[asked] = await given(RecordedNode(chain), account, since)
    return _WALKED[asked]


def accounts_by_activity(chain: str = CHAIN) -> list[str]:
    """The accounts of the chain, those with the most operations first."""
    counts = Counter(name for _, names in rows_by_account(chain) for name in names if name)
    return [name for name, _ in counts.most_common()]


@pytest.mark.parametrize("chain", ["open-2", "open-main", "open-pm2"])
def test_the_operations_of_an_account_are_those_that_a_walk_over_all_blocks_finds(chain: str) -> None:
    async def scene() -> None:
        names = accounts_by_activity(chain)
        for name in [names[0], names[-1]]:
            node = AccountNode(chain)
            found = await given(node, name)
            assert found
            assert found == await walked(name, chain=chain)

    play(scene)


def test_few_requests_are_needed_for_an_account_to_which_little_happens() -> None:
    async def scene() -> None:
        node = AccountNode()
        found = await given(node, accounts_by_activity()[-1])
        assert 0 < len(found) < 20
        assert len(node.requests) < 10
        assert node.asked["get_block"] < 20

    play(scene)


@pytest.mark.parametrize("first", [2, 100, 300, LAST - 100])
def test_it_may_begin_anywhere(first: int) -> None:
    async def scene() -> None:
        for name in accounts_by_activity()[1::60]:
            assert await given(AccountNode(), name, since=first) == await walked(name, first)

    play(scene)


def test_from_the_cursor_of_any_operation_it_goes_on_with_the_next() -> None:
    async def scene() -> None:
        node = AccountNode()
        name = accounts_by_activity()[3]
        every = await given(node, name)
        for place in range(0, len(every), max(1, len(every) // 5)):
            assert await given(node, name, since=str(every[place].cursor)) == every[place + 1 :]

    play(scene)


def test_the_cursor_of_the_stream_moves_on_though_nothing_happened() -> None:
    async def scene() -> None:
        node = AccountNode()
        name = next(each for each in accounts_by_activity() if node.history_of(each)[-1][1]["block"] < LAST - 150)
        async with client_of(node) as client:
            stream = client.operations(account=name, since=LAST - 140, until=LAST)
            assert [each async for each in stream] == []
            assert stream.cursor == StreamCursor(blocks_of(CHAIN)[-1].id)
            assert node.asked["get_block"] == 1

    play(scene)


@pytest.mark.parametrize("irreversible", [True, False])
def test_after_the_past_it_follows_the_chain(irreversible: bool) -> None:
    async def scene() -> None:
        node = AccountNode(head=LAST - 100)

        def properties() -> object:
            node.head = min(LAST, node.head + 7)
            node.irreversible = node.head if node.head == LAST else node.head - 20
            return node.get_dynamic_global_properties()

        node.methods["get_dynamic_global_properties"] = properties
        name = accounts_by_activity()[0]
        async with client_of(node) as client:
            stream = client.operations(account=name, since=1, until=LAST, irreversible=irreversible)
            assert [each.cursor async for each in stream] == [each.cursor for each in await walked(name)]

    play(scene)


def test_another_node_goes_on_where_one_goes_away() -> None:
    async def scene() -> None:
        nodes = [AccountNode() for _ in range(2)]
        name = accounts_by_activity()[2]
        async with client_of(*nodes, largest_batch=10, at_once=4) as client:
            found = list[OperationEvent]()
            async for each in client.operations(account=name, since=1, until=LAST):
                if len(found) == 20:
                    nodes[0].always = PAGE
                found.append(each)
        assert found == await walked(name)

    play(scene)


Fault = Callable[[AccountNode, str], None]


def no_such_method(node: AccountNode, _name: str) -> None:
    del node.methods["get_account_history"]


def not_tracked(node: AccountNode, name: str) -> None:
    node.history_of(name).clear()


def a_gap(node: AccountNode, name: str) -> None:
    del node.history_of(name)[7]


def begins_late(node: AccountNode, name: str) -> None:
    del node.history_of(name)[:5]


def lacks_one_of_two_in_a_block(node: AccountNode, name: str) -> None:
    history = node.history_of(name)
    blocks = [row["block"] for _, row in history]
    place = next(place for place in range(20, len(blocks)) if blocks[place] == blocks[place - 1])
    rows = [row for _, row in history]
    del rows[place]
    history[:] = list(enumerate(rows))


def out_of_order(node: AccountNode, name: str) -> None:
    history = node.history_of(name)
    history[3], history[30] = (3, history[30][1]), (30, history[3][1])


def of_another_form(node: AccountNode, _name: str) -> None:
    node.methods["get_account_history"] = lambda *_: [[0, {"block": "x"}], 7]


@pytest.mark.parametrize(
    "fault",
    [no_such_method, not_tracked, a_gap, begins_late, lacks_one_of_two_in_a_block, out_of_order, of_another_form],
)
def test_a_history_that_is_not_sure_to_be_whole_has_every_block_read(fault: Fault) -> None:
    async def scene() -> None:
        node = AccountNode()
        name = accounts_by_activity()[0]
        fault(node, name)
        assert await given(node, name) == await walked(name)

    play(scene)


def test_a_history_that_begins_behind_what_is_asked_for_is_not_believed() -> None:
    async def scene() -> None:
        node = AccountNode()
        node.methods["get_ops_in_block"] = lambda number, _: node.get_ops_in_block(number, False) * (number > 200)
        name = accounts_by_activity()[0]
        with pytest.raises(PastNotKept):
            await given(node, name)
        node.requests.clear()
        late = await given(node, name, since=201)
        assert late == await walked(name, 201)

    play(scene)


def test_behind_a_block_that_the_chain_does_not_have_there_is_no_way_on() -> None:
    async def scene() -> None:
        other = StreamCursor(blocks_of("open-1")[99].id)
        async with client_of(AccountNode()) as client:
            with pytest.raises(ForkTooDeep):
                await anext(client.operations(account="committee", since=other))

    play(scene)
