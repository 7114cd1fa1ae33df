"""The rules of leverage: bets with tokens that the lazy pool lends (spec 08, section 9)."""

from __future__ import annotations

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import int64, uint32
from ledgerd.chain.ledger.discrepancies import record_discrepancy
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.curve import priced, time_penalty_of
from ledgerd.chain.rules.markets.lazy_pool import credit, serve_queue
from ledgerd.chain.rules.markets.liquidation import accrue_funding, expect_end, obligation_of, unwind_position, value_of
from ledgerd.chain.rules.markets.market import (
    COLLATERAL,
    STAKES,
    adjust_frozen,
    change_frozen,
    count_stake,
    defer_claim,
    market_of,
    move_balance,
    require_active,
    require_markets_enabled,
)
from ledgerd.pricing import leverage
from ledgerd.pricing.constant_product import Fill, Reserves, buy
from ledgerd.pricing.widths import mul_div
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations.markets.leverage import (
    WHOLE_PERCENT,
    PmLeverageClose,
    PmLeverageConvert,
    PmLeverageOpen,
)
from ledgerd.protocol.operations.markets.markets import BINARY
from ledgerd.protocol.types.assets import fits_int64
from ledgerd.state.objects.discrepancies import Sum
from ledgerd.state.objects.markets.bets import PM_BETS, PmBet
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_POOLS, PmLazyPool
from ledgerd.state.objects.markets.leverage import ACTIVE, CLOSED, CONVERTED, PM_LEVERAGE_POSITIONS, PmLeveragePosition
from ledgerd.state.objects.markets.markets import PmMarket
from ledgerd.state.objects.markets.settlements import CLOSED_LEVERAGE


@evaluates(PmLeverageOpen)
def pm_leverage_open(ledger: Ledger, operation: PmLeverageOpen) -> None:
    """Spec 08, section 9.1. Quirk: positions of the other side fall only with the next operation that checks them."""
    require_markets_enabled(ledger)
    require(ledger.median.pm_leverage_enabled, "mp.pm_leverage_enabled: Leverage not enabled")
    market = market_of(ledger, operation.market_id)
    _check_market(ledger, operation, market)
    collateral, loan = operation.collateral.amount, operation.loan.amount
    account = ledger.account(operation.account)
    require(account.balance >= collateral, "acct.balance >= o.collateral: Insufficient balance for collateral")
    pool = ledger.store.get(PM_LAZY_POOLS, 0)
    _check_loan(ledger, pool, loan)
    total = _total_bet(ledger, operation, market)
    fill = _fill(ledger, operation, market, total)
    move_balance(ledger, account, -collateral, COLLATERAL, collateral)
    with ledger.editing(pool, market):
        pool.free_balance = fits_int64(pool.free_balance - loan)
        pool.leverage_fund_used = fits_int64(pool.leverage_fund_used + loan)
        market.reserve_a, market.reserve_b = fill.reserve_a, fill.reserve_b
    owed = leverage.threshold(loan, ledger.median.pm_leverage_pool_profit_percent)
    now = ledger.now
    position = PmLeveragePosition(
        market=market.id,
        account=operation.account,
        outcome_index=operation.outcome_index,
        collateral=collateral,
        loan=loan,
        total_bet=total,
        tokens=fill.tokens,
        pool_profit=fits_int64(owed - loan),
        liquidation_threshold=owed,
        created_time=now,
        last_update=now,
        funding_due_time=uint32(now + leverage.FUNDING_PERIOD),
    )
    ledger.store.create(PM_LEVERAGE_POSITIONS, position)
    expect_end(ledger, market)


