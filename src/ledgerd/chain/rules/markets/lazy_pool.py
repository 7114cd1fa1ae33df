"""The lazy pool: its queue, its income, what it puts into a market and takes out again (spec 08, sections 3.8 to
3.10; spec 09, sections 7.7 to 7.10), and what deposits weigh in votes of shares (spec 10, section 7.2).
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from ledgerd.chain.ledger.arithmetic import int64, uint32, uint128
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.curve import take_liquidity
from ledgerd.chain.rules.markets.oracles import find_oracle
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.pricing.constant_product import reserves_with_halves
from ledgerd.pricing.liquidity import MAX_HALVINGS, allocation, depth_added, depth_removed, reward_growth
from ledgerd.protocol.operations.markets.markets import MULTI
from ledgerd.protocol.types.assets import fits_int64
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.state.objects.markets import lazy_pool
from ledgerd.state.objects.markets.liquidity import ACTIVE as PROVIDED
from ledgerd.state.objects.markets.liquidity import CLOSED, LIQUIDITY_BY_MARKET, PM_LIQUIDITY, PmLiquidity
from ledgerd.state.objects.markets.markets import ACTIVE as TAKES_BETS
from ledgerd.state.objects.markets.markets import MARKET_BY_ORACLE, PmMarket

STAMP_LIFE = 864_000
MAX_OTHERS = 20
MAX_SCANNED = 128
"""How many of an oracle's markets are looked at for those that are active, and how many of these count."""


def find_pool(ledger: Ledger) -> lazy_pool.PmLazyPool | None:
    return ledger.store.find(lazy_pool.PM_LAZY_POOLS, 0)


def serve_queue(ledger: Ledger, limit: int = 1) -> int:
    """Pay those who wait for their withdrawals, the oldest first, as far as free tokens go; returns how many."""
    pool = find_pool(ledger)
    served = 0
    while pool is not None and served < limit and pool.free_balance > 0:
        request = ledger.store.first(lazy_pool.PM_LAZY_WITHDRAW_REQUESTS)
        paid = 0 if request is None else min(pool.free_balance, request.amount)
        if request is None or paid <= 0:
            break
        adjust_balance(ledger, ledger.account(request.account), paid)
        ledger.remember(pool)
        pool.free_balance = fits_int64(pool.free_balance - paid)
        pool.pending_withdrawals = fits_int64(pool.pending_withdrawals - paid)
        served += 1
        if paid < request.amount:
            ledger.remember(request)
            request.amount = fits_int64(request.amount - paid)
            break
        ledger.store.remove(request)
    return served


def credit(pool: lazy_pool.PmLazyPool, income: int) -> None:
    """Let income count for all shares of the pool, which is being edited (spec 08, section 3.9)."""
    pool.earned_balance = fits_int64(pool.earned_balance + income)
    pool.reward_per_share = uint128(pool.reward_per_share + reward_growth(income, pool.total_shares))


def return_to_pool(ledger: Ledger, principal: int, income: int) -> None:
    """Tokens come back from a market, with what they have earned (`route_pool_lp_return`)."""
    pool = find_pool(ledger)
    if pool is None:
        return
    with ledger.editing(pool):
        pool.free_balance = fits_int64(pool.free_balance + principal + income)
        pool.allocated_balance = fits_int64(pool.allocated_balance - principal)
        if income > 0:
            credit(pool, income)
    serve_queue(ledger)


def settle_allocation(ledger: Ledger, market: PmMarket) -> None:
    """Nothing of the pool is in a market any more (`mark_alloc_settled`)."""
    row = ledger.store.lookup(lazy_pool.LAZY_ALLOCATION_BY_MARKET, market.id)
    if row is not None and row.status == lazy_pool.ACTIVE:
        with ledger.editing(row):
            row.returned_amount = fits_int64(row.returned_amount + row.amount)
            row.amount = 0
            row.status = lazy_pool.RETURNED


