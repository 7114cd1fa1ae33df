"""Energy: what an account may still give away in awards, and how it comes back with time (spec 02, 4.1 and 4.2)."""

from __future__ import annotations

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import int16, truncated
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.state.objects.accounts.accounts import Account


def energy_now(ledger: Ledger, account: Account) -> int:
    """The energy left at the last use, and what has come back since. It may be below zero."""
    elapsed = ledger.now - account.last_vote_time
    returned = truncated(HUNDRED_PERCENT * elapsed, ledger.network.energy_regeneration_seconds)
    return min(account.energy + returned, HUNDRED_PERCENT)


def spend_energy_with_shares(ledger: Ledger, account: Account, shares: int) -> None:
    """Call it before they leave. For no shares it still drops a part of a point (spec 02, section 4.2, quirk)."""
    effective = account.effective_shares
    if effective <= 0:
        return
    left = energy_now(ledger, account) - truncated(HUNDRED_PERCENT * shares, effective)
    ledger.remember(account)
    account.energy = int16(max(left, -HUNDRED_PERCENT))
    account.last_vote_time = ledger.now
