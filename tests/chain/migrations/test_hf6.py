"""Hardfork 6 counts shares again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.migrations.hf6 import convert_shares
from ledgerd.state.objects.money.vesting import (
    FIX_VESTING_DELEGATIONS,
    VESTING_DELEGATION_EXPIRATIONS,
    VESTING_DELEGATIONS,
    VestingDelegation,
    VestingDelegationExpiration,
)
from ledgerd.state.objects.validators import VALIDATOR_VOTES, ValidatorVote
from tests.chain.ledgers import ALICE, BOB, change, create_account, create_validator


@pytest.fixture
def ledger(ledger_at: Callable[[int], Ledger]) -> Ledger:
    """A share is worth half a token: twice as many as at the price of the start."""
    ledger = ledger_at(5)
    create_account(ledger, "alice", shares=6_000_000, vesting_withdraw_rate=1_000_001)
    create_account(ledger, "bob", shares=4_000_000, proxy=ALICE)
    change(ledger, ledger.account(ALICE), proxied_vsf_votes=(4_000_000, 0, 0, 0))
    change(ledger, ledger.globals, total_vesting_fund=5_000, total_vesting_shares=10_000_000)
    return ledger


def test_an_account_has_as_many_shares_as_it_has_tokens_in_them(ledger: Ledger) -> None:
    convert_shares(ledger)

    alice, bob = ledger.account(ALICE), ledger.account(BOB)
    assert (alice.vesting_shares, bob.vesting_shares) == (3_000_000, 2_000_000)
    assert alice.vesting_withdraw_rate == 500_000
    assert (ledger.globals.total_vesting_shares, ledger.globals.total_vesting_fund) == (5_000_000, 5_000)


def test_proxies_pass_on_the_new_shares(ledger: Ledger) -> None:
    convert_shares(ledger)

    assert ledger.account(ALICE).proxied_vsf_votes == (2_000_000, 0, 0, 0)


def test_votes_are_counted_anew(ledger: Ledger) -> None:
    one = create_validator(ledger, "one", votes=10_000_000, counted_votes=10_000_000)
    alice = ledger.account(ALICE)
    change(ledger, alice, validators_voted_for=1, validators_vote_weight=10_000_000)
    ledger.store.create(VALIDATOR_VOTES, ValidatorVote(validator=one.id, account=alice.id))

    convert_shares(ledger)

    assert one.votes == alice.validators_vote_weight == 5_000_000


def test_delegations_are_converted_and_the_old_amounts_noted(ledger: Ledger) -> None:
    store = ledger.store
    change(ledger, ledger.account(ALICE), delegated_vesting_shares=3_000_000)
    change(ledger, ledger.account(BOB), received_vesting_shares=2_000_000)
    lent = VestingDelegation(delegator=ALICE, delegatee=BOB, vesting_shares=2_000_000)
    store.create(VESTING_DELEGATIONS, lent)
    returning = VestingDelegationExpiration(delegator=ALICE, vesting_shares=1_000_000)
    store.create(VESTING_DELEGATION_EXPIRATIONS, returning)

    convert_shares(ledger)

    assert (lent.vesting_shares, returning.vesting_shares) == (1_000_000, 500_000)
    assert ledger.account(ALICE).delegated_vesting_shares == 1_500_000
    assert ledger.account(BOB).received_vesting_shares == 1_000_000
    noted = [(each.delegator, each.delegatee, each.vesting_shares) for each in store.scan(FIX_VESTING_DELEGATIONS)]
    assert noted == [("alice", "bob", 2_000_000), ("alice", "", 1_000_000)]
