"""Lent shares that come back to their owner (spec 03, section 15.15)."""

from __future__ import annotations

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.energy import spend_energy_with_shares
from ledgerd.protocol.assets import fits_int64, shares
from ledgerd.protocol.operations.virtual import ReturnVestingDelegation
from ledgerd.state.objects.vesting import RETURN_BY_EXPIRATION


def return_delegations(ledger: Ledger, _progress: BlockContext) -> None:
    """Since hardfork 10 shares come back without energy, which whoever borrowed them may have used."""
    for due in ledger.store.scan(RETURN_BY_EXPIRATION, upper=(ledger.now - 1,)):
        delegator = ledger.account(due.delegator)
        with ledger.editing(delegator):
            delegator.delegated_vesting_shares = fits_int64(delegator.delegated_vesting_shares - due.vesting_shares)
        if ledger.hardfork(10):
            spend_energy_with_shares(ledger, delegator, due.vesting_shares)
        ledger.emit(ReturnVestingDelegation(due.delegator, shares(due.vesting_shares)))
        ledger.store.remove(due)
