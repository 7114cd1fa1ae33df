"""The marks of every declaration say something together, and the authorities that are required follow from them."""

from __future__ import annotations

import pytest
from hypothesis import given

from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.accounts.accounts import ChangeRecoveryAccount
from ledgerd.protocol.operations.base import Authorities, name_of
from ledgerd.protocol.operations.markets.virtual_markets import PmPayout
from ledgerd.protocol.operations.money.awards import Award
from ledgerd.protocol.operations.money.escrow import EscrowDispute
from ledgerd.protocol.operations.money.paid_subscriptions import PaidSubscribe
from ledgerd.protocol.operations.roles import (
    Meaning,
    Recipient,
    Role,
    Sender,
    VoteOn,
    amount_field,
    field_marked,
    fields_marked,
)
from ledgerd.protocol.operations.virtual import FillVestingWithdraw
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from tests.strategies import values_of

SIGNERS = (Role.ACTIVE, Role.MASTER, Role.REGULAR)
A, B, C = (AccountName(name) for name in ("alice", "bob", "carol"))


@pytest.mark.parametrize(
    ("operation", "asked"),
    [
        (PaidSubscribe(A, B, 1, tokens(1), 1, True), Authorities(active=(A,))),
        (ChangeRecoveryAccount(A, B, ()), Authorities(master=(A,))),
        (Award(A, B, 1, 0, "", ()), Authorities(regular=(A,))),
        (EscrowDispute(A, B, C, B, 1), Authorities(active=(B,))),
    ],
)
def test_whoever_a_field_names_as_signer_is_asked(operation: Operation, asked: Authorities) -> None:
    assert operation.authorities() == asked


@pytest.mark.parametrize("operation", OPERATIONS, ids=name_of)
def test_the_marks_of_a_declaration_go_together(operation: type[Operation]) -> None:
    says_itself = "authorities" in vars(operation)
    assert len([*fields_marked(operation, *SIGNERS)]) == (0 if operation.VIRTUAL or says_itself else 1)
    for field in fields_marked(operation, Role.ABSENT, Role.TAKER):
        assert {*field.marks} & {*Role} - {Role.ABSENT, Role.TAKER, Role.TOUCHED_IF_NAMED}, field.name
    if any(fields_marked(operation, Role.PAYER, Role.PAYEE)):
        assert field_marked(operation, Meaning.PAID) or amount_field(operation)
    is_vote = any(
        isinstance(mark, VoteOn) for field in fields_marked(operation, *Role, *Meaning) for mark in field.marks
    )
    assert is_vote <= (field_marked(operation, Meaning.WEIGHT) is not None)


def test_the_amount_is_the_field_that_is_marked_or_the_first() -> None:
    assert getattr(amount_field(FillVestingWithdraw), "name", "") == "deposited"
    assert getattr(amount_field(PmPayout), "name", "") == "payout"
    assert getattr(amount_field(PaidSubscribe), "name", "") == "amount"
    assert amount_field(EscrowDispute) is None


class Unsigned(Operation, frozen=True):
    sender: Sender
    recipient: Recipient


def test_a_declaration_that_names_no_signer_is_a_fault_of_the_program() -> None:
    with pytest.raises(TypeError, match="Unsigned marks no signer"):
        Unsigned(A, B).authorities()


@given(values_of(Operation))
def test_the_chain_itself_asks_nobody(operation: Operation) -> None:
    if operation.VIRTUAL:
        assert operation.authorities() == Authorities()
