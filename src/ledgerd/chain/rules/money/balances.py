"""What an account has, and changing it: tokens (spec 02, section 4.3), and the shares that they become (section 4.4).
Whether there is enough is for each rule to ask.
"""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.validators.votes import adjust_proxied_votes
from ledgerd.protocol.errors import require
from ledgerd.protocol.types.assets import TOKEN_SYMBOL, Asset, fits_int64
from ledgerd.state.objects.accounts.accounts import Account


def balance_of(account: Account, symbol: int) -> int:
    require(symbol == TOKEN_SYMBOL, "false: invalid symbol")
    return account.balance


def adjust_balance(ledger: Ledger, account: Account, tokens: int) -> None:
    ledger.remember(account)
    account.balance = fits_int64(account.balance + tokens)


def adjust_delegated(ledger: Ledger, delegator: Account, shares: int) -> None:
    ledger.remember(delegator)
    delegator.delegated_vesting_shares = fits_int64(delegator.delegated_vesting_shares + shares)


def adjust_received(ledger: Ledger, delegatee: Account, shares: int) -> None:
    ledger.remember(delegatee)
    delegatee.received_vesting_shares = fits_int64(delegatee.received_vesting_shares + shares)


def pay_committee(ledger: Ledger, account: Account, fee: int) -> None:
    adjust_balance(ledger, account, -fee)
    globals_ = ledger.globals
    ledger.remember(globals_)
    globals_.committee_fund = fits_int64(globals_.committee_fund + fee)


def pay_fee(ledger: Ledger, account: Account, field: str, purpose: str, holder: str = "account") -> None:
    """Pay a fee that is voted on, named by its chain property, for a purpose; the text calls the account `holder`."""
    fee: Asset = getattr(ledger.median, field)
    require(
        account.balance >= fee.amount,
        f"{holder}.balance >= median_props.{field}: "
        f"Account does not have sufficient funds to {purpose}: required ${{a}}.",
        a=str(fee),
    )
    pay_committee(ledger, account, fee.amount)


def burn(ledger: Ledger, taken: int) -> None:
    if taken > 0:
        globals_ = ledger.globals
        ledger.remember(globals_)
        globals_.current_supply = fits_int64(globals_.current_supply - taken)


def create_vesting(ledger: Ledger, account: Account, tokens: int) -> int:
    """With no tokens it still refreshes the virtual times of the account's validators (spec 02, section 4.4, quirk)."""
    globals_ = ledger.globals
    shares = globals_.shares_for(tokens)
    ledger.remember(account)
    account.vesting_shares = fits_int64(account.vesting_shares + shares)
    ledger.remember(globals_)
    globals_.total_vesting_fund = fits_int64(globals_.total_vesting_fund + tokens)
    globals_.total_vesting_shares = fits_int64(globals_.total_vesting_shares + shares)
    adjust_proxied_votes(ledger, account, shares)
    return shares
