"""Refunding a market that came to nothing, over as many blocks as it takes (spec 09, section 6.2); among them those
that their oracle has not taken on or resolved in time (sections 5.2 and 5.3). Bets are counted first, so that each
can be given its part of what others have forfeited; then they are paid.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.liquidity_return import return_liquidity
from ledgerd.chain.rules.markets.market import STAKES, move_balance
from ledgerd.chain.rules.markets.oracles import end_market, slash_idle
from ledgerd.chain.rules.money.balances import burn
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.pricing.parimutuel import pot_share
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations.markets.virtual_markets import PmMarketExpired, PmOracleMissedPenalty
from ledgerd.protocol.types.assets import fits_int64, tokens
from ledgerd.state.objects.markets import bets, markets
from ledgerd.state.objects.markets.bets import BET_BY_MARKET, PmBet
from ledgerd.state.objects.markets.settlements import PM_SETTLEMENTS, SETTLEMENT_BY_MARKET, PmSettlement

COUNTING = 11
PAYING = 12
FINISHING = 13

UNFILLED = frozenset({bets.QUEUED, bets.REVEALED})
REFUNDABLE = UNFILLED | {bets.ACTIVE}


def bets_from(ledger: Ledger, market: markets.PmMarket, cursor: int) -> Iterator[PmBet]:
    return ledger.store.scan(BET_BY_MARKET, lower=(market.id, cursor), upper=(market.id,))


def give_stake_back(ledger: Ledger, bet: PmBet, more: int = 0) -> None:
    move_balance(ledger, ledger.account(bet.account), bet.amount + more, STAKES, -bet.amount)
    with ledger.editing(bet):
        bet.status = bets.REFUNDED


def refund(ledger: Ledger, market: markets.PmMarket, budget: MarketBudget) -> bool:
    """Go on with the refund of a market as far as the budget goes; returns whether all is done."""
    state = ledger.store.lookup(SETTLEMENT_BY_MARKET, market.id) or _begin(ledger, market)
    if state.phase == COUNTING and not _count(ledger, market, state, budget):
        return False
    if state.phase == PAYING and not _pay(ledger, market, state, budget):
        return False
    return_liquidity(ledger, market)
    left = fits_int64(state.escrow + market.forfeit_pool)
    require(left >= 0, "leftover >= 0: PM void refund paid out more than it held: ${l}", l=left)
    ledger.remember(market)
    market.forfeit_pool = 0
    burn(ledger, left)
    ledger.store.remove(state)
    return True


def _begin(ledger: Ledger, market: markets.PmMarket) -> PmSettlement:
    pot = market.forfeit_pool
    state = PmSettlement(market=market.id, phase=COUNTING, winners_pool=pot, escrow=pot)
    ledger.store.create(PM_SETTLEMENTS, state)
    if pot > 0:
        ledger.remember(market)
        market.forfeit_pool = 0
    return state


def _count(ledger: Ledger, market: markets.PmMarket, state: PmSettlement, budget: MarketBudget) -> bool:
    with ledger.editing(state):
        for bet in bets_from(ledger, market, state.cursor):
            if not budget.spend():
                state.cursor = bet.id
                return False
            if bet.status in REFUNDABLE:
                state.rows_total += 1
                state.stake_total = fits_int64(state.stake_total + bet.amount)
        state.phase, state.cursor = PAYING, 0
    return True


def _pay(ledger: Ledger, market: markets.PmMarket, state: PmSettlement, budget: MarketBudget) -> bool:
    with ledger.editing(state):
        for bet in bets_from(ledger, market, state.cursor):
            if not budget.spend():
                state.cursor = bet.id
                return False
            if bet.status in REFUNDABLE:
                state.rows_done += 1
                part = pot_share(
                    state.winners_pool,
                    state.distributed,
                    bet.amount,
                    state.stake_total,
                    is_last=state.rows_done == state.rows_total,
                )
                state.distributed = fits_int64(state.distributed + part)
                state.escrow = fits_int64(state.escrow - part)
                give_stake_back(ledger, bet, part)
        state.phase, state.cursor = FINISHING, 0
    return True


def close_refunded(ledger: Ledger, market: markets.PmMarket) -> None:
    """A market that was refunded has no outcome."""
    with ledger.editing(market):
        market.status = markets.RESOLVED
        market.payout_status = markets.PAID
        market.resolved_outcome = -1
        market.finalized_time = ledger.now


def refund_unresolved(ledger: Ledger, budget: MarketBudget) -> None:
    """Until the refund is through, which may take several blocks, the market stays active."""
    due = ledger.store.scan(
        markets.MARKET_BY_RESULT_EXPIRATION, lower=(markets.ACTIVE, 0), upper=(markets.ACTIVE, 0, end_of_grace(ledger))
    )
    for market in due:
        if budget.turns <= 0:
            return
        if market.payout_status != markets.BEING_PAID:
            _begin_unresolved(ledger, market)
        if not refund(ledger, market, budget):
            return
        end_market(ledger, market)
        close_refunded(ledger, market)
        budget.use_turn()


def end_of_grace(ledger: Ledger) -> int:
    """Results that were due up to this time are disputed no more."""
    return max(0, ledger.now - ledger.median.pm_dispute_grace_sec)


def _begin_unresolved(ledger: Ledger, market: markets.PmMarket) -> None:
    slashed = slash_idle(ledger, market, "missed_count")
    with ledger.editing(market):
        market.payout_status = markets.BEING_PAID
    ledger.emit(PmOracleMissedPenalty(market.oracle, market.id, tokens(slashed)))


def drop_unaccepted(ledger: Ledger, budget: MarketBudget) -> None:
    """The liquidity goes back; what the oracle has counted stays."""
    due = ledger.store.scan(
        markets.MARKET_BY_ACCEPT_DEADLINE, lower=(markets.WAITING,), upper=(markets.WAITING, ledger.now)
    )
    for market in due:
        if budget.turns <= 0:
            return
        refunded = market.liquidity_sum
        return_liquidity(ledger, market)
        with ledger.editing(market):
            market.status = markets.DELETED
            market.payout_status = markets.PAID
            market.finalized_time = ledger.now
        ledger.emit(PmMarketExpired(market.oracle, market.creator, market.id, tokens(refunded)))
        budget.use_turn()
