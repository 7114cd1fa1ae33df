"""Transactions whose bytes are settled: signed apart, taken from one program to another, and tried out."""

from __future__ import annotations

import asyncio
import json

import pytest

from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.sdk import Client
from ledgerd.sdk.amounts import Viz
from ledgerd.sdk.errors import WrongAnswer, WrongChain
from ledgerd.sdk.keys.keyring import KeyRing
from ledgerd.sdk.transactions.errors import (
    ForeignDraft,
)
from ledgerd.sdk.transactions.prepared import PreparedTransaction
from tests.sdk.transactions.scripted import (
    ACTIVE,
    FRIEND,
    STRANGER,
    ScriptedChain,
    authority,
    builder,
    prepared,
)


def test_two_of_three_sign_on_different_machines() -> None:
    chain = ScriptedChain()
    chain.accounts["shared"] = (authority(2, {}, ACTIVE, FRIEND, STRANGER),) * 3

    async def first() -> str:
        async with builder(chain, ACTIVE) as t:
            t.transfer("shared", "bob", "1.000 VIZ")
            return await t.export()

    text = asyncio.run(first())
    assert chain.count("broadcast_transaction") == 0
    offline = PreparedTransaction.from_text(text)
    assert str(offline.missing) == "signatures of the active authority of shared are missing"
    with pytest.raises(TypeError, match="without a client"):
        asyncio.run(offline.send())
    both = offline.signed(KeyRing(FRIEND, STRANGER, ACTIVE))
    assert both.missing is None
    assert len(both.signed_by) == 2
    assert offline.id == both.id
    for key in (ACTIVE, FRIEND, STRANGER):
        assert key.secret.hex() not in both.to_text()
        assert key.wif not in both.to_text()

    again = PreparedTransaction.from_text(both.to_text(), chain, waiting=chain.waiting)
    assert asyncio.run(asyncio.run(again.send()).in_block()) == 101


@pytest.mark.parametrize(
    ("field", "value"), [("id", "00" * 20), ("transaction", "00"), ("chain_id", "00"), ("format", "2"), ("more", 1)]
)
def test_a_text_that_was_changed_is_refused(field: str, value: object) -> None:
    text = prepared(builder(ScriptedChain(), ACTIVE).transfer("alice", "bob", "1.000 VIZ")).to_text()
    with pytest.raises(ForeignDraft, match="the text "):
        PreparedTransaction.from_text(json.dumps({**json.loads(text), field: value}))


@pytest.mark.parametrize("text", ["", "[]", "{}", "\ud800", b"\xff"])
def test_a_text_of_something_else_is_refused(text: str | bytes) -> None:
    with pytest.raises(ForeignDraft, match="is no transaction"):
        PreparedTransaction.from_text(text)


def test_a_dry_run_tells_what_would_change_where_the_node_has_it() -> None:
    chain = ScriptedChain()
    step = {"account": "bob", "balance_before": "1.000 VIZ", "balance_after": "2.000 VIZ"}
    same = {"vesting_shares_before": "1.000000 SHARES", "vesting_shares_after": "1.000000 SHARES"}
    chain.extra["simulate_transaction"] = lambda _: {"operations": [], "balances": [step | same]}
    found = asyncio.run(builder(chain, ACTIVE).transfer("alice", "bob", "1.000 VIZ").simulate())

    ((account, before, after),) = [(each.account, each.before, each.after) for each in found.balances]
    assert (account, before, after) == ("bob", Viz("1"), Viz("2"))
    assert chain.count("broadcast_transaction") == 0


def test_a_dry_run_at_a_node_without_it_checks_the_signatures() -> None:
    chain = ScriptedChain()
    chain.extra["verify_authority"] = lambda _: True
    found = asyncio.run(builder(chain, ACTIVE).transfer("alice", "bob", "1.000 VIZ").simulate())
    assert found.not_told.endswith("Could not find method simulate_transaction")
    assert found.broken_rule == ""
    assert asyncio.run(builder(chain).transfer("alice", "bob", "1.000 VIZ").simulate()).broken_rule == (
        "signatures of the active authority of alice are missing"
    )


@pytest.mark.parametrize("answer", [{}, {"operations": 1, "balances": []}, {"operations": [], "balances": [{}]}])
def test_a_dry_run_of_another_form_is_a_wrong_answer(answer: object) -> None:
    chain = ScriptedChain()
    chain.extra["simulate_transaction"] = lambda _: answer
    with pytest.raises(WrongAnswer):
        asyncio.run(builder(chain, ACTIVE).transfer("alice", "bob", "1.000 VIZ").simulate())


def test_a_text_for_another_chain_than_the_one_that_is_meant_is_refused() -> None:
    text = prepared(builder(ScriptedChain(), ACTIVE).transfer("alice", "bob", "1.000 VIZ")).to_text()

    assert PreparedTransaction.from_text(text, chain_id=TESTNET.chain_id).missing is None
    with pytest.raises(WrongChain) as wrong:
        PreparedTransaction.from_text(text, chain_id=bytes(32))
    with pytest.raises(WrongChain):
        Client("http://127.0.0.1:1", chain=bytes(32)).prepared(text)
    assert Client("http://127.0.0.1:1").prepared(text).missing is None
    assert (wrong.value.expected, wrong.value.found) == ("00" * 32, TESTNET.chain_id.hex())
