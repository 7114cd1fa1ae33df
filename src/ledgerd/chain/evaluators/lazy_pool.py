"""The rules of the lazy pool: putting tokens in for shares, and taking them out (spec 08, section 8)."""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import int64, uint32, uint128
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.lazy_pool import serve_queue
from ledgerd.chain.rules.markets.market import require_markets_enabled
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.pricing.lazy_pool import Deposit, Withdrawal, reward_growth, reward_since, shares_for, withdraw
from ledgerd.protocol.assets import fits_int64
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.lazy_pool import PmLazyDeposit, PmLazyWithdraw
from ledgerd.state.objects import lazy_pool as objects
from ledgerd.state.objects.lazy_pool import (
    LAZY_DEPOSIT_BY_ACCOUNT,
    PM_LAZY_DEPOSITS,
    PM_LAZY_POOLS,
    PM_LAZY_WITHDRAW_REQUESTS,
    PmLazyPool,
    PmLazyWithdrawRequest,
)


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
    pool = ledger.store.get(PM_LAZY_POOLS, 0)
    bought = shares_for(amount, pool.total_shares, _equity_of(pool))
    require(bought > 0, "new_shares.value > 0: Zero shares minted")
    with ledger.editing(pool):
        pool.total_shares = fits_int64(pool.total_shares + bought)
        pool.free_balance = fits_int64(pool.free_balance + amount)
    _add_to_deposit(ledger, pool, operation.account, bought, amount)
    serve_queue(ledger)


def _require_pool_enabled(ledger: Ledger) -> None:
    require(ledger.median.pm_lazy_pool_enabled, "mp.pm_lazy_pool_enabled: Lazy pool not enabled")


def _equity_of(pool: PmLazyPool) -> int:
    """What the shares stand for: tokens wherever they are, without those that are owed already."""
    return int64(pool.free_balance + pool.allocated_balance + pool.leverage_fund_used - pool.pending_withdrawals)


def _terms_of(deposit: objects.PmLazyDeposit) -> Deposit:
    return Deposit(deposit.shares, deposit.principal, deposit.reward_snapshot, deposit.pending_rewards)


def _add_to_deposit(ledger: Ledger, pool: PmLazyPool, account: AccountName, bought: int, amount: int) -> None:
    """Quirk: a deposit that is there already keeps its lock, over or not."""
    deposit = ledger.store.lookup(LAZY_DEPOSIT_BY_ACCOUNT, account)
    if deposit is None:
        ledger.store.create(
            PM_LAZY_DEPOSITS,
            objects.PmLazyDeposit(
                account=account,
                shares=bought,
                principal=amount,
                reward_snapshot=pool.reward_per_share,
                unlock_time=uint32(ledger.now + ledger.median.pm_lazy_lock_sec),
            ),
        )
        return
    reward = reward_since(_terms_of(deposit), pool.reward_per_share)
    with ledger.editing(deposit):
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
    deposit = ledger.store.lookup(LAZY_DEPOSIT_BY_ACCOUNT, operation.account)
    if deposit is None:
        raise RuleViolation("it != didx.end(): No lazy deposit found")
    pool = ledger.store.get(PM_LAZY_POOLS, 0)
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
        with ledger.editing(deposit):
            deposit.shares = fits_int64(deposit.shares - burnt)
            deposit.principal = fits_int64(deposit.principal - part.principal)
            deposit.pending_rewards = fits_int64(pending - part.reward)
            deposit.reward_snapshot = pool.reward_per_share
    if part.owed > 0:
        ledger.store.create(
            PM_LAZY_WITHDRAW_REQUESTS,
            PmLazyWithdrawRequest(account=operation.account, amount=part.owed, created=ledger.now),
        )
    serve_queue(ledger)


def _burn(ledger: Ledger, pool: PmLazyPool, burnt: int, part: Withdrawal) -> None:
    """The penalty is a reward for the shares that are left.

    Quirk: among them are those that the withdrawer keeps, whose part nobody ever gets: his snapshot is taken later.
    """
    with ledger.editing(pool):
        pool.total_shares = fits_int64(pool.total_shares - burnt)
        pool.pending_withdrawals = fits_int64(pool.pending_withdrawals + part.owed)
        if part.penalty > 0:
            growth = reward_growth(part.penalty, pool.total_shares)
            pool.reward_per_share = uint128(pool.reward_per_share + growth)
