"""Hardfork 8: what accounts have lent and borrowed is summed up again (spec 03, section 21)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.assets import fits_int64
from ledgerd.state.objects.accounts import ACCOUNTS
from ledgerd.state.objects.vesting import VESTING_DELEGATION_EXPIRATIONS, VESTING_DELEGATIONS


def recount_delegations(ledger: Ledger) -> None:
    """Of delegations as they stand, and of those on their way back."""
    for account in ledger.store.scan(ACCOUNTS):
        if account.delegated_vesting_shares or account.received_vesting_shares:
            with ledger.editing(account):
                account.delegated_vesting_shares = 0
                account.received_vesting_shares = 0
    for delegation in ledger.store.scan(VESTING_DELEGATIONS):
        delegator, delegatee = ledger.account(delegation.delegator), ledger.account(delegation.delegatee)
        with ledger.editing(delegator):
            delegator.delegated_vesting_shares = fits_int64(
                delegator.delegated_vesting_shares + delegation.vesting_shares
            )
        with ledger.editing(delegatee):
            delegatee.received_vesting_shares = fits_int64(
                delegatee.received_vesting_shares + delegation.vesting_shares
            )
    for returning in ledger.store.scan(VESTING_DELEGATION_EXPIRATIONS):
        delegator = ledger.account(returning.delegator)
        with ledger.editing(delegator):
            delegator.delegated_vesting_shares = fits_int64(
                delegator.delegated_vesting_shares + returning.vesting_shares
            )
