"""Whose history an operation stands in: the table of spec 05, section 13.1; recorded chains show the common ones."""

from __future__ import annotations

import pytest
from hypothesis import given

from ledgerd.history.touched import FIELDS, touched
from ledgerd.protocol.assets import shares, tokens
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.content import Content
from ledgerd.protocol.operations.custom import Custom
from ledgerd.protocol.operations.proposals import ProposalUpdate
from ledgerd.protocol.operations.transfers import SetWithdrawVestingRoute, Transfer, TransferToVesting
from ledgerd.protocol.operations.validators import AccountValidatorProxy
from ledgerd.protocol.operations.virtual import (
    AuthorReward,
    CancelPaidSubscription,
    CommitteePayoutRequest,
    ContentBenefactorReward,
    ContentReward,
    CurationReward,
    StakeholderReward,
)
from tests.strategies import values_of

A, B, C, NONE = (AccountName(name) for name in ("alice", "bob", "carol", ""))


@pytest.mark.parametrize(
    ("operation", "names"),
    [
        (Transfer(A, B, tokens(1), ""), {A, B}),
        (Transfer(A, A, tokens(1), ""), {A}),
        (TransferToVesting(A, NONE, tokens(1)), {A}),
        (TransferToVesting(A, A, tokens(1)), {A}),
        (TransferToVesting(A, B, tokens(1)), {A, B}),
        (AccountValidatorProxy(A, NONE), {A, NONE}),
        (Content(NONE, "", A, "link", "", "", 0, "", ()), {A}),
        (Content(B, "", A, "link", "", "", 0, "", ()), {A, B}),
        (SetWithdrawVestingRoute(A, B, 1, auto_vest=False), {A}),
        (Custom((A, C), (B,), "id", "{}"), {A, B, C}),
        (AuthorReward(A, "link", tokens(1), shares(1)), {A}),
        (CurationReward(A, shares(1), B, "link"), {A}),
        (ContentReward(A, "link", tokens(1)), set()),
        (ContentBenefactorReward(A, B, "link", shares(1)), {A, B}),
        (CancelPaidSubscription(A, B), {A, B}),
        (CommitteePayoutRequest(1), set()),
        (StakeholderReward(A, B, shares(1)), {A, B}),
    ],
)
def test_an_operation_stands_in_the_history_of(operation: Operation, names: set[AccountName]) -> None:
    assert set(touched(operation)) == names


def test_an_approval_concerns_those_whose_approval_it_is_and_not_the_author_of_the_proposal() -> None:
    update = ProposalUpdate(NONE, "title", (A,), (B,), (C,), (), (), (A,), (), (), ())
    assert set(touched(update)) == {A, B, C}


@given(values_of(Operation))
def test_each_account_is_named_once(operation: Operation) -> None:
    names = list(touched(operation))
    assert len(names) == len(set(names))


def test_every_field_of_the_table_exists() -> None:
    assert [(kind, field) for kind, fields in FIELDS.items() for field in fields if not hasattr(kind, field)] == []
    assert set(FIELDS) <= set(OPERATIONS)
