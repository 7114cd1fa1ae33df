"""What becomes of a transaction: sent once, found in a block, undone, expired, or not known."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import BlockId, ChainId
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import time_text
from ledgerd.sdk.transactions.draft import Draft
from ledgerd.sdk.transactions.search import TransactionState
from ledgerd.wallet.errors import NodeRefused, NotSent, UnknownOutcome
from ledgerd.wallet.transactions.sending import TransactionFollower, Until
from tests.wallet.nodes import Cut, FakeNode, Fault, asking

NOW = 1_700_000_000
LIFETIME = 30
TRANSFER = Transfer(AccountName("alice"), AccountName("bob"), tokens(1), "")
REFERENCE = BlockId((100).to_bytes(4, "big") + bytes(16))
DRAFT = Draft(ChainId(bytes(32)), unsigned_transaction(REFERENCE, NOW + LIFETIME, [TRANSFER]), 100)


class Chain:
    """Blocks of a node, of which some have the transaction."""

    def __init__(self) -> None:
        self.head = 100
        self.irreversible = 90
        self.with_it: set[int] = set()
        self.sent = 0
        self.node = FakeNode(
            get_config={"CHAIN_ID": "00" * 32},
            get_dynamic_global_properties=self.properties,
            get_block=self.block,
            broadcast_transaction=self.take,
        )

    def properties(self) -> dict[str, Any]:
        return {
            "head_block_id": (self.head.to_bytes(4, "big") + bytes(16)).hex(),
            "head_block_number": self.head,
            "time": time_text(self.time_of(self.head)),
            "last_irreversible_block_num": self.irreversible,
        }

    def time_of(self, number: int) -> int:
        return NOW + 3 * (number - 100)

    def block(self, number: int) -> dict[str, Any]:
        transactions = [json.loads(codec_of(Transaction).to_json(DRAFT.transaction))] if number in self.with_it else []
        return {
            "previous": ((number - 1).to_bytes(4, "big") + bytes(16)).hex(),
            "timestamp": time_text(self.time_of(number)),
            "validator": "viz",
            "transaction_merkle_root": "00" * 20,
            "extensions": [],
            "validator_signature": "00" * 65,
            "transactions": transactions,
        }

    def take(self, _transaction: object) -> dict[str, object]:
        self.sent += 1
        return {}

    def grow(self, blocks: int = 1, behind: int = 10) -> None:
        self.head += blocks
        self.irreversible = self.head - behind


class Time:
    """A clock that moves when somebody waits, and what happens meanwhile."""

    def __init__(self, chain: Chain, events: dict[int, Any] | None = None) -> None:
        self.now = 0.0
        self.pauses = 0
        self.chain = chain
        self.events = events or {}

    def pause(self, seconds: float) -> None:
        self.now += seconds
        self.pauses += 1
        self.events.get(self.pauses, self.chain.grow)()


@contextmanager
def following(chain: Chain, time: Time) -> Iterator[TransactionFollower]:
    with asking(chain.node) as client:
        yield TransactionFollower([client], DRAFT, 60.0, lambda: time.now, time.pause)


def test_it_is_sent_once_and_found_in_its_block() -> None:
    chain = Chain()
    chain.with_it = {103}
    with following(chain, Time(chain)) as follower:
        assert follower.send(Until.IN_BLOCK) == TransactionState("in a block", 103)
        assert follower.send(Until.SENT) == TransactionState("pending")
    assert chain.sent == 2


def test_until_it_is_irreversible() -> None:
    chain = Chain()
    chain.with_it = {103}
    with following(chain, Time(chain)) as follower:
        assert follower.send(Until.IRREVERSIBLE) == TransactionState("irreversible", 103)
    assert chain.irreversible == 103


def test_a_rule_that_it_breaks_is_the_nodes_answer() -> None:
    chain = Chain()

    def refuse(_: object) -> None:
        raise Fault("Account does not have sufficient funds for transfer.")

    chain.node.answers["broadcast_transaction"] = refuse
    with following(chain, Time(chain)) as follower, pytest.raises(NodeRefused, match="sufficient funds"):
        follower.send(Until.IN_BLOCK)


@pytest.mark.parametrize("has_arrived", [True, False])
def test_after_a_lost_answer_it_is_looked_up_and_never_sent_again(has_arrived: bool) -> None:
    chain = Chain()
    chain.with_it = {105} if has_arrived else set()

    def cut(_: object) -> None:
        chain.sent += 1
        raise Cut

    chain.node.answers["broadcast_transaction"] = cut
    with following(chain, Time(chain)) as follower:
        if has_arrived:
            assert follower.send(Until.SENT) == TransactionState("in a block", 105)
        else:
            with pytest.raises(NotSent, match="has expired and is in no block"):
                follower.send(Until.SENT)
    assert chain.sent == 1


def test_it_is_not_sent_only_once_that_is_irreversible() -> None:
    chain = Chain()
    with following(chain, Time(chain)) as follower:
        chain.grow(11)
        assert chain.time_of(chain.head) > DRAFT.transaction.expiration
        assert follower.check() == TransactionState("pending")
        chain.grow(10)
        assert follower.check() == TransactionState("not sent")


def test_a_block_that_is_undone_does_not_count() -> None:
    chain = Chain()
    chain.with_it = {102}

    def switch() -> None:
        chain.with_it = {104}
        chain.grow()

    with following(chain, Time(chain, {4: switch})) as follower:
        assert follower.send(Until.IN_BLOCK) == TransactionState("in a block", 102)
        assert follower.wait(Until.IRREVERSIBLE) == TransactionState("irreversible", 104)


def test_one_that_another_branch_brings_late_is_found() -> None:
    chain = Chain()
    with following(chain, Time(chain)) as follower:
        chain.grow(15)
        assert follower.check() == TransactionState("pending")
        chain.with_it = {105}
        chain.grow(10)
        assert follower.check() == TransactionState("irreversible", 105)


def test_a_node_that_stays_silent_leaves_it_unknown() -> None:
    chain = Chain()

    def cut(*_: object) -> None:
        raise Cut

    chain.node.answers["broadcast_transaction"] = cut
    chain.node.answers["get_dynamic_global_properties"] = cut
    time = Time(chain)
    with following(chain, time) as follower, pytest.raises(UnknownOutcome, match=f"{DRAFT.id} is not known"):
        follower.send(Until.IN_BLOCK)
    assert 60.0 < time.now < 61.0


def test_whoever_does_not_wait_is_told_to_ask_again() -> None:
    chain = Chain()

    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with asking(chain.node) as client, pytest.raises(UnknownOutcome, match="you did not wait; ask again"):
        TransactionFollower([client], DRAFT, 60.0, pause=stop).send(Until.IN_BLOCK)
    assert chain.sent == 1


def test_a_node_that_refuses_questions_after_it_was_sent_leaves_it_unknown() -> None:
    chain = Chain()

    def refuse(*_: object) -> None:
        raise Fault("too many requests")

    chain.node.answers["get_dynamic_global_properties"] = refuse
    with following(chain, Time(chain)) as follower, pytest.raises(UnknownOutcome, match="too many requests"):
        follower.send(Until.IN_BLOCK)


def test_a_node_without_the_block_is_asked_again() -> None:
    chain = Chain()
    chain.with_it = {101}
    usual = chain.node.answers["get_block"]
    chain.node.answers["get_block"] = lambda _: None

    def mend() -> None:
        chain.node.answers["get_block"] = usual

    chain.grow()
    with following(chain, Time(chain, {1: mend})) as follower:
        assert follower.wait(Until.IN_BLOCK) == TransactionState("in a block", 101)


@contextmanager
def following_both(first: Chain, second: Chain) -> Iterator[TransactionFollower]:
    time = Time(first)

    def pause(seconds: float) -> None:
        time.pause(seconds + 4)
        first.grow(4)
        second.grow(5)

    with asking(first.node) as one, asking(second.node) as other:
        yield TransactionFollower([one, other], DRAFT, 30.0, lambda: time.now, pause)


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ({103}, set[int](), "irreversible 103 and not sent"),
        (set[int](), {103}, "not sent and irreversible 103"),
        ({103}, {104}, "irreversible 103 and irreversible 104"),
    ],
)
def test_what_one_of_two_nodes_says_alone_is_not_known(first: set[int], second: set[int], text: str) -> None:
    """The one who lies may say that it is in a block, so that nobody sends it again, or that it never will be."""
    one, other = Chain(), Chain()
    one.with_it, other.with_it = first, second
    with following_both(one, other) as follower, pytest.raises(UnknownOutcome, match=f"the nodes say {text}"):
        follower.send(Until.IN_BLOCK)
    assert (one.sent, other.sent) == (1, 0)


def test_what_two_nodes_say_is_known_when_both_have_come_so_far() -> None:
    one, other = Chain(), Chain()
    one.with_it = other.with_it = {103}
    other.irreversible = 0
    with following_both(one, other) as follower:
        assert follower.send(Until.IN_BLOCK) == TransactionState("in a block", 103)
        assert follower.wait(Until.IRREVERSIBLE) == TransactionState("irreversible", 103)
        assert min(one.irreversible, other.irreversible) >= 103
    for chain in (one, other):
        chain.with_it = set()
    with following_both(one, other) as follower, pytest.raises(NotSent):
        follower.send(Until.IN_BLOCK)
