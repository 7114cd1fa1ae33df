"""How a proposal's trial and its execution number what is reported (spec 02, section 18.1)."""

from __future__ import annotations

import msgspec
import pytest

from ledgerd.chain.ledger.events import NO_TRANSACTION
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.transactions.proposals import UNCHECKED_IN_TRIALS
from ledgerd.chain.rules.transactions.transactions import apply_transaction
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.money.paid_subscriptions import PaidSubscribe, SetPaidSubscription
from ledgerd.protocol.types.assets import tokens
from tests.chain.ledgers import ALICE, BOB, NOW, carry_out, create_account, refuses
from tests.chain.proposing import active, find, pays, proposal

SUBSCRIBE = PaidSubscribe(BOB, ALICE, 1, tokens(1), 1, True)
"""Causes a virtual operation."""


@pytest.fixture
def ledger(ledger: Ledger) -> Ledger:
    create_account(ledger, ALICE, balance=100_000)
    create_account(ledger, BOB, balance=100)
    carry_out(ledger, SetPaidSubscription(ALICE, "", 1, tokens(1), 1))
    return ledger


def numbering(ledger: Ledger, *operations: Operation) -> list[tuple[bool, int, int]]:
    """Of each operation of a transaction: whether it is under the transaction's id, and its two numbers."""
    transaction = Transaction(0, 0, NOW + 60, operations, (), ())
    ledger.operations.clear()
    with ledger.store.begin() as session:
        apply_transaction(ledger, transaction, UNCHECKED_IN_TRIALS)
        session.squash()
    assert {each.transaction_id for each in ledger.operations} <= {transaction.id, NO_TRANSACTION}
    return [
        (each.transaction_id == transaction.id, each.operation_in_transaction, each.virtual_operation)
        for each in ledger.operations
    ]


def test_after_a_trial_the_numbers_go_on_from_the_trial(ledger: Ledger) -> None:
    assert numbering(ledger, pays(), proposal(SUBSCRIBE, pays()), pays(), SUBSCRIBE) == [
        (True, 0, 0),
        (True, 1, 0),
        (False, 3, 0),
        (False, 4, 0),
        (False, 4, 2),
    ]


def test_what_is_carried_out_is_numbered_with_what_it_causes(ledger: Ledger) -> None:
    carry_out(ledger, proposal(SUBSCRIBE, pays()))

    assert numbering(ledger, active(BOB), pays()) == [
        (True, 0, 0),
        (True, 0, 1),
        (True, 0, 2),
        (True, 0, 3),
        (True, 1, 0),
    ]


def test_a_failed_trial_reports_nothing(ledger: Ledger) -> None:
    ledger.operations.clear()
    failing = proposal(pays(BOB, 60), pays(BOB, 60))

    refuses(
        ledger,
        failing,
        "_db.get_balance(from_account, o.amount.symbol) >= o.amount: "
        "Account does not have sufficient funds for transfer.",
    )

    assert [each.operation for each in ledger.operations] == [failing]


def test_a_proposal_may_carry_another_out(ledger: Ledger) -> None:
    carry_out(ledger, proposal(pays()))
    carry_out(ledger, proposal(active(BOB), title="approves"))
    before = ledger.account(ALICE).balance
    approves = msgspec.structs.replace(active(BOB), title="approves")

    assert carry_out(ledger, approves) == [active(BOB), pays()]

    assert (find(ledger), find(ledger, "approves")) == (None, None)
    assert ledger.account(ALICE).balance == before + 10
