"""What a node says a transaction would do, and what is made of an answer that cannot be right."""

from __future__ import annotations

from typing import Any

import pytest

from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.amounts import Viz
from ledgerd.sdk.transactions.dry_run import BalanceStep, DryRun
from ledgerd.wallet.errors import NodeUnreachable
from ledgerd.wallet.node.client import dry_run
from tests.wallet.nodes import FakeNode, Fault, asking

PAY = Transfer(AccountName("alice"), AccountName("bob"), tokens(1), "")
TRANSACTION = Transaction(1, 2, 3, (PAY,), (), ())
VIRTUAL = ["shutdown_validator", {"owner": "alice"}]
BALANCES = {
    "account": "bob",
    "balance_before": "1.000 VIZ",
    "balance_after": "1.001 VIZ",
    "vesting_shares_before": "1.000000 SHARES",
    "vesting_shares_after": "1.000000 SHARES",
}
TOLD: dict[str, Any] = {
    "head_block_number": 7,
    "authorities_not_checked": [],
    "operations": [
        {"virtual": False, "operation": ["transfer", {}]},
        {"virtual": True, "operation": VIRTUAL},
    ],
    "balances": [BALANCES],
}


def asked(answer: object) -> DryRun:
    node = FakeNode(simulate_transaction=answer)
    with asking(node) as client:
        found = dry_run(client, TRANSACTION)
    assert node.asked[0][1][0]["signatures"] == []
    return found


def test_balances_that_change_and_virtual_operations_are_told() -> None:
    assert asked(TOLD) == DryRun(
        balances=(BalanceStep("bob", Viz("1.000 VIZ"), Viz("1.001 VIZ")),), virtual_operations=(VIRTUAL,)
    )


def test_the_rule_that_would_be_broken_is_told() -> None:
    broken = {**TOLD, "broken_rule": {"code": 10, "name": "assert_exception", "message": "no funds\n"}}
    assert asked(broken) == DryRun(broken_rule="no funds")


def test_a_node_that_does_not_try_it_out_says_why() -> None:
    def off(*_: object) -> object:
        raise Fault("it is off")

    assert asked(off) == DryRun(not_told="it is off")


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        {},
        {**TOLD, "balances": [{**BALANCES, "balance_after": "much"}]},
        {**TOLD, "balances": [{**BALANCES, "balance_after": "1.001 V\x1bZ"}]},
        {**TOLD, "operations": [{"virtual": True, "operation": ["transfer", 1]}]},
        {"broken_rule": None},
    ],
)
def test_an_answer_that_cannot_be_right_is_none(answer: object) -> None:
    with pytest.raises(NodeUnreachable, match="does not answer as a node does"):
        asked(answer)
