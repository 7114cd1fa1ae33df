"""What deposits in the lazy pool weigh in votes of shares: of the committee, and on disputes (spec 10, section 7.2)."""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.chain.ledger.arithmetic import int64, uint128
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.names import AccountName
from ledgerd.state.objects.lazy_pool import LAZY_DEPOSIT_BY_ACCOUNT, PM_LAZY_POOLS


class PoolVotes(NamedTuple):
    """The pool at one moment. What it owes to those who wait for their tokens is not taken off (spec 08, 12.6)."""

    value: int
    """Its tokens, wherever they are; nothing when nobody has a share."""
    total_shares: int
    weight: int
    """The chain's shares that all of its tokens would buy."""


NO_POOL_VOTES = PoolVotes(0, 0, 0)


def pool_votes(ledger: Ledger) -> PoolVotes:
    """The pool as it stands; before hardfork 14 there is none."""
    pool = ledger.store.find(PM_LAZY_POOLS, 0)
    if pool is None or pool.total_shares <= 0:
        return NO_POOL_VOTES
    value = int64(pool.free_balance + pool.allocated_balance + pool.leverage_fund_used)
    return PoolVotes(value, pool.total_shares, ledger.globals.shares_for(value) if value > 0 else 0)


def voting_weight(ledger: Ledger, pool: PoolVotes, voter: AccountName) -> int:
    """The shares that an account has the use of, and those that its part of the pool would buy."""
    return int64(ledger.account(voter).effective_shares + _deposited_weight(ledger, pool, voter))


def _deposited_weight(ledger: Ledger, pool: PoolVotes, voter: AccountName) -> int:
    if pool.value <= 0:
        return 0
    deposit = ledger.store.lookup(LAZY_DEPOSIT_BY_ACCOUNT, voter)
    if deposit is None or deposit.shares <= 0:
        return 0
    value = int64(uint128(pool.value * deposit.shares) // pool.total_shares)
    return ledger.globals.shares_for(value) if value > 0 else 0
