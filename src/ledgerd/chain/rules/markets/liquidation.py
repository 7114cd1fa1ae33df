"""Positions with a loan that fall: funding, liquidation, and which fall when prices move (spec 08, 3.12 to 3.15).
Each market with positions has a row with the time from which they are closed because betting is over; the reference
walks every position in each block (spec 09, section 5.5).
"""

from __future__ import annotations

from ledgerd.chain.ledger.discrepancies import record_discrepancy
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.curve import priced, reserves_of
from ledgerd.chain.rules.markets.lazy_pool import credit, find_pool, serve_queue
from ledgerd.chain.rules.markets.market import COLLATERAL, adjust_frozen, defer_claim
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.pricing.leverage import Division, cancel_value, divide, funding, leverage_of, unwind
from ledgerd.protocol.operations.markets.virtual_markets import PmLeverageLiquidate, PmLeverageResolve
from ledgerd.protocol.types.assets import fits_int64, tokens
from ledgerd.state.objects.discrepancies import Sum
from ledgerd.state.objects.markets import leverage
from ledgerd.state.objects.markets.markets import PmMarket
from ledgerd.state.objects.markets.settlements import CLOSED_LEVERAGE


def expect_end(ledger: Ledger, market: PmMarket) -> None:
    """A position opens: it stands until betting ends, where it ends by itself."""
    if ledger.store.lookup(leverage.LEVERAGE_END_BY_MARKET, market.id) is None:
        ledger.store.create(
            leverage.LEVERAGE_ENDS,
            leverage.LeverageEnd(market=market.id, time=market.betting_expiration or leverage.NEVER),
        )


def bring_end(ledger: Ledger, market: PmMarket) -> None:
    """A market was resolved, by whomever: what positions it has do not stand any longer."""
    end = ledger.store.lookup(leverage.LEVERAGE_END_BY_MARKET, market.id)
    if end is not None:
        with ledger.editing(end):
            end.time = leverage.AT_ONCE


def ends_due(ledger: Ledger) -> list[leverage.LeverageEnd]:
    return list(ledger.store.scan(leverage.LEVERAGE_END_BY_TIME, upper=(ledger.now,)))


def forget_end(ledger: Ledger, market_id: int) -> None:
    """A market has no positions that stand, and gets none any more."""
    end = ledger.store.lookup(leverage.LEVERAGE_END_BY_MARKET, market_id)
    if end is not None:
        ledger.store.remove(end)


BY_OPPOSING_BET = 0
BY_CANCELLED_BET = 1
BY_END = 2
BY_FUNDING = 3
BY_VOID = 4
"""Why a position falls (spec 08, section 3.13). Withdrawn liquidity counts as an opposing bet."""

ANY_SIDE = -1


def accrue_funding(ledger: Ledger, position: leverage.PmLeveragePosition) -> None:
    """Spec 08, section 3.12."""
    due = position.funding_due_time
    if position.status != leverage.ACTIVE or due == 0 or due > ledger.now:
        return
    rate = ledger.median.pm_leverage_funding_rate_ppm_per_day
    added, next_due = priced(funding, position.loan, rate, due, ledger.now)
    with ledger.editing(position):
        position.funding_paid = fits_int64(position.funding_paid + added)
        position.funding_due_time = next_due
        position.last_update = ledger.now


def obligation_of(position: leverage.PmLeveragePosition) -> int:
    """What a position owes the pool: its threshold, and the funding that has been added so far."""
    return fits_int64(position.liquidation_threshold + position.funding_paid)


def value_of(position: leverage.PmLeveragePosition, market: PmMarket) -> int:
    return priced(cancel_value, reserves_of(market), position.tokens, position.outcome_index)


def unwind_position(ledger: Ledger, position: leverage.PmLeveragePosition, market: PmMarket, forfeited: int) -> None:
    reserves = priced(unwind, reserves_of(market), position.tokens, position.outcome_index)
    ledger.remember(market)
    market.reserve_a, market.reserve_b = reserves.a, reserves.b
    market.forfeit_pool = fits_int64(market.forfeit_pool + forfeited)


