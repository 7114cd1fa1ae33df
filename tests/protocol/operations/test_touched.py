"""Whose history an operation stands in: the table of spec 05, section 13.1; recorded chains show the common ones."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from ledgerd.codec import codec_of
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.content import Content
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.operations.accounts.proposals import ProposalUpdate
from ledgerd.protocol.operations.markets.bets import PmTransferPosition
from ledgerd.protocol.operations.markets.disputes import PmDisputeResolve, PmUnban
from ledgerd.protocol.operations.markets.oracles import PmOracleRegister, PmOracleUpdate
from ledgerd.protocol.operations.markets.virtual_markets import (
    PmAutoPayout,
    PmBatchSettle,
    PmDisputeOpened,
    PmLazyRecall,
    PmLpPayout,
    PmMarketExpired,
)
from ledgerd.protocol.operations.money.transfers import SetWithdrawVestingRoute, Transfer, TransferToVesting
from ledgerd.protocol.operations.touched import touched
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
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.names import AccountName
from tests.history.histories import recorded_histories
from tests.recorded import ANSWERED, recorded_answers
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
        (PmOracleRegister(A, tokens(1), 0, tokens(0), "", B, NONE, True, ()), {A, B}),
        (PmOracleRegister(A, tokens(1), 0, tokens(0), "", NONE, C, True, ()), {A, C}),
        (PmOracleUpdate(A, None, 1, None, None, B, C, None, ()), {A}),
        (PmTransferPosition(A, 1, B, 0, "", ()), {A, B}),
        (PmUnban(A, B, unban_oracle=True, unban_creator=False, extensions=()), {A, B}),
        (PmDisputeResolve(A, 1, 0, tokens(0), False, 0, False, 0, ()), {A}),
        (PmBatchSettle(1, 2, 3), set()),
        (PmLazyRecall(1, tokens(1)), set()),
        (PmAutoPayout(A, 1, -1, tokens(1)), {A}),
        (PmDisputeOpened(A, B, 1, 0), {A, B}),
        (PmMarketExpired(A, B, 1, tokens(1)), {A, B}),
        (PmLpPayout(A, 1, tokens(1), tokens(1), tokens(1)), {A}),
        (PmLpPayout(NONE, 1, tokens(1), tokens(1), tokens(1)), set()),
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


@pytest.mark.parametrize("chain", ["open-pm", "open-pm2", "open-main15"])
def test_operations_stand_in_the_histories_in_which_they_were_recorded(chain: str) -> None:
    """Of the accounts whose whole history was asked for, which is at most a thousand operations."""
    asked = recorded_histories(chain).items()
    told = {account: json.loads(answer).get("result", []) for (account, start, _), answer in asked if start == -1}
    whole = {
        account: [told_of(each) for _, each in entries] for account, entries in told.items() if len(entries) < 1000
    }
    ours: dict[str, list[str]] = {account: [] for account in whole}
    blocks = recorded_answers(chain, ANSWERED[chain])["get_ops_in_block"]
    for (number, only_virtual), text in sorted(blocks.items()):
        for each in [] if only_virtual or number > ANSWERED[chain] else json.loads(text):
            for account in touched(codec_of(Operation).from_json(each["op"])):
                if account in ours:
                    ours[account].append(told_of(each))

    assert len(whole) > 60
    assert {account: sorted(entries) for account, entries in ours.items()} == {
        account: sorted(entries) for account, entries in whole.items()
    }


def told_of(entry: dict[str, Any]) -> str:
    """What is told of an operation, as a text."""
    return json.dumps(entry, sort_keys=True)
