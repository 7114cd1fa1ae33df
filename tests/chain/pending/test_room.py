"""What waits has a bounded size: of all together, and of each account that has to sign it."""

from __future__ import annotations

import pytest

from ledgerd.chain.pending import room
from ledgerd.chain.pending.room import PendingFull
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import VIZ, VIZ_KEY, Network

PAYER, PAYER_KEY = AccountName("payer"), PrivateKey(b"\1" * 32)
MEMO = "x" * 2_000
ROOM = 3 * len(MEMO)
"""For two of those that are sent here."""


@pytest.fixture
def network(network: Network) -> Network:
    network.create_account(PAYER, PAYER_KEY)
    network.produce()
    return network


def pay(network: Network, amount: int, *, by_payer: bool = False) -> Transaction:
    sender, key = (PAYER, PAYER_KEY) if by_payer else (VIZ, VIZ_KEY)
    return network.send(Transfer(sender, VIZ, tokens(amount), MEMO), key=key)


def test_what_an_account_has_waiting_leaves_room_for_others(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_BYTES_OF_ACCOUNT", ROOM)
    sent = [pay(network, 1), pay(network, 2)]
    with pytest.raises(PendingFull, match="of viz"):
        pay(network, 3)
    sent.append(pay(network, 1, by_payer=True))

    assert network.chain.waiting == tuple(sent)


def test_room_comes_back_with_a_block_and_when_what_waits_is_forgotten(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "MAX_BYTES_OF_ACCOUNT", ROOM)
    for empty in (network.produce, network.chain.forget_waiting):
        for amount in (1, 2):
            pay(network, amount)
        with pytest.raises(PendingFull):
            pay(network, 3)
        empty()
    pay(network, 4)


def test_what_is_not_in_the_block_still_counts(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    block = network.make()
    monkeypatch.setattr(room, "MAX_BYTES_OF_ACCOUNT", ROOM)
    for amount in (1, 2):
        pay(network, amount)
    network.chain.push_block(block).or_raise()

    with pytest.raises(PendingFull):
        pay(network, 3)


def test_a_transaction_that_is_refused_takes_no_room(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_BYTES_OF_ACCOUNT", ROOM)
    for _ in range(5):
        with pytest.raises(Exception, match="sufficient funds"):
            pay(network, 10**12, by_payer=True)
    pay(network, 1, by_payer=True)


@pytest.mark.parametrize(("bound", "most"), [("MAX_PENDING_BYTES", ROOM), ("MAX_PENDING", 2)])
def test_all_together_have_a_bound_too(
    network: Network, monkeypatch: pytest.MonkeyPatch, bound: str, most: int
) -> None:
    monkeypatch.setattr(room, bound, most)
    for amount in (1, 2):
        pay(network, amount)
    with pytest.raises(PendingFull, match=f"{most}"):
        pay(network, 1, by_payer=True)
