"""Hardfork 6: shares are counted again, so that one is worth about one token (spec 03, section 21)."""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import truncated
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.migrations.hf5 import recount_votes
from ledgerd.chain.rules.money.balances import adjust_delegated, adjust_received
from ledgerd.chain.rules.validators.votes import adjust_proxied_votes_by_depth
from ledgerd.protocol.types.assets import Price, fits_int64, shares, tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.state.objects.accounts.accounts import ACCOUNTS, Account
from ledgerd.state.objects.money import vesting

NEW_PRICE = Price(tokens(1_000), shares(1_000_000))
SCALE = 1_000
"""Amounts are converted at a thousand times their size, for the sake of rounding."""


def convert_shares(ledger: Ledger) -> None:
    """Each amount of shares becomes what it was worth at the price of before, at the new price."""
    old_price = ledger.globals.share_price
    _convert_accounts(ledger, old_price)
    _convert_delegations(ledger, old_price)
    _convert_returning_delegations(ledger, old_price)
    recount_votes(ledger)


def _converted(amount: int, old_price: Price) -> int:
    worth = old_price.convert(shares(fits_int64(amount * SCALE)))
    return truncated(NEW_PRICE.convert(worth).amount, SCALE)


def _convert_accounts(ledger: Ledger, old_price: Price) -> None:
    """Those with a proxy take their votes back from it first, and give it the new ones then.

    What is proxied to an account may have changed in between, through accounts with smaller ids.
    """
    total = 0
    for account in ledger.store.scan(ACCOUNTS):
        if account.proxy:
            adjust_proxied_votes_by_depth(ledger, account, [fits_int64(-amount) for amount in _proxied_by(account)])
        new_shares = _converted(account.vesting_shares, old_price)
        total = fits_int64(total + new_shares)
        new_rate = _converted(account.vesting_withdraw_rate, old_price)
        ledger.remember(account)
        account.vesting_shares = new_shares
        account.vesting_withdraw_rate = new_rate
        account.delegated_vesting_shares = 0
        account.received_vesting_shares = 0
        if account.proxy:
            adjust_proxied_votes_by_depth(ledger, account, _proxied_by(account))
    ledger.remember(ledger.globals)
    ledger.globals.total_vesting_shares = total


def _proxied_by(account: Account) -> tuple[int, ...]:
    return (account.vesting_shares, *account.proxied_vsf_votes)


def _convert_delegations(ledger: Ledger, old_price: Price) -> None:
    """The old amounts are recorded for hardfork 7, which takes them off again, though they are not counted any more."""
    for delegation in ledger.store.scan(vesting.VESTING_DELEGATIONS):
        _record_old_amount(ledger, delegation.delegator, delegation.delegatee, delegation.vesting_shares)
        new_shares = _converted(delegation.vesting_shares, old_price)
        ledger.remember(delegation)
        delegation.vesting_shares = new_shares
        adjust_delegated(ledger, ledger.account(delegation.delegator), new_shares)
        adjust_received(ledger, ledger.account(delegation.delegatee), new_shares)


def _convert_returning_delegations(ledger: Ledger, old_price: Price) -> None:
    for returning in ledger.store.scan(vesting.VESTING_DELEGATION_EXPIRATIONS):
        _record_old_amount(ledger, returning.delegator, NO_NAME, returning.vesting_shares)
        new_shares = _converted(returning.vesting_shares, old_price)
        ledger.remember(returning)
        returning.vesting_shares = new_shares
        adjust_delegated(ledger, ledger.account(returning.delegator), new_shares)


def _record_old_amount(ledger: Ledger, delegator: AccountName, delegatee: AccountName, amount: int) -> None:
    recorded = vesting.FixVestingDelegation(delegator=delegator, delegatee=delegatee, vesting_shares=amount)
    ledger.store.create(vesting.FIX_VESTING_DELEGATIONS, recorded)