def liquidate(ledger: Ledger, position: leverage.PmLeveragePosition, market: PmMarket, reason: int) -> None:
    """Close a position against its owner's will (spec 08, section 3.13)."""
    accrue_funding(ledger, position)
    part = divide(
        value_of(position, market),
        obligation_of(position),
        position.loan,
        position.total_bet,
        is_void=reason == BY_VOID,
    )
    unwind_position(ledger, position, market, part.pot)
    # Quirk: the pot is nothing at least, so that what is paid beyond the bet comes from nowhere.
    record_discrepancy(
        ledger, Sum.TOKENS, max(0, (part.value if reason == BY_VOID else part.pool) - position.total_bet)
    )
    pool = find_pool(ledger)
    if pool is not None:
        with ledger.editing(pool):
            pool.free_balance = fits_int64(pool.free_balance + part.pool)
            pool.leverage_fund_used = fits_int64(pool.leverage_fund_used - position.loan)
            if part.profit > 0:
                credit(pool, part.profit)
    serve_queue(ledger)
    if reason != BY_VOID:
        defer_claim(ledger, market, position.account, CLOSED_LEVERAGE, position.outcome_index, part.bettor)
    elif part.bettor > 0:
        adjust_balance(ledger, ledger.account(position.account), part.bettor)
    _close(ledger, position, part, reason)


def _close(ledger: Ledger, position: leverage.PmLeveragePosition, part: Division, reason: int) -> None:
    is_settled = reason in {BY_END, BY_VOID}
    with ledger.editing(position):
        position.status = (leverage.WON if part.is_solvent else leverage.LOST) if is_settled else leverage.LIQUIDATED
        position.cancel_value_at_liquidation = part.value
        position.pool_received = part.pool
        position.bettor_received = part.bettor
        position.last_update = ledger.now
    adjust_frozen(ledger, position.account, COLLATERAL, -position.collateral)
    if is_settled:
        ledger.emit(
            PmLeverageResolve(
                position.account,
                position.id,
                position.market,
                part.is_solvent,
                tokens(part.pool),
                tokens(part.bettor),
                position.outcome_index,
                leverage_of(position.total_bet, position.collateral),
            )
        )
    else:
        ledger.emit(
            PmLeverageLiquidate(
                position.account,
                position.id,
                position.market,
                tokens(part.value),
                tokens(part.pool),
                tokens(part.bettor),
                reason,
            )
        )


def active_positions(ledger: Ledger, market: PmMarket) -> list[leverage.PmLeveragePosition]:
    active = (market.id, leverage.ACTIVE)
    return list(ledger.store.scan(leverage.LEVERAGE_BY_MARKET_STATUS, lower=active, upper=active))


def has_active_position(ledger: Ledger, market: PmMarket) -> bool:
    active = (market.id, leverage.ACTIVE)
    return ledger.store.first(leverage.LEVERAGE_BY_MARKET_STATUS, lower=active, upper=active) is not None


def cascade(ledger: Ledger, market: PmMarket, side: int, reason: int) -> None:
    """After each the search begins again, as prices moved (spec 08, section 3.14). Funding due now does not count."""
    positions = [each for each in active_positions(ledger, market) if side in {ANY_SIDE, each.outcome_index}]
    while True:
        victim = next((each for each in positions if value_of(each, market) <= obligation_of(each)), None)
        if victim is None:
            return
        positions.remove(victim)
        liquidate(ledger, victim, market, reason)


def force_close(ledger: Ledger, market: PmMarket, reason: int) -> None:
    """Close all positions of a market for ever, by id (spec 08, section 3.15)."""
    for position in active_positions(ledger, market):
        liquidate(ledger, position, market, reason)
    forget_end(ledger, market.id)
