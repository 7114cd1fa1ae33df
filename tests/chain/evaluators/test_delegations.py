from __future__ import annotations

from collections.abc import Callable

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.money.transfers import DelegateVestingShares
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.state.objects.accounts.accounts import Account
from ledgerd.state.objects.money.vesting import (
    VESTING_DELEGATION_EXPIRATIONS,
    VESTING_DELEGATIONS,
    VestingDelegation,
    VestingDelegationExpiration,
)
from tests.chain.ledgers import ALICE, BOB, NOW, carry_out, change, create_account, refuses, set_median

LedgerAt = Callable[[int], Ledger]

REGENERATION = 432_000


@pytest.fixture
def alice(ledger: Ledger) -> Account:
    return two_accounts(ledger)


def two_accounts(ledger: Ledger) -> Account:
    create_account(ledger, BOB)
    set_median(ledger, min_delegation=tokens(1))
    return create_account(ledger, ALICE, shares=10_000, last_vote_time=NOW)


def delegate(amount: int) -> DelegateVestingShares:
    return DelegateVestingShares(ALICE, BOB, shares(amount))


def delegations(ledger: Ledger) -> list[VestingDelegation]:
    return list(ledger.store.scan(VESTING_DELEGATIONS))


def returning(ledger: Ledger) -> list[VestingDelegationExpiration]:
    return list(ledger.store.scan(VESTING_DELEGATION_EXPIRATIONS))


def test_shares_are_lent_at_once_with_their_part_of_the_energy(ledger: Ledger, alice: Account) -> None:
    assert carry_out(ledger, delegate(2_500)) == []

    assert (alice.vesting_shares, alice.delegated_vesting_shares, alice.energy) == (10_000, 2_500, 7_500)
    assert ledger.account(BOB).received_vesting_shares == 2_500
    assert delegations(ledger) == [VestingDelegation(0, ALICE, BOB, 2_500, NOW)]


def test_no_more_is_lent_than_is_available_beside_a_withdrawal(ledger: Ledger, alice: Account) -> None:
    change(ledger, alice, delegated_vesting_shares=1_000, to_withdraw=3_000, withdrawn=500)

    refuses(
        ledger,
        delegate(6_501),
        "delegator.available_vesting_shares(true) >= delta: Account does not have enough vesting shares to delegate.",
    )
    carry_out(ledger, delegate(6_500))


@pytest.mark.parametrize("hardfork", [5, 6])
def test_a_debt_of_energy_forbids_lending_since_hardfork_6(ledger_at: LedgerAt, hardfork: int) -> None:
    ledger = ledger_at(hardfork)
    alice = two_accounts(ledger)
    change(ledger, alice, energy=-1)

    if hardfork >= 6:
        refuses(ledger, delegate(1_000), "current_energy >= 0: Cannot delegate with negative energy.")
        change(ledger, alice, energy=0)
    carry_out(ledger, delegate(1_000))

    assert alice.delegated_vesting_shares == 1_000


def test_a_new_delegation_has_a_minimum(ledger: Ledger, alice: Account) -> None:
    refuses(
        ledger,
        delegate(999),
        "op.vesting_shares >= min_delegation: Account must delegate a minimum of 0.001000 SHARES",
    )
    carry_out(ledger, delegate(1_000))
    carry_out(ledger, delegate(1_001))

    assert alice.delegated_vesting_shares == 1_001


def test_a_delegation_that_does_not_exist_cannot_be_revoked(ledger: Ledger, alice: Account) -> None:
    assert alice.delegated_vesting_shares == 0
    refuses(ledger, delegate(0), "op.vesting_shares.amount != 0: Delegation did not exist for initiate revoke.")


def test_what_is_taken_back_leaves_the_borrower_now_and_returns_later(ledger: Ledger, alice: Account) -> None:
    carry_out(ledger, delegate(4_000))
    energy = alice.energy

    assert carry_out(ledger, delegate(1_000)) == []

    assert (alice.delegated_vesting_shares, alice.energy) == (4_000, energy)
    assert ledger.account(BOB).received_vesting_shares == 1_000
    assert [each.vesting_shares for each in delegations(ledger)] == [1_000]
    assert returning(ledger) == [VestingDelegationExpiration(0, ALICE, 3_000, NOW + REGENERATION)]


def test_no_less_than_the_minimum_is_left(ledger: Ledger, alice: Account) -> None:
    carry_out(ledger, delegate(4_000))

    refuses(
        ledger,
        delegate(999),
        "op.vesting_shares.amount == 0 || op.vesting_shares >= min_delegation: "
        "Delegation must be removed or leave minimum delegation amount of 0.001000 SHARES",
    )
    assert alice.delegated_vesting_shares == 4_000


def test_a_delegation_ends_when_all_is_taken_back(ledger: Ledger, alice: Account) -> None:
    carry_out(ledger, delegate(4_000))

    carry_out(ledger, delegate(0))

    assert delegations(ledger) == []
    assert ledger.account(BOB).received_vesting_shares == 0
    assert alice.delegated_vesting_shares == 4_000


def test_the_same_amount_again_takes_nothing_back_and_says_so(ledger: Ledger, alice: Account) -> None:
    carry_out(ledger, delegate(4_000))

    carry_out(ledger, delegate(4_000))

    assert [each.vesting_shares for each in returning(ledger)] == [0]
    assert alice.delegated_vesting_shares == 4_000


def test_a_delegation_that_must_last_returns_no_earlier(ledger: Ledger, alice: Account) -> None:
    carry_out(ledger, delegate(4_000))
    change(ledger, delegations(ledger)[0], min_delegation_time=NOW + REGENERATION + 1)

    carry_out(ledger, delegate(0))

    assert returning(ledger)[0].expiration == NOW + REGENERATION + 1
    assert alice.delegated_vesting_shares == 4_000


@pytest.mark.parametrize(("hardfork", "wait"), [(9, 86_400), (10, REGENERATION)])
def test_shares_return_after_a_day_before_hardfork_10(ledger_at: LedgerAt, hardfork: int, wait: int) -> None:
    ledger = ledger_at(hardfork)
    two_accounts(ledger)
    carry_out(ledger, delegate(4_000))

    carry_out(ledger, delegate(0))

    assert returning(ledger)[0].expiration == NOW + wait


def test_lender_and_borrower_exist(ledger: Ledger) -> None:
    refuses(ledger, delegate(1_000), "unknown key: ")
    create_account(ledger, ALICE)
    refuses(ledger, delegate(1_000), "unknown key: ")
