"""The line of a block of a development chain."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from ledgerd.node.dev.development import content_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from tests.chain.networks import ALICE, BOB


def block_of(*transactions: tuple[object, ...]) -> Block:
    made: Any = SimpleNamespace(transactions=[SimpleNamespace(operations=each) for each in transactions])
    return cast("Block", made)


def test_a_line_counts_transactions_and_names_operations() -> None:
    transfer = Transfer(ALICE, BOB, tokens(1), "")

    assert content_of(block_of()) == "empty"
    assert content_of(block_of((transfer,))) == "1 transaction (transfer)"
    assert content_of(block_of((transfer, transfer), (transfer,))) == "2 transactions (3 transfer)"
