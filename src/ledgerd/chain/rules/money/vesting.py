"""Turning tokens into vested shares (spec 02, section 4.4); what they are worth is said by the global properties."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerd.chain.ledger.arithmetic import share
from ledgerd.chain.rules.validators.votes import adjust_proxied_votes

if TYPE_CHECKING:
    from ledgerd.chain.ledger.ledger import Ledger
    from ledgerd.state.objects.accounts import Account


def create_vesting(ledger: Ledger, account: Account, tokens: int) -> int:
    """Give an account the shares that tokens are worth; returns them.

    With no tokens it still refreshes the virtual times of the validators that the account votes for, which is
    consensus (spec 02, section 4.4, quirk).
    """
    globals_ = ledger.globals
    shares = globals_.shares_for(tokens)
    with ledger.editing(account, globals_):
        account.vesting_shares = share(account.vesting_shares + shares)
        globals_.total_vesting_fund = share(globals_.total_vesting_fund + tokens)
        globals_.total_vesting_shares = share(globals_.total_vesting_shares + shares)
    adjust_proxied_votes(ledger, account, shares)
    return shares
