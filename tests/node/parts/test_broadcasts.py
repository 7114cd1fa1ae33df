"""What clients broadcast, and what all of them together may cost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from ledgerd.node.parts.broadcasts import CLIENT_SIGNATURES, LOCKED, Broadcasts
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.time_source import MICRO, TimeSource
from ledgerd.protocol.assets import tokens
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.identifiers import BlockId
from ledgerd.protocol.operations.transfers import Transfer
from ledgerd.protocol.transaction import Transaction
from ledgerd.rpc.call.errors import PlainError
from ledgerd.rpc.link.topics import Broadcast, packed_topic
from tests.chain.forks.branches import forged
from tests.chain.networks import VIZ, Network
from tests.chain.senders import OnThisThread


class StandingTime(TimeSource):
    """A clock that stands at the head."""

    def __init__(self, seconds: int) -> None:
        super().__init__()
        self._now = seconds * MICRO

    def wall(self) -> int:
        return self._now


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    network = Network(tmp_path)
    network.start()
    yield network
    network.chain.close()


def broadcasts_of(network: Network) -> Broadcasts:
    part = cast("ChainPart", OnThisThread(network.chain))
    return Broadcasts(part, StandingTime(network.chain.head_time), patience=0)


def send(broadcasts: Broadcasts, transaction: Transaction) -> None:
    asyncio.run(broadcasts.transaction(packed_topic(Broadcast(transaction.packed, -1))))


def payment(network: Network, amount: int) -> Transaction:
    return network.signed(Transfer(VIZ, VIZ, tokens(amount), ""))


def test_a_transaction_of_a_client_is_taken_in(network: Network) -> None:
    transaction = payment(network, 1)
    send(broadcasts_of(network), transaction)
    assert transaction in network.chain.waiting


def test_clients_have_so_many_signatures_together(network: Network) -> None:
    broadcasts, signed = broadcasts_of(network), payment(network, 1)
    dear = replace(signed, signatures=signed.signatures * 16)
    answers = []
    for _ in range(CLIENT_SIGNATURES // 16 + 5):
        try:
            send(broadcasts, dear)
        except (PlainError, RuleViolation) as problem:
            answers.append(str(problem))
    assert answers[0] != LOCKED
    assert answers[-1] == LOCKED
    honest = payment(network, 2)
    send(broadcasts, honest)
    assert honest in network.chain.waiting


def test_blocks_of_clients_that_nobody_signed_are_kept_in_small_number(network: Network) -> None:
    network.produce(1)
    broadcasts, chain = broadcasts_of(network), network.chain
    refused = 0
    for place in range(10_000):
        parent = BlockId((chain.head_number + 20).to_bytes(4, "big") + place.to_bytes(16, "big"))
        try:
            asyncio.run(broadcasts.block(forged(parent, chain.head_time, VIZ).packed))
        except PlainError:
            refused += 1
            break
    assert refused
    assert chain.parts.forks.unlinked_bytes <= (1 << 20) + 1_000
