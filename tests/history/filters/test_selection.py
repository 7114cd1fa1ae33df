"""Whose doing an operation is, and whom it reaches."""

from __future__ import annotations

import pytest
from hypothesis import given

from ledgerd.chain.log.histories import Direction
from ledgerd.history.filters.selection import concerned, incoming, outgoing
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.accounts import AccountMetadata
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.operations.markets.bets import PmTransferPosition
from ledgerd.protocol.operations.markets.virtual_markets import PmDisputeOpened, PmLeverageLiquidate, PmMarketAccepted
from ledgerd.protocol.operations.money.escrow import EscrowDispute
from ledgerd.protocol.operations.money.transfers import Transfer, TransferToVesting
from ledgerd.protocol.operations.touched import touched
from ledgerd.protocol.operations.virtual import AccountSale, FillVestingWithdraw, ReceiveAward, ValidatorReward
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.names import AccountName
from tests.strategies import values_of

A, B, C, NONE = (AccountName(name) for name in ("alice", "bob", "carol", ""))


@pytest.mark.parametrize(
    ("operation", "out", "into"),
    [
        (Transfer(A, B, tokens(1), ""), {A}, {B}),
        (Transfer(A, A, tokens(1), ""), {A}, {A}),
        (TransferToVesting(A, NONE, tokens(1)), {A}, {A}),
        (TransferToVesting(A, B, tokens(1)), {A}, {B}),
        (FillVestingWithdraw(A, B, shares(1), tokens(1)), {A}, {B}),
        (FillVestingWithdraw(A, A, shares(1), tokens(1)), {A}, {A}),
        (EscrowDispute(A, B, C, B, 1), {B}, {A, C}),
        (AccountSale(A, tokens(1), B, C), {B}, {A, C}),
        (Custom((A,), (B,), "id", "{}"), {A, B}, set()),
        (AccountMetadata(A, "{}"), {A}, set()),
        (ReceiveAward(A, B, 1, "", shares(1)), set(), {B}),
        (ValidatorReward(A, shares(1)), set(), {A}),
        (PmTransferPosition(A, 1, B, 5, "", ()), {A}, {B}),
        (PmMarketAccepted(A, B, 1, 0, tokens(0), self_oracle=False), {A}, {B}),
        (PmDisputeOpened(A, B, 1, 0), {B}, {A}),
        (PmLeverageLiquidate(A, 1, 1, tokens(1), tokens(1), tokens(0), 0), set(), {A}),
    ],
)
def test_an_operation_goes_from_some_to_others(
    operation: Operation, out: set[AccountName], into: set[AccountName]
) -> None:
    assert concerned(operation, Direction.OUTGOING) == out
    assert concerned(operation, Direction.INCOMING) == into


@given(values_of(Operation))
def test_whoever_is_touched_has_a_direction(operation: Operation) -> None:
    names = set(touched(operation))
    assert concerned(operation, Direction.ANY) == names
    assert names <= outgoing(operation) | incoming(operation)
    assert concerned(operation, Direction.OUTGOING) | concerned(operation, Direction.INCOMING) == names