def allocate(ledger: Ledger, market: PmMarket) -> None:
    """Once in a market's life (spec 08, section 3.10); less for more active markets or recent misses of the oracle."""
    median, pool = ledger.median, find_pool(ledger)
    if (
        pool is None
        or not median.pm_lazy_pool_enabled
        or market.liquidity_fee_percent < median.pm_lazy_min_liquidity_fee_percent
        or pool.free_balance <= 0
        or ledger.store.lookup(lazy_pool.LAZY_ALLOCATION_BY_MARKET, market.id) is not None
    ):
        return
    amount = allocation(
        pool.free_balance,
        pool.allocated_balance,
        median.pm_lazy_alloc_percent,
        median.pm_lazy_max_total_alloc_percent,
        _other_active_markets(ledger, market),
        _live_stamps(ledger, market),
    )
    if amount > 0:
        _put_in(ledger, market, pool, amount)


def _other_active_markets(ledger: Ledger, market: PmMarket) -> int:
    """Among the oldest rows of the oracle only: those of one with many ended markets may hide all active ones."""
    count = 0
    rows = ledger.store.under(MARKET_BY_ORACLE, market.oracle)
    for row in islice(rows, MAX_SCANNED):
        if row.status == TAKES_BETS and row.id != market.id:
            count += 1
            if count == MAX_OTHERS:
                break
    return count


def _live_stamps(ledger: Ledger, market: PmMarket) -> int:
    oracle = find_oracle(ledger, market.oracle)
    if oracle is None or ledger.now >= uint32(oracle.last_penalty_stamp_time + STAMP_LIFE):
        return 0
    return min(oracle.penalty_stamps, MAX_HALVINGS)


def _put_in(ledger: Ledger, market: PmMarket, pool: lazy_pool.PmLazyPool, amount: int) -> None:
    depth = 0
    with ledger.editing(market, pool):
        if market.market_type == MULTI:
            depth = depth_added(market.lmsr_b, amount, market.liquidity_sum)
            market.lmsr_b = fits_int64(market.lmsr_b + depth)
            market.lmsr_subsidy = fits_int64(market.lmsr_subsidy + amount)
        else:
            reserves = reserves_with_halves(market.reserve_a, market.reserve_b, amount)
            market.reserve_a, market.reserve_b, market.k = reserves
        market.liquidity_sum = fits_int64(market.liquidity_sum + amount)
        pool.free_balance = fits_int64(pool.free_balance - amount)
        pool.allocated_balance = fits_int64(pool.allocated_balance + amount)
    ledger.store.create(
        PM_LIQUIDITY,
        PmLiquidity(market=market.id, provider=NO_NAME, amount=amount, deposit_time=ledger.now, b_share=depth),
    )
    allocation = lazy_pool.PmLazyAllocation(
        market=market.id,
        amount=amount,
        original_amount=amount,
        bets_sum_at_check=market.bets_sum,
        last_check_time=ledger.now,
    )
    ledger.store.create(lazy_pool.PM_LAZY_ALLOCATIONS, allocation)


def recall(ledger: Ledger, market: PmMarket, amount: int) -> int:
    """Take an amount, or what there is of it, out of a market before it ends (spec 09, section 7.9)."""
    row = _row_of_pool(ledger, market) if amount > 0 else None
    if row is None:
        return 0
    taken = min(amount, row.amount)
    depth = depth_removed(row.b_share, taken, row.amount) if market.market_type == MULTI else 0
    with ledger.editing(market, row):
        take_liquidity(market, taken, depth)
        if taken == row.amount:
            row.status = CLOSED
        else:
            row.amount = fits_int64(row.amount - taken)
            row.b_share = fits_int64(row.b_share - depth)
    return_to_pool(ledger, taken, 0)
    return taken


def _row_of_pool(ledger: Ledger, market: PmMarket) -> PmLiquidity | None:
    rows = ledger.store.under(LIQUIDITY_BY_MARKET, market.id)
    return next((row for row in rows if row.status == PROVIDED and not row.provider), None)


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
    pool = find_pool(ledger)
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
    deposit = ledger.store.lookup(lazy_pool.LAZY_DEPOSIT_BY_ACCOUNT, voter)
    if deposit is None or deposit.shares <= 0:
        return 0
    value = int64(uint128(pool.value * deposit.shares) // pool.total_shares)
    return ledger.globals.shares_for(value) if value > 0 else 0
