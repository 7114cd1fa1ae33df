"""The rules of liquidity: in a market (spec 08, section 6), and in the lazy pool, for all markets (section 8)."""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import int64, uint32, uint128
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.curve import take_liquidity
from ledgerd.chain.rules.markets.lazy_pool import serve_queue
from ledgerd.chain.rules.markets.liquidation import ANY_SIDE, BY_OPPOSING_BET, cascade, has_active_position
from ledgerd.chain.rules.markets.market import (
    LIQUIDITY,
    is_betting_open,
    market_of,
    move_balance,
    require_active,
    require_betting_open,
    require_markets_enabled,
)
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.pricing.constant_product import reserves_with
from ledgerd.pricing.liquidity import (
    Deposit,
    Withdrawal,
    depth_added,
    depth_removed,
    reward_growth,
    reward_since,
    shares_for,
    withdraw,
)
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations.markets.liquidity import (
    PmAddLiquidity,
    PmLazyDeposit,
    PmLazyWithdraw,
    PmWithdrawLiquidity,
)
from ledgerd.protocol.operations.markets.markets import BINARY, MULTI
from ledgerd.protocol.types.assets import fits_int64
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.markets import lazy_pool
from ledgerd.state.objects.markets.liquidity import ACTIVE, CLOSED, PM_LIQUIDITY, PmLiquidity
from ledgerd.state.objects.markets.markets import CLOSED as TAKES_NO_BETS
from ledgerd.state.objects.markets.markets import PmMarket


@evaluates(PmAddLiquidity)
def pm_add_liquidity(ledger: Ledger, operation: PmAddLiquidity) -> None:
    """Put tokens into a market that takes bets, in a row of their own; prices stay (spec 08, section 6.1)."""
    require_markets_enabled(ledger)
    market = market_of(ledger, operation.market_id)
    require_active(market)
    require_betting_open(ledger, market, "Cannot add liquidity after betting ends")
    amount = operation.amount.amount
    require(operation.amount.is_token, "o.amount.symbol == TOKEN_SYMBOL: Amount must be VIZ")
    require(amount > 0, "o.amount.amount > 0: Amount must be positive")
    require(
        amount >= ledger.median.pm_min_liquidity.amount,
        "o.amount.amount >= mp.pm_min_liquidity.amount: Liquidity below the minimum (pm_min_liquidity); "
        "the floor applies to topping up a market too",
    )
    provider = ledger.account(operation.provider)
    require(provider.balance >= amount, "provider.balance >= o.amount: Insufficient balance")
    move_balance(ledger, provider, -amount, LIQUIDITY, amount)
    depth = _deepen(ledger, market, amount)
    row = PmLiquidity(
        market=market.id, provider=operation.provider, amount=amount, deposit_time=ledger.now, b_share=depth
    )
    ledger.store.create(PM_LIQUIDITY, row)


def _deepen(ledger: Ledger, market: PmMarket, amount: int) -> int:
    """Returns what a book of more outcomes than two gained in depth; a curve has none of that kind."""
    depth, liquidity = 0, market.liquidity_sum
    with ledger.editing(market):
        if market.market_type == MULTI:
            depth = depth_added(market.lmsr_b, amount, liquidity)
            market.lmsr_b = fits_int64(market.lmsr_b + depth)
            market.lmsr_subsidy = fits_int64(market.lmsr_subsidy + amount)
        else:
            reserves = reserves_with(market.reserve_a, market.reserve_b, liquidity, amount)
            market.reserve_a, market.reserve_b, market.k = reserves
        market.liquidity_sum = fits_int64(liquidity + amount)
    return depth


