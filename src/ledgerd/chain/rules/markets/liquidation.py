"""Positions with a loan that fall: funding, liquidation, and which fall when prices move (spec 08, 3.12 to 3.15)."""

from __future__ import annotations

from ledgerd.chain.ledger.discrepancies import note
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.claims import defer_claim
from ledgerd.chain.rules.markets.curve import priced, reserves_of
from ledgerd.chain.rules.markets.frozen import COLLATERAL, adjust_frozen
from ledgerd.chain.rules.markets.lazy_pool import credit, find_pool, serve_queue
from ledgerd.chain.rules.markets.leverage_ends import forget_end
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.pricing.leverage import Division, cancel_value, divide, funding, leverage_of, unwind
from ledgerd.protocol.assets import fits_int64, tokens
from ledgerd.protocol.operations.virtual_markets import PmLeverageLiquidate, PmLeverageResolve
from ledgerd.state.objects.discrepancies import Sum
from ledgerd.state.objects.leverage import (
    ACTIVE,
    LEVERAGE_BY_MARKET_STATUS,
    LIQUIDATED,
    LOST,
    WON,
    PmLeveragePosition,
)
from ledgerd.state.objects.markets import PmMarket
from ledgerd.state.objects.settlements import CLOSED_LEVERAGE

BY_OPPOSING_BET = 0
BY_CANCELLED_BET = 1
BY_END = 2
BY_FUNDING = 3
BY_VOID = 4
"""Why a position falls (spec 08, section 3.13). Withdrawn liquidity counts as an opposing bet."""

ANY_SIDE = -1


def accrue_funding(ledger: Ledger, position: PmLeveragePosition) -> None:
    """Add the price of the loan for all days begun since it was due (spec 08, section 3.12)."""
    due = position.funding_due_time
    if position.status != ACTIVE or due == 0 or due > ledger.now:
        return
    rate = ledger.median.pm_leverage_funding_rate_ppm_per_day
    added, next_due = priced(funding, position.loan, rate, due, ledger.now)
    with ledger.editing(position):
        position.funding_paid = fits_int64(position.funding_paid + added)
        position.funding_due_time = next_due
        position.last_update = ledger.now


def obligation_of(position: PmLeveragePosition) -> int:
    """What a position owes the pool: its threshold, and the funding that has been added so far."""
    return fits_int64(position.liquidation_threshold + position.funding_paid)


def value_of(position: PmLeveragePosition, market: PmMarket) -> int:
    """What a position would give at the prices of now."""
    return priced(cancel_value, reserves_of(market), position.tokens, position.outcome_index)


def take_out(ledger: Ledger, position: PmLeveragePosition, market: PmMarket, forfeited: int) -> None:
    """The tokens of a position go back into the curve, and what it leaves behind into the pot."""
    reserves = priced(unwind, reserves_of(market), position.tokens, position.outcome_index)
    with ledger.editing(market):
        market.reserve_a, market.reserve_b = reserves.a, reserves.b
        market.forfeit_pool = fits_int64(market.forfeit_pool + forfeited)


def liquidate(ledger: Ledger, position: PmLeveragePosition, market: PmMarket, reason: int) -> None:
    """Close a position against its owner's will (spec 08, section 3.13)."""
    accrue_funding(ledger, position)
    part = divide(
        value_of(position, market),
        obligation_of(position),
        position.loan,
        position.total_bet,
        is_void=reason == BY_VOID,
    )
    take_out(ledger, position, market, part.pot)
    # Quirk: the pot is nothing at least, so that what is paid beyond the bet comes from nowhere.
    note(ledger, Sum.TOKENS, max(0, (part.value if reason == BY_VOID else part.pool) - position.total_bet))
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


def _close(ledger: Ledger, position: PmLeveragePosition, part: Division, reason: int) -> None:
    is_settled = reason in {BY_END, BY_VOID}
    with ledger.editing(position):
        position.status = (WON if part.is_solvent else LOST) if is_settled else LIQUIDATED
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


def active_positions(ledger: Ledger, market: PmMarket) -> list[PmLeveragePosition]:
    standing = (market.id, ACTIVE)
    return list(ledger.store.scan(LEVERAGE_BY_MARKET_STATUS, lower=standing, upper=standing))


def has_active_position(ledger: Ledger, market: PmMarket) -> bool:
    standing = (market.id, ACTIVE)
    return ledger.store.first(LEVERAGE_BY_MARKET_STATUS, lower=standing, upper=standing) is not None


def cascade(ledger: Ledger, market: PmMarket, side: int, reason: int) -> None:
    """Close positions of a side that are worth no more than they owe, until none is left (spec 08, section 3.14).

    Each moves the price, so that after each the search begins again. Funding that is due now does not count here.
    """
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