def _check_market(ledger: Ledger, operation: PmLeverageOpen, market: PmMarket) -> None:
    """What the market must be like, and what is asked of the amounts by themselves (steps 1 to 3)."""
    median = ledger.median
    require_active(market)
    require(market.market_type == BINARY, "mkt.market_type == 0: Leverage is CPMM-binary only")
    require(
        operation.outcome_index in {0, 1},
        "o.outcome_index == 0 || o.outcome_index == 1: outcome_index must be 0/1",
    )
    if market.betting_expiration != 0:
        require(
            ledger.now < uint32(market.betting_expiration - median.pm_leverage_expiration_buffer_sec),
            "now < mkt.betting_expiration - fc::seconds(mp.pm_leverage_expiration_buffer_sec): "
            "Too close to betting expiration for leverage",
        )
    require(
        market.liquidity_sum >= median.pm_leverage_min_market_liquidity.amount,
        "mkt.liquidity_sum >= mp.pm_leverage_min_market_liquidity.amount: Market liquidity below leverage minimum",
    )
    require(
        operation.collateral.is_token and operation.loan.is_token,
        "o.collateral.symbol == TOKEN_SYMBOL && o.loan.symbol == TOKEN_SYMBOL: Must be VIZ",
    )
    require(
        operation.loan.amount >= median.pm_min_liquidity.amount,
        "o.loan.amount >= mp.pm_min_liquidity.amount: Leverage loan below minimum (pm_min_liquidity)",
    )


def _check_loan(ledger: Ledger, pool: PmLazyPool, loan: int) -> None:
    """Step 4. Quirk: what is lent counts twice, for the free tokens do not hold it any more."""
    median = ledger.median
    free = pool.free_balance
    require(loan <= free, "loan <= free_amount: Loan exceeds pool free capital")
    fund = mul_div(free, median.pm_leverage_fund_percent, WHOLE_PERCENT)
    available = int64(fund - pool.leverage_fund_used)
    require(available > 0, "fund_available > 0: Leverage fund exhausted")
    require(
        loan <= mul_div(available, median.pm_leverage_max_per_position_bp, HUNDRED_PERCENT),
        "loan <= per_pos_cap: Loan exceeds per-position cap",
    )


def _total_bet(ledger: Ledger, operation: PmLeverageOpen, market: PmMarket) -> int:
    """What is bet, within a part of the market's liquidity (step 5)."""
    total = int64(operation.collateral.amount + operation.loan.amount)
    percent = ledger.median.pm_leverage_max_position_ratio_percent
    require(
        total <= mul_div(market.liquidity_sum, percent, WHOLE_PERCENT),
        "total_bet <= pos_cap: Position exceeds market size limit",
    )
    return total


def _fill(ledger: Ledger, operation: PmLeverageOpen, market: PmMarket, total: int) -> Fill:
    """Even the worst bet against it must leave the loan (steps 6 and 7). Quirk: the allowed slippage is not checked."""
    median = ledger.median
    fill = priced(buy, market.reserve_a, market.reserve_b, market.k, total, operation.outcome_index)
    require(fill.tokens > 0, "fill.tokens > 0: Zero tokens")
    require(fill.tokens >= operation.min_tokens, "fill.tokens >= o.min_tokens.value: Slippage: tokens below min_tokens")
    limits = leverage.LeverageLimits(
        median.pm_leverage_pool_profit_percent,
        median.pm_leverage_safety_margin_percent,
        median.pm_leverage_max_slippage_percent,
        median.pm_leverage_m_factor_percent,
    )
    left = Reserves(fill.reserve_a, fill.reserve_b, market.k)
    worst = priced(leverage.worst_value, left, fill.tokens, operation.outcome_index, limits)
    require(
        worst >= leverage.safe_threshold(operation.loan.amount, limits),
        "cvw >= threshold_safe: Position fails worst-case safety check",
    )
    return fill


def _own_position(ledger: Ledger, operation: PmLeverageClose | PmLeverageConvert) -> PmLeveragePosition:
    """A position that stands, of the account that asks, with the funding of now. Its market may have any status."""
    position = ledger.store.get(PM_LEVERAGE_POSITIONS, operation.position_id)
    require(position.account == operation.account, "pos.account == o.account: Not your position")
    require(position.status == ACTIVE, "pos.status == 0: Position not active")
    accrue_funding(ledger, position)
    return position