@evaluates(PmWithdrawLiquidity)
def pm_withdraw_liquidity(ledger: Ledger, operation: PmWithdrawLiquidity) -> None:
    """Take tokens out while bets are taken, or after the settlement (spec 08, section 6.2).

    Before settlement so much must stay that there is a market. Prices then move more easily, so that positions with a
    loan may fall.
    """
    require_markets_enabled(ledger)
    row = ledger.store.get(PM_LIQUIDITY, operation.liquidity_id)
    require(row.provider == operation.provider, "lp.provider == o.provider: Not your liquidity position")
    require(row.status == ACTIVE, "lp.status == 0: Position already closed")
    market = market_of(ledger, row.market)
    require(
        market.finalized_time != 0 or (market.status < TAKES_NO_BETS and is_betting_open(ledger, market)),
        "mkt.finalized_time != time_point_sec() || (mkt.status < 2 && (mkt.betting_expiration == time_point_sec() || "
        "now < mkt.betting_expiration)): LP positions are locked once betting closes or the market resolves, "
        "until settlement",
    )
    amount = operation.amount.amount or row.amount
    require(
        0 < amount <= row.amount,
        "withdraw.value > 0 && withdraw.value <= lp.amount.value: Invalid withdrawal amount",
    )
    if market.finalized_time == 0:
        require(
            market.liquidity_sum - amount >= _least_liquidity(ledger, market),
            "mkt.liquidity_sum.value - withdraw.value >= floor: "
            "Withdrawal would drop market liquidity below the minimum",
        )
    provider = ledger.account(operation.provider)
    move_balance(ledger, provider, fits_int64(amount + row.earned_fee), LIQUIDITY, -amount)
    depth = _depth_of(ledger, market, row, amount)
    with ledger.editing(market):
        take_liquidity(market, amount, depth)
    _shrink(ledger, row, amount, depth)
    if market.market_type == BINARY:
        cascade(ledger, market, ANY_SIDE, BY_OPPOSING_BET)


def _least_liquidity(ledger: Ledger, market: PmMarket) -> int:
    """What must stay in a market; more where positions stand that were allowed for its depth."""
    median = ledger.median
    least = median.pm_min_liquidity.amount
    if has_active_position(ledger, market):
        least = max(least, median.pm_leverage_min_market_liquidity.amount)
    return least


def _depth_of(ledger: Ledger, market: PmMarket, row: PmLiquidity, amount: int) -> int:
    """What of the depth of a book goes with an amount, which from hardfork 15 on must be there."""
    if market.market_type != MULTI:
        return 0
    depth = depth_removed(row.b_share, amount, row.amount)
    if ledger.hardfork(15) and row.b_share > 0:
        require(
            depth <= market.lmsr_b,
            "!db.has_hardfork(CHAIN_PM_AUDIT_FIX_HARDFORK) || b_remove <= mkt.lmsr_b: Withdrawal would drain the LMSR "
            "pricing curve: this position's b_share is larger than the market holds (pre-audit-fix "
            "partial-withdraw bookkeeping)",
        )
    return depth


def _shrink(ledger: Ledger, row: PmLiquidity, amount: int, depth: int) -> None:
    """Quirk: before hardfork 15 a row keeps its part of the depth, and takes it out again with its next amount."""
    with ledger.editing(row):
        row.earned_fee = 0
        if amount == row.amount:
            row.status = CLOSED
        else:
            row.amount = fits_int64(row.amount - amount)
            if ledger.hardfork(15):
                row.b_share = fits_int64(row.b_share - depth)


@evaluates(PmLazyDeposit)
def pm_lazy_deposit(ledger: Ledger, operation: PmLazyDeposit) -> None:
    """Buy shares of the pool at what they are worth (spec 08, section 8.1)."""
    require_markets_enabled(ledger)
    _require_pool_enabled(ledger)
    amount = operation.amount.amount
    require(operation.amount.is_token, "o.amount.symbol == TOKEN_SYMBOL: Amount must be VIZ")
    require(amount > 0, "o.amount.amount > 0: Amount must be positive")
    account = ledger.account(operation.account)
    require(account.balance >= amount, "acct.balance >= o.amount: Insufficient balance")
    adjust_balance(ledger, account, -amount)
    pool = ledger.store.get(lazy_pool.PM_LAZY_POOLS, 0)
    bought = shares_for(amount, pool.total_shares, _equity_of(pool))
    require(bought > 0, "new_shares.value > 0: Zero shares minted")
    ledger.remember(pool)
    pool.total_shares = fits_int64(pool.total_shares + bought)
    pool.free_balance = fits_int64(pool.free_balance + amount)
    _add_to_deposit(ledger, pool, operation.account, bought, amount)
    serve_queue(ledger)


def _require_pool_enabled(ledger: Ledger) -> None:
    require(ledger.median.pm_lazy_pool_enabled, "mp.pm_lazy_pool_enabled: Lazy pool not enabled")


