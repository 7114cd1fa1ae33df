"""Transactions and blocks on their way to the main process, and what clients hear of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.networks.parameters import MAINNET, TESTNET, ChainParameters
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.operations.validators import VersionedChainPropertiesUpdate
from ledgerd.protocol.properties import ChainPropertiesHf9
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api import APIS
from ledgerd.rpc.api.database_api import blocks
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher, Later
from ledgerd.rpc.call.limits import NOBODY, Asker, Limits
from ledgerd.rpc.call.view import Node, nothing_to_read
from ledgerd.rpc.link.topics import (
    APPLIED_BLOCK,
    BROADCAST_BLOCK,
    BROADCAST_TRANSACTION,
    INCLUDED,
    Broadcast,
    Inclusion,
    packed_topic,
    unpacked,
)
from tests.recorded import recorded_blocks

EXPIRATION = 1_800_000_100
BLOCK = recorded_blocks("open-2")[1]


class Main:
    """A main process that does what a test tells it, and hears who listens before who asks."""

    def __init__(self, *events: bytes, refusal: RuleViolation | None = None) -> None:
        self.happened: list[tuple[str, bytes]] = []
        self._events = events
        self._refusal = refusal

    async def ask(self, topic: str, payload: bytes) -> bytes:
        self.happened.append((topic, payload))
        if self._refusal is not None:
            raise self._refusal
        return b""

    def events(self, topic: str) -> AsyncGenerator[bytes, None]:
        self.happened.append((f"listen: {topic}", b""))
        return self._told()

    async def _told(self) -> AsyncGenerator[bytes, None]:
        for event in self._events:
            yield event


def transfer(amount: int = 1) -> Transaction:
    operation = Transfer(AccountName("alice"), AccountName("bob"), tokens(amount), "")
    return unsigned_transaction(NO_BLOCK, EXPIRATION, [operation])


def as_json(value: Transaction) -> Any:
    return json.loads(codec_of(Transaction).to_json(value))


def later(
    main: Main,
    method: str,
    *arguments: object,
    api: str = "network_broadcast_api",
    network: ChainParameters = TESTNET,
    asker: Asker = NOBODY,
) -> Later:
    node = Node(network, nothing_to_read, main)
    dispatcher = Dispatcher(APIS, node, lambda: 0.0, cache=AnswerCache(0), limits=Limits())
    request = {"jsonrpc": "2.0", "method": "call", "params": [api, method, list(arguments)], "id": 1}
    answer = dispatcher.answer(json.dumps(request).encode(), asker)
    assert isinstance(answer, Later)
    return answer


def answer(main: Main, method: str, *arguments: object) -> Any:
    return json.loads(asyncio.run(later(main, method, *arguments).first()))


def test_a_transaction_goes_to_the_main_process_as_it_was_sent() -> None:
    main = Main()
    assert answer(main, "broadcast_transaction", as_json(transfer()))["result"] == {}
    ((topic, payload),) = main.happened
    assert (topic, unpacked(payload, Broadcast)) == (BROADCAST_TRANSACTION, Broadcast(transfer().packed, -1))


def test_a_refused_transaction_is_answered_with_the_rule_that_it_breaks() -> None:
    main = Main(refusal=RuleViolation("a < b: It breaks a rule"))
    error = answer(main, "broadcast_transaction", as_json(transfer()))["error"]
    assert (error["code"], error["message"]) == (-32003, "Assert Exception (10)\na < b: It breaks a rule\n")


def test_a_block_goes_to_the_main_process_as_it_was_sent() -> None:
    main = Main()
    sent = json.loads(codec_of(Block).to_json(codec_of(Block).decode(BLOCK)))
    assert answer(main, "broadcast_block", sent)["result"] == {}
    [(topic, payload)] = main.happened
    assert (topic, unpacked(payload, Broadcast)) == (BROADCAST_BLOCK, Broadcast(BLOCK))


@pytest.mark.parametrize(
    ("method", "sent"),
    [
        ("broadcast_transaction", as_json(transfer())),
        ("broadcast_transaction_synchronous", as_json(transfer())),
        ("broadcast_block", json.loads(codec_of(Block).to_json(codec_of(Block).decode(BLOCK)))),
    ],
)
def test_the_main_process_is_told_what_to_charge(method: str, sent: object) -> None:
    main = Main(packed_topic(Inclusion(8, EXPIRATION - 3, (transfer().id,))))
    asyncio.run(later(main, method, sent, asker=Asker("203.0.113.1", "203.0.113.1 port 7")).first())
    assert unpacked(main.happened[-1][1], Broadcast).share == "203.0.113.1 port 7"


def test_a_waiting_client_is_subscribed_first_and_gets_the_place_of_the_transaction() -> None:
    other, own = bytes(20), transfer().id
    main = Main(
        packed_topic(Inclusion(7, EXPIRATION - 6, (other,))), packed_topic(Inclusion(8, EXPIRATION - 3, (other, own)))
    )
    result = answer(main, "broadcast_transaction_synchronous", as_json(transfer()))["result"]
    assert list(result.items()) == [("id", own.hex()), ("block_num", 8), ("trx_num", 1), ("expired", False)]
    assert [topic for topic, _ in main.happened] == [f"listen: {INCLUDED}", BROADCAST_TRANSACTION]


def test_a_client_that_waits_until_the_expiration_is_told_so() -> None:
    main = Main(packed_topic(Inclusion(7, EXPIRATION, ())), packed_topic(Inclusion(8, EXPIRATION + 1, ())))
    result = answer(main, "broadcast_transaction_synchronous", as_json(transfer()))["result"]
    assert result == {"id": transfer().id.hex(), "block_num": 8, "trx_num": -1, "expired": True}


def test_whoever_waits_for_a_node_that_stops_is_told() -> None:
    error = answer(Main(), "broadcast_transaction_synchronous", as_json(transfer()))["error"]
    assert error == {"code": -32000, "message": "The node stops before the transaction is confirmed"}


@pytest.mark.parametrize(("given", "sent"), [(30, 30), (-1, -1), (0xFFFFFFFF, -1), (0x80000000, -(1 << 31))])
def test_the_largest_age_of_the_head_is_sent_with_its_sign(given: int, sent: int) -> None:
    main = Main(packed_topic(Inclusion(7, EXPIRATION, (transfer().id,))))
    answer(main, "broadcast_transaction_synchronous", as_json(transfer()), given)
    assert unpacked(main.happened[1][1], Broadcast).max_block_age == sent


def test_the_callback_is_not_looked_at_and_the_transaction_is() -> None:
    main = Main(packed_topic(Inclusion(7, EXPIRATION, (transfer().id,))))
    result = answer(main, "broadcast_transaction_with_callback", {"any": "thing"}, as_json(transfer()))["result"]
    assert result["block_num"] == 7
    unsound = Main()
    error = answer(unsound, "broadcast_transaction_with_callback", None, as_json(transfer(0)))["error"]
    assert (error["code"], unsound.happened) == (-32003, [])


def test_a_subscriber_to_blocks_is_sent_each_of_them_whole() -> None:
    async def heard() -> list[bytes]:
        main = Main(BLOCK, BLOCK)
        subscription = later(main, "set_block_applied_callback", 0, api="database_api")
        texts = [make() async for make in subscription.answers]
        assert main.happened == [(f"listen: {APPLIED_BLOCK}", b"")]
        return texts

    block = codec_of(Block).to_json(codec_of(Block).decode(BLOCK))
    assert asyncio.run(heard()) == [f'{{"jsonrpc":"2.0","result":{block},"id":1}}'.encode()] * 2


def test_a_block_is_printed_once_for_all_its_subscribers() -> None:
    async def heard() -> set[bytes]:
        texts = set()
        for _ in range(200):
            async for make in later(Main(BLOCK), "set_block_applied_callback", 0, api="database_api").answers:
                texts.add(make())
        return texts

    blocks.text_of.cache_clear()
    assert len(asyncio.run(heard())) == 1
    assert (blocks.text_of.cache_info().misses, blocks.text_of.cache_info().hits) == (1, 199)


@pytest.mark.parametrize(("network", "intervals"), [(MAINNET, 28), (TESTNET, 60)])
def test_keys_that_are_left_out_take_the_defaults_of_the_network(network: ChainParameters, intervals: int) -> None:
    main = Main()
    operation = ["versioned_chain_properties_update", {"owner": "alice", "props": [3, {}]}]
    asyncio.run(later(main, "broadcast_transaction", {"operations": [operation]}, network=network).first())
    sent = codec_of(Transaction).decode(unpacked(main.happened[0][1], Broadcast).packed).operations[0]
    assert isinstance(sent, VersionedChainPropertiesUpdate)
    assert isinstance(sent.props, ChainPropertiesHf9)
    assert sent.props.withdraw_intervals == intervals
