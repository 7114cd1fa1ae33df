"""What accounts have in markets, for display: counters that no rule reads, but state (spec 08, section 3.2)."""

from __future__ import annotations

from typing import Literal

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.assets import fits_int64
from ledgerd.protocol.names import AccountName
from ledgerd.state.objects.accounts import Account

Frozen = Literal["pm_liquidity_committed", "pm_bets_staked", "pm_leverage_collateral"]

LIQUIDITY: Frozen = "pm_liquidity_committed"
STAKES: Frozen = "pm_bets_staked"
COLLATERAL: Frozen = "pm_leverage_collateral"


def change_frozen(account: Account, counter: Frozen, change: int) -> None:
    """Count up or down, never below zero; for an account that is being edited."""
    if change:
        setattr(account, counter, max(0, fits_int64(getattr(account, counter) + change)))


def adjust_frozen(ledger: Ledger, name: AccountName, counter: Frozen, change: int) -> None:
    """The same by name; an account that is not there is passed over."""
    account = ledger.find_account(name) if change else None
    if account is not None:
        with ledger.editing(account):
            change_frozen(account, counter, change)


def move_balance(ledger: Ledger, account: Account, tokens: int, counter: Frozen, change: int) -> None:
    """Change the balance and a counter in one edit, the balance first."""
    with ledger.editing(account):
        account.balance = fits_int64(account.balance + tokens)
        change_frozen(account, counter, change)
