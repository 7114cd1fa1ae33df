"""Streams over what reference nodes have answered, and over nodes that lie, lag and go away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.operations.touched import touched
from ledgerd.protocol.operations.virtual import ValidatorReward
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.sdk import Client, ClientLimits
from ledgerd.sdk.errors import ClientError, WrongAnswer
from ledgerd.sdk.streams.cursor import StreamCursor
from ledgerd.sdk.streams.errors import PastNotKept, UnknownOperation
from ledgerd.sdk.streams.events import OperationEvent, Undone
from tests.recorded import ALL_CHAINS, ANSWERED, recorded_blocks
from tests.rpc.loopback import play, until
from tests.sdk.recorded_nodes import RecordedNode, blocks_of, serving_nodes
from tests.sdk.scripted_node import PAGE, PlainClock

LAST = ANSWERED["open-2"]


@asynccontextmanager
async def client_of(*nodes: RecordedNode, **limits: Any) -> AsyncIterator[Client]:
    async with (
        serving_nodes(nodes) as urls,
        Client(*urls, limits=ClientLimits(**limits), clock=PlainClock()) as client,
    ):
        yield client


@pytest.mark.parametrize("chain", sorted(ALL_CHAINS))
def test_every_recorded_block_is_read_as_the_bytes_that_it_has(chain: str) -> None:
    async def scene() -> None:
        async with client_of(RecordedNode(chain), at_once=2) as client:
            last = ANSWERED[chain]
            found = [each.block.packed async for each in client.blocks(since=1, until=last)]
            assert found == list(recorded_blocks(chain)[:last])

    play(scene)


def recorded_rows(chain: str = "open-2") -> list[tuple[int, Any]]:
    """Every operation of a chain: the number of its block, and itself."""
    node = RecordedNode(chain)
    return [(number, row) for number in range(1, node.head + 1) for row in node.get_ops_in_block(number, False)]


@pytest.mark.parametrize("chain", ["open-2", "open-pm2"])
def test_every_recorded_operation_is_given_in_its_order_virtual_ones_too(chain: str) -> None:
    async def scene() -> None:
        async with client_of(RecordedNode(chain)) as client:
            found = [each async for each in client.operations(since=1, until=ANSWERED[chain])]
            rows = recorded_rows(chain)
            assert [(each.number, *each.place, name_of(type(each.operation))) for each in found] == [
                (number, row["trx_in_block"], row["op_in_trx"], int(row["virtual_op"]), row["op"][0])
                for number, row in rows
            ]
            assert [each.transaction_id.hex() for each in found] == [row["trx_id"] for _, row in rows]

    play(scene)


def test_operations_of_a_kind_and_of_an_account_are_those_of_all_that_are_so() -> None:
    async def scene() -> None:
        async with client_of(RecordedNode()) as client:
            every = [each async for each in client.operations(since=1, until=LAST)]
            transfers = [each async for each in client.operations(since=1, until=LAST, kinds=[Transfer])]
            assert transfers
            assert transfers == [each for each in every if isinstance(each.operation, Transfer)]
            name = transfers[0].operation.recipient if isinstance(transfers[0].operation, Transfer) else ""
            of_one = [each async for each in client.operations(since=1, until=LAST, account=name)]
            assert of_one == [each for each in every if name in touched(each.operation)]
            assert 0 < len(of_one) < len(every)
            with pytest.raises(ClientError, match="tranfer is no operation"):
                client.operations(kinds=["tranfer"])

    play(scene)


def test_from_the_cursor_of_any_operation_a_stream_goes_on_with_the_next() -> None:
    async def scene() -> None:
        async with client_of(RecordedNode()) as client:
            every = [each async for each in client.operations(since=1, until=40)]
            for place, each in enumerate(every):
                rest = client.operations(since=str(each.cursor), until=40)
                assert [one async for one in rest] == every[place + 1 :]

    play(scene)


def test_the_cursor_moves_past_what_nobody_asked_for() -> None:
    async def scene() -> None:
        async with client_of(RecordedNode()) as client:
            stream = client.operations(since=1, until=LAST, kinds=["escrow_dispute"], account="nobody")
            assert [each async for each in stream] == []
            assert stream.cursor == StreamCursor(blocks_of("open-2")[-1].id)

    play(scene)


def test_without_a_history_operations_are_those_of_transactions() -> None:
    async def scene() -> None:
        node = RecordedNode()
        del node.methods["get_ops_in_block"]
        async with client_of(node) as client:
            found = [each async for each in client.operations(since=1, until=LAST, history=False)]
            own = [row for _, row in recorded_rows() if not int(row["virtual_op"])]
            assert [each.transaction_id.hex() for each in found] == [row["trx_id"] for row in own]
            with pytest.raises(PastNotKept, match="plugin operation_history is off"):
                await anext(client.operations(since=1))

    play(scene)


def test_the_past_takes_few_requests() -> None:
    async def scene() -> None:
        node = RecordedNode()
        async with client_of(node) as client:
            assert len([each async for each in client.blocks(since=1, until=LAST)]) == LAST
            assert len(node.requests) < 20

    play(scene)


Lie = Callable[[RecordedNode], None]


def other_transactions(node: RecordedNode) -> None:
    def get_block(number: int) -> Any:
        block = RecordedNode.get_block(node, number)
        text = json.dumps(block)
        return json.loads(text.replace('"memo": "', '"memo": "not ')) if block else None

    node.methods["get_block"] = get_block


def other_header(node: RecordedNode) -> None:
    def get_block(number: int) -> Any:
        block = RecordedNode.get_block(node, number)
        return block | {"validator": "mallory"} if block and number % 7 == 0 else block

    node.methods["get_block"] = get_block


def shifted(node: RecordedNode) -> None:
    node.methods["get_block"] = lambda number: RecordedNode.get_block(node, number - 1)


def head_in_the_clouds(node: RecordedNode) -> None:
    def properties() -> dict[str, object]:
        high = f"{10_000:08x}{'ab' * 16}"
        return node.get_dynamic_global_properties() | {"head_block_id": high, "last_irreversible_block_id": high}

    node.methods["get_dynamic_global_properties"] = properties


def no_ids(node: RecordedNode) -> None:
    node.methods["get_dynamic_global_properties"] = lambda: {"time": "2027-01-01T00:00:00", "head_block_id": "ab"}


def blocks_of_another_form(node: RecordedNode) -> None:
    node.methods["get_block"] = lambda _: {"previous": [1, 2], "transactions": 5}


def operations_of_another_block(node: RecordedNode) -> None:
    def get_ops_in_block(number: int, _only_virtual: bool) -> Any:
        return RecordedNode.get_ops_in_block(node, number - 1, False)

    node.methods["get_ops_in_block"] = get_ops_in_block


def pages_now_and_then(node: RecordedNode) -> None:
    node.raw.extend([PAGE] * 3)


LIES: Sequence[Lie] = (
    other_transactions,
    other_header,
    shifted,
    head_in_the_clouds,
    no_ids,
    blocks_of_another_form,
    operations_of_another_block,
    pages_now_and_then,
)


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("irreversible", [True, False])
def test_a_node_that_lies_changes_nothing_of_what_a_stream_gives(lie: Lie, irreversible: bool) -> None:
    async def scene() -> None:
        liar, honest = RecordedNode(), RecordedNode()
        lie(liar)
        async with client_of(liar, honest) as client:
            found = [each async for each in client.operations(since=1, until=300, irreversible=irreversible)]
        rows = [row for number, row in recorded_rows() if number <= 300]
        assert [each.transaction_id.hex() for each in found] == [row["trx_id"] for row in rows]

    play(scene)


def test_a_node_that_lies_and_is_alone_is_said_to_after_a_while() -> None:
    async def scene() -> None:
        liar = RecordedNode()
        other_header(liar)
        async with client_of(liar, stream_seconds=20.0) as client:
            with pytest.raises(WrongAnswer, match="does not follow its block 7"):
                [each async for each in client.blocks(since=1, until=50)]

    play(scene)


def test_nodes_that_are_killed_in_turn_leave_no_hole_and_no_repeat() -> None:
    async def scene() -> None:
        nodes = [RecordedNode(irreversible=LAST - 30) for _ in range(3)]
        async with client_of(*nodes, largest_batch=8, at_once=4) as client:
            found = []
            async for each in client.blocks(since=1, until=LAST, irreversible=False):
                found.append(each.block)
                if each.number % 100 == 0:
                    for node in nodes:
                        node.always = None
                    nodes[each.number // 100 % 3].always = PAGE
                    nodes[(each.number // 100 + 1) % 3].raw.append(None)
        assert found == list(blocks_of("open-2"))

    play(scene)


def test_blocks_are_given_as_they_come_by_whichever_node_has_them() -> None:
    async def scene() -> None:
        late, node = RecordedNode(head=20, irreversible=15), RecordedNode(head=25, irreversible=15)
        async with client_of(late, node) as client:
            given = []
            async for each in client.blocks(since=10, until=40, irreversible=False):
                given.append(each.number)
                if each.number == node.head:
                    late.head, node.head = node.head, late.head + 8
                    late, node = node, late
                    node.head = max(node.head, late.head + 3)
            assert given == list(range(10, 41))

    play(scene)


def test_what_waits_for_a_block_is_no_operation_of_the_head_block() -> None:
    async def scene() -> None:
        node = RecordedNode(head=30, irreversible=20)
        expected = [row["op"][0] for number, row in recorded_rows() if 28 <= number <= 31]

        def get_ops_in_block(number: int, _only_virtual: bool) -> Any:
            rows = RecordedNode.get_ops_in_block(node, number, False)
            waiting = {"trx_in_block": 65535, "op_in_trx": 0, "timestamp": "2027-03-01T00:00:03", "block": number}
            transfer = {"from": "a", "to": "b", "amount": "1.000 VIZ", "memo": ""}
            reward = ["validator_reward", {"validator": "a", "shares": "1.000000 SHARES"}]
            return [
                *rows,
                waiting | {"virtual_op": 0, "trx_id": "ab" * 20, "op": ["transfer", transfer]},
                waiting | {"virtual_op": 1, "trx_id": "ab" * 20, "op": reward},
            ] if number == node.head else rows  # fmt: skip

        node.methods["get_ops_in_block"] = get_ops_in_block
        async with client_of(node) as client:
            found: list[OperationEvent] = []
            async for each in client.operations(since=28, until=31, irreversible=False):
                found.append(each)
                if each.number == 29 and node.head == 30:
                    node.head = 32
            assert [name_of(type(each.operation)) for each in found] == expected

    play(scene)


def test_a_history_that_lacks_operations_is_no_history_of_all_of_them() -> None:
    async def scene() -> None:
        node = RecordedNode()

        def get_ops_in_block(number: int, _only_virtual: bool) -> Any:
            return [row for row in RecordedNode.get_ops_in_block(node, number, False) if int(row["virtual_op"])]

        node.methods["get_ops_in_block"] = get_ops_in_block
        async with client_of(node) as client:
            with pytest.raises(PastNotKept, match="the history of the node lacks operations of block"):
                [each async for each in client.operations(since=1, until=LAST, kinds=[ValidatorReward])]

    play(scene)


def test_blocks_that_no_node_keeps_are_said_to_be_so() -> None:
    async def scene() -> None:
        nodes = [RecordedNode(), RecordedNode()]
        for node in nodes:
            node.methods["get_block"] = lambda number, node=node: (
                RecordedNode.get_block(node, number) if number > 300 else None
            )
        async with client_of(*nodes) as client:
            with pytest.raises(PastNotKept, match="does not keep block 5"):
                await anext(client.blocks(since=5))
            assert (await anext(client.blocks(since=301))).number == 301

    play(scene)


NEWER = ["super_award", {"from": "alice", "stars": 5}]
PROPOSED = {"author": "a", "title": "", "memo": "", "expiration_time": "2027-04-01T00:00:00"}


def in_transactions(node: RecordedNode, operation: object) -> None:
    def get_block(number: int) -> Any:
        block = RecordedNode.get_block(node, number)
        other = {"ref_block_num": 1, "ref_block_prefix": 1, "expiration": "2027-04-01T00:00:00", "extensions": []}
        transaction = other | {"operations": [operation], "signatures": []}
        return block | {"transactions": [*block["transactions"], transaction]} if block and number == 77 else block

    node.methods["get_block"] = get_block


def in_proposals(node: RecordedNode, operation: object) -> None:
    in_transactions(node, ["proposal_create", PROPOSED | {"proposed_operations": [{"op": operation}]}])


def of_the_chain_itself(node: RecordedNode, operation: object) -> None:
    def get_ops_in_block(number: int, _only_virtual: bool) -> Any:
        rows = RecordedNode.get_ops_in_block(node, number, False)
        of_chain = {"block": number, "trx_in_block": 65535, "op_in_trx": 0, "virtual_op": 9, "trx_id": "00" * 20}
        return [*rows, of_chain | {"op": operation}] if number == 77 else rows

    node.methods["get_ops_in_block"] = get_ops_in_block


@pytest.mark.parametrize("irreversible", [True, False])
@pytest.mark.parametrize("newer", [in_transactions, in_proposals, of_the_chain_itself])
def test_an_operation_of_a_later_hardfork_ends_a_stream_and_says_what_to_do(newer: Any, irreversible: bool) -> None:
    async def scene() -> None:
        nodes = [RecordedNode(), RecordedNode()]
        for node in nodes:
            newer(node, NEWER)
        async with client_of(*nodes) as client:
            stream = client.operations(since=1, until=LAST, irreversible=irreversible)
            with pytest.raises(UnknownOperation, match="Install a newer ledgerd-client") as raised:
                [each async for each in stream]
            assert (raised.value.block, raised.value.operation) == (77, "super_award")
            assert "block 77 has the operation 'super_award'" in str(raised.value)
            assert not UnknownOperation.is_temporary

    play(scene)


def test_an_operation_that_one_node_alone_has_is_not_believed_while_another_has_the_block() -> None:
    async def scene() -> None:
        liar, honest = RecordedNode(), RecordedNode()
        in_transactions(liar, NEWER)
        async with client_of(liar, honest) as client:
            assert [each.number async for each in client.blocks(since=70, until=90)] == [*range(70, 91)]

    play(scene)


def test_a_fork_is_undone_newest_first_and_the_new_branch_follows() -> None:
    """The recorded chains of one genesis differ from their first blocks on."""

    async def scene() -> None:
        node = RecordedNode("open-1", head=40, irreversible=0)
        other = RecordedNode("open-2", head=45, irreversible=0)
        async with client_of(node) as client:
            given: list[tuple[str, int]] = []
            async for each in client.blocks(since=38, until=42, irreversible=False, undone=True):
                given.append(("-" if isinstance(each, Undone) else "+", each.number))
                if given == [("+", 38), ("+", 39), ("+", 40)]:
                    node.blocks, node.answers, node.head = other.blocks, other.answers, other.head
        assert given == [
            *(("+", number) for number in (38, 39, 40)),
            *(("-", number) for number in (40, 39, 38)),
            *(("+", number) for number in (38, 39, 40, 41, 42)),
        ]

    play(scene)


def test_operations_of_an_undone_block_are_undone_with_it_though_only_some_of_them_were_given() -> None:
    async def scene() -> None:
        node = RecordedNode("open-2", head=60, irreversible=40)
        async with client_of(node) as client:
            every = [each async for each in client.operations(since=50, until=55, irreversible=False)]
            part = next(each for each in every if each.number == 54)
            kept = [StreamCursor(blocks_of("open-2")[number - 1].id) for number in (51, 52, 53)]

            rest = client.operations(since=[*kept, part.cursor], until=55, irreversible=False, undone=True)
            assert [each async for each in rest] == every[every.index(part) + 1 :]

            gone = StreamCursor(BlockId(part.block_id[:4] + bytes(16)), part.place)
            again = client.operations(since=[*kept, gone], until=55, irreversible=False, undone=True)
            first, *others = [each async for each in again]
            assert isinstance(first, Undone)
            assert (first.id, first.block, first.cursor) == (gone.block, None, kept[-1])
            assert others == [each for each in every if each.number >= 54]

    play(scene)


def test_a_client_is_closed_though_a_task_waits_for_a_block() -> None:
    async def scene() -> None:
        node = RecordedNode(head=10)
        async with serving_nodes([node]) as urls, Client(*urls) as client:
            stream = client.blocks()
            waiting = asyncio.ensure_future(anext(stream))
            await until(lambda: len(node.requests) > 1)
            await client.aclose()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

    play(scene)