def _repay(ledger: Ledger, position: PmLeveragePosition, paid: int, income: int) -> None:
    pool = ledger.store.get(PM_LAZY_POOLS, 0)
    with ledger.editing(pool):
        pool.free_balance = fits_int64(pool.free_balance + paid)
        pool.leverage_fund_used = fits_int64(pool.leverage_fund_used - position.loan)
        credit(pool, income)
    serve_queue(ledger)


@evaluates(PmLeverageClose)
def pm_leverage_close(ledger: Ledger, operation: PmLeverageClose) -> None:
    """Spec 08, section 9.2. What it is worth beyond its debt is a claim on its outcome; nothing is paid at once."""
    require_markets_enabled(ledger)
    position = _own_position(ledger, operation)
    market = market_of(ledger, position.market)
    value, owed = value_of(position, market), obligation_of(position)
    require(value >= owed, "cv >= obligation: Position underwater: cannot voluntarily close")
    gained = value - owed
    require(gained >= operation.min_return, "bettor_received >= o.min_return: Return below min_return")
    unwind_position(ledger, position, market, max(0, int64(position.total_bet - owed)))
    record_discrepancy(ledger, Sum.TOKENS, max(0, owed - position.total_bet))
    _repay(ledger, position, owed, fits_int64(position.pool_profit + position.funding_paid))
    defer_claim(ledger, market, operation.account, CLOSED_LEVERAGE, position.outcome_index, gained)
    with ledger.editing(position):
        position.status = CLOSED
        position.pool_received = owed
        position.bettor_received = gained
        position.last_update = ledger.now
    adjust_frozen(ledger, operation.account, COLLATERAL, -position.collateral)


@evaluates(PmLeverageConvert)
def pm_leverage_convert(ledger: Ledger, operation: PmLeverageConvert) -> None:
    """Pay loan and fee, and own the position as a bet like any other (spec 08, section 9.3)."""
    require_markets_enabled(ledger)
    require(
        operation.conversion_profit_cost == ledger.median.pm_conversion_profit_cost_percent,
        "o.conversion_profit_cost == mp.pm_conversion_profit_cost_percent: "
        "conversion_profit_cost must equal current consensus value",
    )
    position = _own_position(ledger, operation)
    market = market_of(ledger, position.market)
    value, owed = value_of(position, market), obligation_of(position)
    require(value >= owed, "cv >= obligation: Position underwater")
    require(value > owed, "current_profit > 0: No profit to convert")
    fee = leverage.conversion_fee(value, owed, operation.conversion_profit_cost)
    account = ledger.account(operation.account)
    total = int64(owed + fee)
    require(account.balance >= total, "acct.balance.amount >= total_payment: Insufficient balance for conversion")
    with ledger.editing(account):
        account.balance = fits_int64(account.balance - total)
        change_frozen(account, COLLATERAL, -position.collateral)
        change_frozen(account, STAKES, position.total_bet)
    _repay(ledger, position, total, fits_int64(position.pool_profit + fee + position.funding_paid))
    _become_bet(ledger, position, market)
    with ledger.editing(position):
        position.status = CONVERTED
        position.last_update = ledger.now


def _become_bet(ledger: Ledger, position: PmLeveragePosition, market: PmMarket) -> None:
    """The bet is new, but its risk began when the position was opened. Its tokens have long left the reserves."""
    bet = PmBet(
        market=market.id,
        account=position.account,
        side=position.outcome_index,
        outcome_index=-1,
        amount=position.total_bet,
        weight=position.tokens,
        created_time=ledger.now,
        time_penalty=time_penalty_of(ledger, market, position.created_time),
        entry_liquidity=market.liquidity_sum,
    )
    ledger.store.create(PM_BETS, bet)
    with ledger.editing(market):
        count_stake(market, position.outcome_index, position.total_bet)
