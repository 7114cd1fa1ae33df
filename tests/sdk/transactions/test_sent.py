"""Sent and followed: whatever answers are lost, a transaction is carried out once, and no outcome is guessed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.sdk.errors import Duplicate, Expired, InsufficientFunds, NodeUnavailable, UnknownMethod, WrongAnswer
from ledgerd.sdk.keys.keyring import KeyRing
from ledgerd.sdk.transactions.builder import TransactionBuilder
from ledgerd.sdk.transactions.errors import OutcomeUnknown
from ledgerd.sdk.transactions.prepared import PreparedTransaction
from ledgerd.sdk.transactions.search import TransactionState
from ledgerd.sdk.transactions.sent import SentTransaction
from tests.sdk.transactions.scripted import ACTIVE, ScriptedChain, id_of

KEYS = KeyRing(ACTIVE)
LIFETIME = 30.0


def prepared(chain: ScriptedChain) -> PreparedTransaction:
    builder = TransactionBuilder(chain, KEYS, lifetime=LIFETIME, waiting=chain.waiting)
    made = asyncio.run(builder.transfer("alice", "bob", "1.000 VIZ").prepare())
    chain.asked.clear()
    return made


def sent(chain: ScriptedChain) -> SentTransaction:
    return asyncio.run(prepared(chain).send())


def test_it_is_sent_once_and_followed_until_it_is_irreversible() -> None:
    chain = ScriptedChain()
    following = sent(chain)

    assert asyncio.run(following.state()) == TransactionState("pending")
    assert asyncio.run(following.in_block()) == 101
    assert asyncio.run(following.state()) == TransactionState("in a block", 101)
    assert asyncio.run(following.irreversible()) == 101
    assert chain.head == 111
    assert chain.count("broadcast_transaction") == 1
    assert chain.carried_out() == [following.id]


def test_to_send_it_again_does_nothing_where_a_node_has_it() -> None:
    chain = ScriptedChain()
    following = sent(chain)
    asyncio.run(following.send())
    chain.grow()
    asyncio.run(following.send())

    assert chain.carried_out() == [following.id]
    assert chain.count("broadcast_transaction") == 2  # not when it was seen in a block
    assert chain.elapsed == 0


def test_an_equal_transaction_of_another_program_does_not_pass_for_this_one() -> None:
    chain = ScriptedChain()
    made = prepared(chain)
    asyncio.run(made.send())
    following = SentTransaction(chain, made._draft, chain.waiting, may_be_sent=False)  # noqa: SLF001 - as if it were new
    with pytest.raises(Duplicate):
        asyncio.run(following.send())

    assert [method for method, _ in chain.asked] == ["broadcast_transaction"] * 2


@pytest.mark.parametrize("way", ["request", "answer"])
def test_after_a_lost_answer_the_chain_is_looked_through_before_it_is_sent_again(way: str) -> None:
    chain = ScriptedChain()
    made = prepared(chain)
    chain.lost = {0: way}
    following = asyncio.run(made.send())

    methods = [method for method, _ in chain.asked]
    again = methods.index("broadcast_transaction", 1) if methods.count("broadcast_transaction") > 1 else len(methods)
    assert methods[:2] == ["broadcast_transaction", "get_dynamic_global_properties"]
    assert "get_block" in methods[:again]
    assert asyncio.run(following.irreversible()) == 101
    assert chain.carried_out() == [following.id]


@given(st.dictionaries(st.integers(0, 60), st.sampled_from(["request", "answer"]), max_size=40), st.booleans())
def test_wherever_answers_are_lost_it_is_carried_out_once_or_said_to_have_expired(
    lost: dict[int, str], swallows: bool
) -> None:
    chain = ScriptedChain()
    made = prepared(chain)
    chain.lost, chain.swallows = lost, swallows

    async def send_until_known() -> int | None:
        while True:
            try:
                following = await made.send()
                return await following.irreversible()
            except Expired:
                return None
            except OutcomeUnknown:
                continue  # as whoever is told so does: the same one again

    block = asyncio.run(send_until_known())
    if block is None:
        assert chain.carried_out() == []
        assert chain.time_of(chain.head - 10) > made.expiration.timestamp()
    else:
        assert chain.carried_out() == [made.id]
        assert block in chain.blocks


def test_the_same_after_the_program_was_started_again() -> None:
    chain = ScriptedChain()
    made = prepared(chain)
    chain.lost = dict.fromkeys(range(500), "answer")
    text = made.to_text()
    with pytest.raises(OutcomeUnknown, match="is not known yet: the connection was cut before the answer"):
        asyncio.run(made.send())
    chain.lost = {}
    again = PreparedTransaction.from_text(text, chain, waiting=chain.waiting)
    following = asyncio.run(again.send())

    assert again.id == made.id
    assert asyncio.run(following.in_block()) == 101
    assert chain.count("broadcast_transaction") == 1
    assert chain.carried_out() == [made.id]


def test_a_rejection_at_first_is_an_error_at_once_and_it_may_be_sent_later() -> None:
    chain = ScriptedChain()
    made = prepared(chain)

    def refuse(_: object) -> object:
        raise InsufficientFunds("Account does not have sufficient funds for transfer.")

    chain.extra["broadcast_transaction"] = refuse
    with pytest.raises(InsufficientFunds):
        asyncio.run(made.send())
    assert [method for method, _ in chain.asked] == ["broadcast_transaction"]
    chain.extra.clear()
    assert asyncio.run(asyncio.run(made.send()).in_block()) == 101


def test_a_rejection_after_a_lost_answer_proves_nothing() -> None:
    """The funds may be gone because the transaction has moved them already."""
    chain = ScriptedChain()
    made = prepared(chain)

    def refuse(_: object) -> object:
        raise InsufficientFunds("Account does not have sufficient funds for transfer.")

    usual = chain.call

    async def call(api: str, method: str, params: Any, result: Any, *, repeatable: bool = True) -> Any:
        try:
            return await usual(api, method, params, result, repeatable=repeatable)
        finally:
            chain.extra["broadcast_transaction"] = refuse

    chain.call = call  # type: ignore[method-assign]
    chain.lost = {0: "answer"}
    chain.makes_blocks_of_pending = False
    chain.at_pause = {3: lambda: setattr(chain, "makes_blocks_of_pending", True)}
    asyncio.run(made.send())

    assert chain.count("broadcast_transaction") > 1
    assert chain.carried_out() == [made.id]


def test_it_has_expired_only_when_no_block_can_have_it_any_more() -> None:
    chain = ScriptedChain()
    made = prepared(chain)
    chain.lost = {0: "request"}
    chain.extra["broadcast_transaction"] = lambda _: {}  # swallowed
    following = asyncio.run(made.send())
    with pytest.raises(Expired, match="has expired and is in no block"):
        asyncio.run(following.in_block())

    assert chain.time_of(chain.head - 10) > made.expiration.timestamp()
    with pytest.raises(Expired):
        asyncio.run(following.send())
    with pytest.raises(Expired):
        asyncio.run(made.send())
    assert chain.carried_out() == []


def test_one_that_another_branch_brings_late_is_found() -> None:
    chain = ScriptedChain()
    chain.makes_blocks_of_pending = False
    following = sent(chain)
    (transaction,) = chain.pending

    def bring() -> None:
        chain.blocks[105] = [transaction]

    chain.at_pause = {15: bring}
    with pytest.raises(OutcomeUnknown):
        asyncio.run(following.in_block(45))  # past its expiration, which is not irreversible yet
    assert asyncio.run(following.irreversible()) == 105


def test_a_block_that_is_undone_does_not_count() -> None:
    chain = ScriptedChain()
    following = sent(chain)
    chain.at_pause = {3: lambda: chain.undo(101)}

    assert asyncio.run(following.in_block()) == 101
    assert asyncio.run(following.irreversible()) == 104
    assert chain.carried_out() == [following.id]


@pytest.mark.parametrize("problem", [NodeUnavailable("gone"), WrongAnswer("a page")])
def test_a_node_that_stays_silent_leaves_it_unknown(problem: Exception) -> None:
    chain = ScriptedChain()
    following = sent(chain)

    def fail() -> object:
        raise problem

    chain.extra["get_dynamic_global_properties"] = fail
    with pytest.raises(OutcomeUnknown, match=f"{following.id} is not known yet: {problem}"):
        asyncio.run(following.in_block(30))
    assert chain.elapsed == 30


def test_a_node_that_cannot_tell_of_blocks_is_not_waited_for() -> None:
    chain = ScriptedChain()
    following = sent(chain)

    def fail(_: object) -> object:
        raise UnknownMethod("Could not find method get_block")

    chain.extra["get_block"] = fail
    with pytest.raises(OutcomeUnknown, match="Could not find method get_block"):
        asyncio.run(following.in_block())
    assert chain.elapsed == 0


def test_a_node_that_lags_behind_does_not_confuse_the_search() -> None:
    chain = ScriptedChain()
    following = sent(chain)
    assert asyncio.run(following.in_block()) == 101
    usual, head = chain.call, chain.head

    async def lagging(api: str, method: str, params: Any, result: Any, *, repeatable: bool = True) -> Any:
        chain.head = 99
        try:
            return await usual(api, method, params, result, repeatable=repeatable)
        finally:
            chain.head = head

    chain.call = lagging  # type: ignore[method-assign]
    with pytest.raises(WrongAnswer, match="does not have block 101"):
        asyncio.run(following.state())
    chain.call = usual  # type: ignore[method-assign]
    assert asyncio.run(following.irreversible()) == 101


def test_sends_at_the_same_time_are_one_transaction() -> None:
    chain = ScriptedChain()
    made = prepared(chain)

    async def at_once() -> list[int]:
        following = [await made.send(), await made.send()]
        await asyncio.gather(*(each.send() for each in following))
        return await asyncio.gather(*(each.irreversible() for each in (*following, following[0])))

    assert asyncio.run(at_once()) == [101, 101, 101]
    assert chain.carried_out() == [made.id]


@pytest.mark.parametrize("windows", [-1, 1])
def test_a_text_that_names_another_reference_block_does_not_hide_the_transaction(windows: int) -> None:
    """Who co-signs could make the sender believe that it has expired, and pay again."""
    chain = ScriptedChain()
    chain.head = 70_100
    made = prepared(chain)
    sent_already = asyncio.run(made.send())
    assert asyncio.run(sent_already.in_block()) == 70_101
    told = json.loads(made.to_text())
    told["reference_block"] += windows * 65_536
    lying = PreparedTransaction.from_text(json.dumps(told), chain, waiting=chain.waiting)

    chain.grow(2_000)
    if windows == 1:
        assert asyncio.run(lying.following().state()) == TransactionState("pending")
        chain.grow(64_000)
    assert asyncio.run(lying.following().irreversible()) == 70_101
    assert chain.count("get_block") < 25_000


NO_BLOCKS: list[Any] = [7, [], {}, "x", [None], {"previous": 1}, {"transactions": {}}, {"previous": id_of(3)}]
NO_STANDING: list[Any] = [7, [], {}, "x", {"head_block_number": "x"}]


@pytest.mark.parametrize(
    ("method", "answer"),
    [*(("get_block", each) for each in NO_BLOCKS), *(("get_dynamic_global_properties", each) for each in NO_STANDING)],
)
def test_what_is_no_block_or_another_one_proves_nothing(method: str, answer: Any) -> None:
    chain = ScriptedChain()
    following = sent(chain)
    chain.extra[method] = lambda *_: answer
    with pytest.raises(WrongAnswer):
        asyncio.run(following.state())
    with pytest.raises(OutcomeUnknown):
        asyncio.run(following.irreversible())