def _equity_of(pool: lazy_pool.PmLazyPool) -> int:
    """What the shares stand for: tokens wherever they are, without those that are owed already."""
    return int64(pool.free_balance + pool.allocated_balance + pool.leverage_fund_used - pool.pending_withdrawals)


def _terms_of(deposit: lazy_pool.PmLazyDeposit) -> Deposit:
    return Deposit(deposit.shares, deposit.principal, deposit.reward_snapshot, deposit.pending_rewards)


def _add_to_deposit(ledger: Ledger, pool: lazy_pool.PmLazyPool, account: AccountName, bought: int, amount: int) -> None:
    """Quirk: a deposit that is there already keeps its lock, over or not."""
    deposit = ledger.store.lookup(lazy_pool.LAZY_DEPOSIT_BY_ACCOUNT, account)
    if deposit is None:
        new_deposit = lazy_pool.PmLazyDeposit(
            account=account,
            shares=bought,
            principal=amount,
            reward_snapshot=pool.reward_per_share,
            unlock_time=uint32(ledger.now + ledger.median.pm_lazy_lock_sec),
        )
        ledger.store.create(lazy_pool.PM_LAZY_DEPOSITS, new_deposit)
        return
    reward = reward_since(_terms_of(deposit), pool.reward_per_share)
    ledger.remember(deposit)
    deposit.pending_rewards = fits_int64(deposit.pending_rewards + reward)
    deposit.shares = fits_int64(deposit.shares + bought)
    deposit.principal = fits_int64(deposit.principal + amount)
    deposit.reward_snapshot = pool.reward_per_share


@evaluates(PmLazyWithdraw)
def pm_lazy_withdraw(ledger: Ledger, operation: PmLazyWithdraw) -> None:
    """Give shares back: principal and rewards join the queue of what the pool owes (spec 08, section 8.2).

    In an emergency a locked deposit may be taken too, for a part of its rewards.
    """
    require_markets_enabled(ledger)
    _require_pool_enabled(ledger)
    deposit = ledger.store.lookup(lazy_pool.LAZY_DEPOSIT_BY_ACCOUNT, operation.account)
    if deposit is None:
        raise RuleViolation("it != didx.end(): No lazy deposit found")
    pool = ledger.store.get(lazy_pool.PM_LAZY_POOLS, 0)
    require(pool.total_shares > 0, "pool.total_shares.value > 0: Pool empty")
    is_locked = ledger.now < deposit.unlock_time
    if not operation.emergency:
        require(not is_locked, "!locked: Deposit is locked; use emergency withdrawal or wait for unlock")
    burnt = operation.shares or deposit.shares
    require(
        0 < burnt <= deposit.shares,
        "burn_shares.value > 0 && burn_shares.value <= dep.shares.value: Invalid shares amount",
    )
    percent = ledger.median.pm_lazy_emergency_penalty_percent if is_locked else 0
    part = withdraw(_terms_of(deposit), burnt, pool.reward_per_share, percent)
    pending = fits_int64(reward_since(_terms_of(deposit), pool.reward_per_share) + deposit.pending_rewards)
    _burn(ledger, pool, burnt, part)
    if burnt == deposit.shares:
        ledger.store.remove(deposit)
    else:
        ledger.remember(deposit)
        deposit.shares = fits_int64(deposit.shares - burnt)
        deposit.principal = fits_int64(deposit.principal - part.principal)
        deposit.pending_rewards = fits_int64(pending - part.reward)
        deposit.reward_snapshot = pool.reward_per_share
    if part.owed > 0:
        ledger.store.create(
            lazy_pool.PM_LAZY_WITHDRAW_REQUESTS,
            lazy_pool.PmLazyWithdrawRequest(account=operation.account, amount=part.owed, created=ledger.now),
        )
    serve_queue(ledger)


def _burn(ledger: Ledger, pool: lazy_pool.PmLazyPool, burnt: int, part: Withdrawal) -> None:
    """Quirk: the penalty is a reward also for the shares that the withdrawer keeps, whose part nobody ever gets."""
    with ledger.editing(pool):
        pool.total_shares = fits_int64(pool.total_shares - burnt)
        pool.pending_withdrawals = fits_int64(pool.pending_withdrawals + part.owed)
        if part.penalty > 0:
            growth = reward_growth(part.penalty, pool.total_shares)
            pool.reward_per_share = uint128(pool.reward_per_share + growth)
