"""Turning tokens into vested shares (spec 02, section 4.4); what they are worth is said by the global properties."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.validators.votes import adjust_proxied_votes
from ledgerd.protocol.assets import fits_int64
from ledgerd.state.objects.accounts import Account


def create_vesting(ledger: Ledger, account: Account, tokens: int) -> int:
    """Give an account the shares that tokens are worth; returns them.

    With no tokens it still refreshes the virtual times of the validators that the account votes for, which is
    consensus (spec 02, section 4.4, quirk).
    """
    globals_ = ledger.globals
    shares = globals_.shares_for(tokens)
    with ledger.editing(account, globals_):
        account.vesting_shares = fits_int64(account.vesting_shares + shares)
        globals_.total_vesting_fund = fits_int64(globals_.total_vesting_fund + tokens)
        globals_.total_vesting_shares = fits_int64(globals_.total_vesting_shares + shares)
    adjust_proxied_votes(ledger, account, shares)
    return shares
