"""Balances: what an account has of a symbol, and changing it (spec 02, section 4.3).

Only tokens have a balance; shares come and go in `vesting`. Whether there is enough is for each rule to ask.
"""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.assets import TOKEN_SYMBOL, fits_int64
from ledgerd.protocol.errors import require
from ledgerd.state.objects.accounts import Account


def balance_of(account: Account, symbol: int) -> int:
    require(symbol == TOKEN_SYMBOL, "false: invalid symbol")
    return account.balance


def adjust_balance(ledger: Ledger, account: Account, tokens: int) -> None:
    with ledger.editing(account):
        account.balance = fits_int64(account.balance + tokens)


def pay_committee(ledger: Ledger, account: Account, fee: int) -> None:
    adjust_balance(ledger, account, -fee)
    globals_ = ledger.globals
    with ledger.editing(globals_):
        globals_.committee_fund = fits_int64(globals_.committee_fund + fee)


def burn(ledger: Ledger, taken: int) -> None:
    if taken > 0:
        globals_ = ledger.globals
        with ledger.editing(globals_):
            globals_.current_supply = fits_int64(globals_.current_supply - taken)
