"""What a transaction costs: fees, and bandwidth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.constants import BANDWIDTH_PRECISION
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.operations.validators import ValidatorUpdate
from ledgerd.protocol.properties import VersionedChainProperties
from ledgerd.protocol.types.assets import Asset, shares, tokens
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import time_text
from ledgerd.wallet.errors import NodeUnreachable
from ledgerd.wallet.node.ledger import LedgerReader
from ledgerd.wallet.transactions.costs import bandwidth_lines, fees_of
from tests.recorded import recorded_result
from tests.wallet.commands.test_sending import account
from tests.wallet.nodes import FakeNode, asking

VALIDATOR: Operation = ValidatorUpdate(AccountName("alice"), "", NULL_KEY)


def test_a_recorded_fee_is_told() -> None:
    properties = json.loads(recorded_result("open-main15/api-1216", "get_chain_properties"))

    assert list(fees_of((VALIDATOR,), properties)) == [
        f"{properties['validator_declaration_fee']} (the first time): validator_declaration_fee"
    ]
    assert list(fees_of((VALIDATOR,), {})) == []


def test_the_fees_are_properties_that_validators_vote_on() -> None:
    known = {name for each in VersionedChainProperties.__args__[0].__args__ for name in each.__struct_fields__}

    assert {each.FEE.property for each in OPERATIONS if each.FEE} <= known


NOW, WEEK = 1_700_000_000, 604_800
ALICE, BOB = AccountName("alice"), AccountName("bob")
TRANSFER = unsigned_transaction(BlockId(bytes(20)), NOW, [Transfer(ALICE, BOB, tokens(1), "")])
NOTES = unsigned_transaction(BlockId(bytes(20)), NOW, [Custom((), (ALICE,), "notes", "{}")])


def text(amount: Asset) -> Any:
    return json.loads(codec_of(Asset).to_json(amount))


def node(use: Mapping[str, object] | None = None, **more: object) -> FakeNode:
    """Of a chain with 1,000 shares, of which alice has 100 and may use 90 of 1,000 parts."""
    told = {
        "vesting_shares": text(shares(70_000_000)),
        "received_vesting_shares": text(shares(40_000_000)),
        "delegated_vesting_shares": text(shares(10_000_000)),
        "average_bandwidth": 1_000 * BANDWIDTH_PRECISION,
        "last_bandwidth_update": time_text(NOW - WEEK // 2),
    }
    return FakeNode(
        lookup_account_names=lambda names: [account(each) | told | dict(use or {}) for each in names],
        get_dynamic_global_properties={
            "total_vesting_shares": text(shares(1_000_000_000)),
            "max_virtual_bandwidth": str(100_000 * BANDWIDTH_PRECISION),
            "bandwidth_reserve_candidates": 10,
        }
        | more,
        get_chain_properties={
            "bandwidth_reserve_percent": 1_000,
            "bandwidth_reserve_below": text(shares(5_000_000)),
            "data_operations_cost_additional_bandwidth": 5_000,
        },
        get_config={"CHAIN_BANDWIDTH_AVERAGE_WINDOW_SECONDS": WEEK},
    )


def lines(told: FakeNode, transaction: Transaction = TRANSFER, now: int = NOW) -> list[str]:
    with asking(told) as client:
        return list(bandwidth_lines(transaction, 1, LedgerReader(client), now))


def test_half_of_what_was_sent_is_left_after_half_of_the_window() -> None:
    size = len(TRANSFER.packed) + 65
    part = (500 + size) * 10_000 // 9_000 / 100
    assert lines(node()) == [
        f"alice uses {size} bytes; with what it has sent before, {part:.2f} % of what it may send in 7 days"
    ]
    later = f"alice uses {size} bytes; with what it has sent before, {size * 10_000 // 9_000 / 100:.2f} %"
    assert lines(node(), now=NOW + WEEK)[0].startswith(later)


def test_data_takes_more_and_accounts_with_few_shares_have_a_part_of_the_reserve() -> None:
    size = len(NOTES.packed) + 65
    assert lines(node(), NOTES)[0].startswith(f"alice uses {size + size // 2} bytes")
    few = {"vesting_shares": text(shares(0)), "received_vesting_shares": text(shares(10_000_000))}
    whole = len(TRANSFER.packed) + 65
    assert f"{(500 + whole) * 10_000 // 1_000 / 100:.2f} %" in lines(node(few))[0]


def test_too_much_and_next_to_nothing_are_said() -> None:
    assert "100 % or more" in lines(node(max_virtual_bandwidth=str(BANDWIDTH_PRECISION)))[0]
    unused = {"average_bandwidth": 0}
    assert "less than 0.01 %" in lines(node(unused, max_virtual_bandwidth=str(10**9 * BANDWIDTH_PRECISION)))[0]


def test_without_what_it_takes_nothing_is_said_and_nonsense_is_no_node() -> None:
    silent = node()
    silent.answers["get_dynamic_global_properties"] = {}
    assert lines(silent) == []
    for broken in ({"total_vesting_shares": text(shares(0))}, {"max_virtual_bandwidth": "much"}):
        with pytest.raises(NodeUnreachable):
            lines(node(**broken))
