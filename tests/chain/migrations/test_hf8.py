"""Hardfork 8 sums up again what accounts have lent and borrowed."""

from __future__ import annotations

from collections.abc import Callable

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.migrations.hardforks import recount_delegations
from ledgerd.state.objects.money.vesting import (
    VESTING_DELEGATION_EXPIRATIONS,
    VESTING_DELEGATIONS,
    VestingDelegation,
    VestingDelegationExpiration,
)
from tests.chain.ledgers import ALICE, BOB, CAROL, create_account


def test_wrong_sums_are_replaced_by_those_of_the_delegations(ledger_at: Callable[[int], Ledger]) -> None:
    ledger = ledger_at(7)
    alice = create_account(ledger, "alice", delegated_vesting_shares=-77, received_vesting_shares=5)
    bob = create_account(ledger, "bob", received_vesting_shares=-99)
    carol = create_account(ledger, "carol", delegated_vesting_shares=1)
    for delegator, delegatee, amount in ((ALICE, BOB, 10), (ALICE, CAROL, 20), (CAROL, BOB, 40)):
        lent = VestingDelegation(delegator=delegator, delegatee=delegatee, vesting_shares=amount)
        ledger.store.create(VESTING_DELEGATIONS, lent)
    returning = VestingDelegationExpiration(delegator=ALICE, vesting_shares=80)
    ledger.store.create(VESTING_DELEGATION_EXPIRATIONS, returning)

    recount_delegations(ledger)

    assert (alice.delegated_vesting_shares, alice.received_vesting_shares) == (110, 0)
    assert (bob.delegated_vesting_shares, bob.received_vesting_shares) == (0, 50)
    assert (carol.delegated_vesting_shares, carol.received_vesting_shares) == (40, 20)
