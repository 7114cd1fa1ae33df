"""The lazy pool: its queue, its income, what it puts into a market and what it takes out again.

Spec 08, sections 3.8 to 3.10; spec 09, sections 7.7 to 7.10.
"""

from __future__ import annotations

from itertools import islice

from ledgerd.chain.ledger.arithmetic import uint32, uint128
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.gauges import find_oracle
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.pricing.constant_product import reserves_with_halves, reserves_without
from ledgerd.pricing.lazy_pool import MAX_HALVINGS, allocation, reward_growth
from ledgerd.pricing.liquidity import depth_added, depth_removed
from ledgerd.protocol.assets import fits_int64
from ledgerd.protocol.names import NO_NAME
from ledgerd.protocol.operations.markets import MULTI
from ledgerd.state.objects.lazy_pool import (
    ACTIVE,
    LAZY_ALLOCATION_BY_MARKET,
    PM_LAZY_ALLOCATIONS,
    PM_LAZY_POOLS,
    PM_LAZY_WITHDRAW_REQUESTS,
    RETURNED,
    PmLazyAllocation,
    PmLazyPool,
)
from ledgerd.state.objects.liquidity import ACTIVE as PROVIDED
from ledgerd.state.objects.liquidity import CLOSED, LIQUIDITY_BY_MARKET, PM_LIQUIDITY, PmLiquidity
from ledgerd.state.objects.markets import ACTIVE as TAKES_BETS
from ledgerd.state.objects.markets import MARKET_BY_ORACLE, PmMarket

STAMP_LIFE = 864_000
MAX_OTHERS = 20
MAX_LOOKED_AT = 128
"""How many of an oracle's markets are looked at for those that are active, and how many of these count."""


def find_pool(ledger: Ledger) -> PmLazyPool | None:
    return ledger.store.find(PM_LAZY_POOLS, 0)


def serve_queue(ledger: Ledger, limit: int = 1) -> int:
    """Pay those who wait for their withdrawals, the oldest first, as far as free tokens go; returns how many."""
    pool = find_pool(ledger)
    served = 0
    while pool is not None and served < limit and pool.free_balance > 0:
        request = ledger.store.first(PM_LAZY_WITHDRAW_REQUESTS)
        paid = 0 if request is None else min(pool.free_balance, request.amount)
        if request is None or paid <= 0:
            break
        adjust_balance(ledger, ledger.account(request.account), paid)
        with ledger.editing(pool):
            pool.free_balance = fits_int64(pool.free_balance - paid)
            pool.pending_withdrawals = fits_int64(pool.pending_withdrawals - paid)
        served += 1
        if paid < request.amount:
            with ledger.editing(request):
                request.amount = fits_int64(request.amount - paid)
            break
        ledger.store.remove(request)
    return served


def credit(pool: PmLazyPool, income: int) -> None:
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
    row = ledger.store.lookup(LAZY_ALLOCATION_BY_MARKET, market.id)
    if row is not None and row.status == ACTIVE:
        with ledger.editing(row):
            row.returned_amount = fits_int64(row.returned_amount + row.amount)
            row.amount = 0
            row.status = RETURNED


def allocate(ledger: Ledger, market: PmMarket) -> None:
    """Put a part of the pool into a market that has just become active, once in its life (spec 08, section 3.10).

    It is less the more active markets the oracle has, and the more often it has missed a resolution of late.
    """
    median, pool = ledger.median, find_pool(ledger)
    if (
        pool is None
        or not median.pm_lazy_pool_enabled
        or market.liquidity_fee_percent < median.pm_lazy_min_liquidity_fee_percent
        or pool.free_balance <= 0
        or ledger.store.lookup(LAZY_ALLOCATION_BY_MARKET, market.id) is not None
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
    rows = ledger.store.scan(MARKET_BY_ORACLE, lower=(market.oracle,), upper=(market.oracle,))
    for row in islice(rows, MAX_LOOKED_AT):
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


def _put_in(ledger: Ledger, market: PmMarket, pool: PmLazyPool, amount: int) -> None:
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
    ledger.store.create(
        PM_LAZY_ALLOCATIONS,
        PmLazyAllocation(
            market=market.id,
            amount=amount,
            original_amount=amount,
            bets_sum_at_check=market.bets_sum,
            last_check_time=ledger.now,
        ),
    )


def recall(ledger: Ledger, market: PmMarket, amount: int) -> int:
    """Take an amount out of a market before it ends, or what there is of it; returns what was taken.

    Spec 09, section 7.9.
    """
    row = _row_of_pool(ledger, market) if amount > 0 else None
    if row is None:
        return 0
    taken = min(amount, row.amount)
    depth = depth_removed(row.b_share, taken, row.amount) if market.market_type == MULTI else 0
    liquidity = market.liquidity_sum
    with ledger.editing(market, row):
        market.liquidity_sum = fits_int64(liquidity - taken)
        if market.market_type == MULTI:
            market.lmsr_b = fits_int64(market.lmsr_b - depth)
        elif liquidity > 0:
            reserves = reserves_without(market.reserve_a, market.reserve_b, liquidity, taken)
            market.reserve_a, market.reserve_b, market.k = reserves
        if taken == row.amount:
            row.status = CLOSED
        else:
            row.amount = fits_int64(row.amount - taken)
            row.b_share = fits_int64(row.b_share - depth)
    return_to_pool(ledger, taken, 0)
    return taken


def _row_of_pool(ledger: Ledger, market: PmMarket) -> PmLiquidity | None:
    rows = ledger.store.scan(LIQUIDITY_BY_MARKET, lower=(market.id,), upper=(market.id,))
    return next((row for row in rows if row.status == PROVIDED and not row.provider), None)
