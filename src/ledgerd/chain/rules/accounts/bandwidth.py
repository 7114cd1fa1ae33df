"""Bandwidth: how much of the chain an account has used lately, against its part of the shares (spec 02, 4.11).

It never makes a block invalid: only transactions that are new to this node are refused for it.
"""

from __future__ import annotations

from collections.abc import Iterable

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import int64, uint128
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.assets import fits_int64
from ledgerd.protocol.constants import BANDWIDTH_PRECISION
from ledgerd.protocol.errors import require
from ledgerd.state.objects.accounts import Account


def use_bandwidth(ledger: Ledger, account: Account, sizes: Iterable[int]) -> None:
    """Count so many bytes for an account, one number after the other."""
    globals_ = ledger.globals
    total_shares, now = globals_.total_vesting_shares, globals_.time
    if total_shares <= 0:
        return
    window = ledger.network.bandwidth_average_window_seconds
    average, lifetime = account.average_bandwidth, account.lifetime_bandwidth
    elapsed = now - account.last_bandwidth_update
    for size in sizes:
        used = int64(size * BANDWIDTH_PRECISION)
        left = 0 if elapsed > window else uint128((window - elapsed) * average) // window
        average, lifetime, elapsed = fits_int64(int64(left) + used), fits_int64(lifetime + used), 0
        if ledger.is_producing:
            allowed = uint128(_counted_shares(ledger, account) * globals_.max_virtual_bandwidth)
            require(
                allowed > uint128(average * total_shares),
                "has_bandwidth: Account exceeded maximum allowed bandwidth per vesting share.",
            )
    with ledger.editing(account):
        account.average_bandwidth = average
        account.lifetime_bandwidth = lifetime
        account.last_bandwidth_update = now


def _counted_shares(ledger: Ledger, account: Account) -> int:
    """An account's shares less the reserve; accounts with too few have an equal part of the reserve."""
    median = ledger.median
    shares = uint128(account.effective_shares)
    if shares < median.bandwidth_reserve_below.amount:
        reserve = ledger.globals.total_vesting_shares * median.bandwidth_reserve_percent // HUNDRED_PERCENT
        return reserve // ledger.globals.bandwidth_reserve_candidates
    return uint128(shares * (HUNDRED_PERCENT - median.bandwidth_reserve_percent)) // HUNDRED_PERCENT
