"""Transactions that clients have tried out: what they are told, and how much of the chain's time each of them has."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import pytest
from msgspec.structs import replace

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.ledger import OutOfTime
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.clients.simulations import (
    ALL_SECONDS,
    MOST_BYTES,
    MOST_SIGNATURES,
    OFF,
    SECONDS,
    SECONDS_A_SECOND,
    SPENT,
    TOO_LARGE,
    TOO_LONG,
    Simulations,
)
from ledgerd.node.time_source import TimeSource
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.rpc.call.errors import PlainError
from ledgerd.rpc.link.topics import Broadcast, packed_topic
from tests.chain.networks import COMMITTEE, VIZ, Network
from tests.chain.senders import OnThisThread

COST = 0.03
"""Seconds that each one takes here."""


class PassingTime(TimeSource):
    """Each look at the chain's time is a while later."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000.0

    def seconds(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> PassingTime:
    """Time passes while a transaction is tried."""
    time, tried = PassingTime(), Chain.simulate_transaction

    def slowly(chain: Chain, transaction: Transaction) -> Any:
        time.now += COST
        return tried(chain, transaction)

    monkeypatch.setattr(Chain, "simulate_transaction", slowly)
    return time


def simulations(network: Network, time: TimeSource, *, is_on: bool = True) -> Simulations:
    return Simulations(cast("ChainPart", OnThisThread(network.chain)), time, timeout=0, is_on=is_on)


def draft(network: Network, amount: int = 1, memo: str = "") -> Transaction:
    chain = network.chain
    pay = Transfer(VIZ, COMMITTEE, tokens(amount), memo)
    return unsigned_transaction(chain.head_id, chain.head_time + 600, (pay,))


def asked(part: Simulations, transaction: Transaction, share: str = "203.0.113.1") -> dict[str, Any]:
    answer = asyncio.run(part.simulate(packed_topic(Broadcast(transaction.packed, share=share))))
    found: dict[str, Any] = json.loads(answer)
    return found


def refusal(part: Simulations, transaction: Transaction, share: str = "203.0.113.1") -> str:
    try:
        asked(part, transaction, share)
    except PlainError as refused:
        return refused.message
    return ""


def test_what_would_happen_is_told(network: Network, time: PassingTime) -> None:
    told = asked(simulations(network, time), draft(network, 1_000))
    head = network.chain.head_number

    assert told["head_block_number"] == head
    assert "broken_rule" not in told
    assert told["authorities_not_checked"] == [{"role": "active", "account": "viz"}]
    assert told["operations"][0]["operation"][0] == "transfer"
    assert told["operations"][0]["virtual"] is False
    changed = {each["account"]: each for each in told["balances"]}
    assert changed["committee"]["balance_before"] == "0.000 VIZ"
    assert changed["committee"]["balance_after"] == "1.000 VIZ"
    assert network.chain.waiting == ()


def test_a_broken_rule_is_an_answer(network: Network, time: PassingTime) -> None:
    told = asked(simulations(network, time), draft(network, 10**15))

    assert "sufficient funds" in told["broken_rule"]["message"]
    assert (told["operations"], told["balances"]) == ([], [])


def test_an_address_has_a_hundredth_of_the_time(network: Network, time: PassingTime) -> None:
    part, transaction = simulations(network, time), draft(network)
    answers = [refusal(part, transaction) for _ in range(6)]
    assert answers == [""] * 4 + [SPENT] * 2  # the last one begins with something left
    assert refusal(part, transaction, "203.0.113.2") == ""
    time.now += (4 * COST - SECONDS) / SECONDS_A_SECOND + 0.1
    assert [refusal(part, transaction) for _ in range(2)] == ["", SPENT]


def test_all_addresses_together_have_a_tenth(network: Network, time: PassingTime) -> None:
    part, transaction = simulations(network, time), draft(network)
    answers = [refusal(part, transaction, f"203.0.113.{number}") for number in range(60)]
    assert abs(answers.count("") - ALL_SECONDS / COST) < 6
    assert answers[-1] == SPENT


def test_it_is_answered_only_where_it_is_turned_on(network: Network, time: PassingTime) -> None:
    assert refusal(simulations(network, time, is_on=False), draft(network)) == OFF


def test_what_is_too_large_is_not_tried(network: Network, time: PassingTime) -> None:
    part, transaction = simulations(network, time), draft(network)
    assert refusal(part, draft(network, 1, "x" * MOST_BYTES)) == TOO_LARGE
    signature = network.signed(Transfer(VIZ, COMMITTEE, tokens(1), "")).signatures
    assert refusal(part, replace(transaction, signatures=signature * (MOST_SIGNATURES + 1))) == TOO_LARGE
    assert time.now == PassingTime().now


def test_what_takes_too_long_is_ended(network: Network, time: PassingTime, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_slow(_chain: Chain, _transaction: Transaction) -> None:
        raise OutOfTime

    monkeypatch.setattr(Chain, "simulate_transaction", too_slow)
    assert refusal(simulations(network, time), draft(network)) == TOO_LONG
