"""Transfers, vesting, its withdrawal and its delegation: bytes, JSON, rules, authorities."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.codec import codec_of
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.operations.base import active, master
from ledgerd.protocol.operations.money.transfers import (
    DelegateVestingShares,
    SetWithdrawVestingRoute,
    Transfer,
    TransferToVesting,
    WithdrawVesting,
)
from ledgerd.protocol.types.assets import MAX_AMOUNT, MIN_AMOUNT, TOKEN_SYMBOL, Asset, shares, tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.protocol.operations.expect import accepts, asks_for_names, changed, refuses, round_trips

VIZ = AccountName("viz")
BOB = AccountName("bob")
ONE_UNIT_OF_ANOTHER_SYMBOL = Asset(1, TOKEN_SYMBOL + 1)

TRANSFER = Transfer(VIZ, AccountName("committee"), tokens(1500), "hi")
TO_VESTING = TransferToVesting(VIZ, NO_NAME, tokens(3111))
WITHDRAWAL = WithdrawVesting(VIZ, shares(1_000_000))
ROUTE = SetWithdrawVestingRoute(VIZ, AccountName("a57510533"), 100, auto_vest=True)
DELEGATION = DelegateVestingShares(AccountName("a5057050"), VIZ, shares(1_000_000))


def test_a_transfer_is_written_as_clients_write_it() -> None:
    round_trips(
        TRANSFER,
        "020376697a09636f6d6d6974746565dc050000000000000356495a00000000026869",
        ["transfer", {"from": "viz", "to": "committee", "amount": "1.500 VIZ", "memo": "hi"}],
    )


def test_a_recorded_transfer_to_vesting() -> None:
    round_trips(
        TO_VESTING,
        "030376697a00270c0000000000000356495a00000000",
        ["transfer_to_vesting", {"from": "viz", "to": "", "amount": "3.111 VIZ"}],
    )


def test_a_recorded_withdrawal() -> None:
    round_trips(
        WITHDRAWAL,
        "040376697a40420f00000000000653484152455300",
        ["withdraw_vesting", {"account": "viz", "vesting_shares": "1.000000 SHARES"}],
    )


def test_a_recorded_route() -> None:
    round_trips(
        ROUTE,
        "0b0376697a09613537353130353333640001",
        [
            "set_withdraw_vesting_route",
            {"from_account": "viz", "to_account": "a57510533", "percent": 100, "auto_vest": True},
        ],
    )


def test_a_recorded_delegation() -> None:
    round_trips(
        DELEGATION,
        "130861353035373035300376697a40420f00000000000653484152455300",
        [
            "delegate_vesting_shares",
            {"delegator": "a5057050", "delegatee": "viz", "vesting_shares": "1.000000 SHARES"},
        ],
    )


def test_missing_keys_are_empty_and_zero() -> None:
    assert codec_of(Transfer).from_json({}) == Transfer(NO_NAME, NO_NAME, tokens(0), "")
    assert codec_of(TransferToVesting).from_json({}) == TransferToVesting(NO_NAME, NO_NAME, tokens(0))
    assert codec_of(WithdrawVesting).from_json({}) == WithdrawVesting(NO_NAME, tokens(0))
    assert codec_of(DelegateVestingShares).from_json({}) == DelegateVestingShares(NO_NAME, NO_NAME, tokens(0))


def test_a_route_without_percent_goes_nowhere_and_is_not_vested() -> None:
    route = codec_of(SetWithdrawVestingRoute).from_json({})
    assert route == SetWithdrawVestingRoute(NO_NAME, NO_NAME, 0, auto_vest=False)


def test_names_have_to_be_valid() -> None:
    asks_for_names(TRANSFER, "sender", "recipient")
    asks_for_names(TO_VESTING, "sender", "recipient")
    asks_for_names(WITHDRAWAL, "account")
    asks_for_names(ROUTE, "from_account", "to_account")
    asks_for_names(DELEGATION, "delegator", "delegatee")


def test_a_transfer_moves_any_symbol_but_shares() -> None:
    accepts(changed(TRANSFER, amount=ONE_UNIT_OF_ANOTHER_SYMBOL))
    refuses(
        changed(TRANSFER, amount=shares(1)),
        "amount.symbol != SHARES_SYMBOL: transferring of SHARES is not allowed.",
    )


def test_a_transfer_moves_something() -> None:
    accepts(changed(TRANSFER, amount=tokens(1)))
    refuses(
        changed(TRANSFER, amount=tokens(0)),
        "amount.amount > 0: Cannot transfer a negative amount (aka: stealing)",
    )


def test_a_memo_is_shorter_than_2048_bytes() -> None:
    accepts(changed(TRANSFER, memo="m" * 2047))
    accepts(changed(TRANSFER, memo="é" * 1023))
    too_large = "memo.size() < CHAIN_MAX_MEMO_LENGTH: Memo is too large"
    refuses(changed(TRANSFER, memo="m" * 2048), too_large)
    refuses(changed(TRANSFER, memo="é" * 1024), too_large)


def test_a_memo_is_utf8() -> None:
    refuses(changed(TRANSFER, memo="\udcff"), "fc::is_utf8(memo): Memo is not UTF8")


def test_of_several_faults_of_a_transfer_the_first_is_told() -> None:
    refuses(
        changed(TRANSFER, amount=shares(-1), memo="m" * 2048),
        "amount.symbol != SHARES_SYMBOL: transferring of SHARES is not allowed.",
    )


@given(st.integers(MIN_AMOUNT, MAX_AMOUNT))
def test_a_transfer_is_sound_exactly_if_it_moves_more_than_nothing(amount: int) -> None:
    transfer = changed(TRANSFER, amount=tokens(amount))
    assert codec_of(Transfer).decode_exactly(codec_of(Transfer).encode(transfer)) == transfer
    if amount > 0:
        transfer.check(MAINNET)
    else:
        with pytest.raises(RuleViolation):
            transfer.check(MAINNET)


def test_vesting_goes_to_a_named_account_or_to_the_sender() -> None:
    accepts(TO_VESTING)
    accepts(changed(TO_VESTING, recipient=BOB))


def test_only_tokens_are_vested() -> None:
    message = "is_asset_type(amount, TOKEN_SYMBOL): Amount must be TOKEN_SYMBOL"
    refuses(changed(TO_VESTING, amount=shares(1)), message)
    refuses(changed(TO_VESTING, amount=shares(1), recipient=AccountName("a")), message)


def test_something_has_to_be_vested() -> None:
    accepts(changed(TO_VESTING, amount=tokens(1)))
    refuses(
        changed(TO_VESTING, amount=tokens(0)),
        "amount > asset(0, TOKEN_SYMBOL): Must transfer a nonzero amount",
    )


def test_a_withdrawal_of_nothing_stops_one() -> None:
    accepts(changed(WITHDRAWAL, vesting_shares=shares(0)))


def test_a_withdrawal_is_of_shares_and_not_negative() -> None:
    refuses(
        changed(WITHDRAWAL, vesting_shares=tokens(1)),
        "is_asset_type(vesting_shares, SHARES_SYMBOL): Amount must be SHARES",
    )
    refuses(
        changed(WITHDRAWAL, vesting_shares=shares(-1)),
        "vesting_shares.amount >= 0: Cannot withdraw negative SHARES",
    )


def test_a_route_takes_all_of_a_withdrawal_at_most() -> None:
    accepts(changed(ROUTE, percent=0))
    accepts(changed(ROUTE, percent=10_000))
    refuses(
        changed(ROUTE, percent=10_001),
        "0 <= percent && percent <= CHAIN_100_PERCENT: Percent must be valid percent",
    )


def test_a_delegation_goes_to_another() -> None:
    refuses(
        changed(DELEGATION, delegatee=DELEGATION.delegator),
        "delegator != delegatee: You cannot delegate SHARES to yourself",
    )


def test_a_delegation_is_of_shares_and_not_negative() -> None:
    accepts(changed(DELEGATION, vesting_shares=shares(0)))
    refuses(
        changed(DELEGATION, vesting_shares=tokens(1)),
        "is_asset_type(vesting_shares, SHARES_SYMBOL): Delegation must be SHARES",
    )
    refuses(
        changed(DELEGATION, vesting_shares=shares(-1)),
        "vesting_shares.amount >= 0: Delegation cannot be negative",
    )


def test_the_active_authority_moves_funds() -> None:
    assert TRANSFER.authorities() == active(VIZ)
    assert TO_VESTING.authorities() == active(VIZ)
    assert WITHDRAWAL.authorities() == active(VIZ)
    assert ROUTE.authorities() == active(VIZ)
    assert DELEGATION.authorities() == active(AccountName("a5057050"))


def test_a_transfer_of_shares_asks_for_the_master_authority() -> None:
    assert changed(TRANSFER, amount=shares(1)).authorities() == master(VIZ)
