"""Bets of a batch: they wait for the end of their epoch, and get their prices one by one (spec 09, section 5.10)."""

from __future__ import annotations

from itertools import islice

from ledgerd.chain.ledger.arithmetic import uint32, uint128
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.curve import find_outcome, priced
from ledgerd.chain.rules.markets.market import count_stake
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.chain.steps.markets.refunding import give_stake_back
from ledgerd.pricing.constant_product import queued_fill
from ledgerd.pricing.lmsr_fill import tokens_for_amount
from ledgerd.protocol.operations.markets.markets import MULTI
from ledgerd.protocol.operations.markets.virtual_markets import PmBatchSettle
from ledgerd.protocol.types.assets import fits_int64
from ledgerd.state.objects.markets import markets
from ledgerd.state.objects.markets.bets import ACTIVE, BET_BY_STATUS_MARKET, QUEUED, PmBet
from ledgerd.state.objects.markets.markets import BEING_PAID, PM_MARKETS, PmMarket


def carry_out_batches(ledger: Ledger, budget: MarketBudget) -> None:
    """Go through the markets with queued bets at the end of an epoch, and where the last pass was cut.

    Quirk: a pass that was cut between two markets waits for the end of the next epoch, and leaves out the markets
    before its cursor until the pass after that; one that was cut within a market goes on in the next block.
    """
    globals_, length = ledger.globals, ledger.median.pm_batch_epoch_blocks
    cursor = globals_.pm_batch_settle_cursor, globals_.pm_batch_settle_bet_cursor
    if not length or not budget.rows or (ledger.head_number % length and not cursor[1]):
        return
    stopped = _pass(ledger, budget, _queued_from(ledger, *cursor))
    if stopped != cursor:
        ledger.remember(globals_)
        globals_.pm_batch_settle_cursor, globals_.pm_batch_settle_bet_cursor = stopped


def _queued_from(ledger: Ledger, market: int, bet: int = 0) -> PmBet | None:
    return ledger.store.first(BET_BY_STATUS_MARKET, lower=(QUEUED, market, bet), upper=(QUEUED,))


def _pass(ledger: Ledger, budget: MarketBudget, bet: PmBet | None) -> tuple[int, int]:
    """Returns the market, and within it the bet, at which the next pass begins; both 0 for the first there is."""
    while bet is not None and budget.turns > 0 and budget.rows:
        market = ledger.store.find(PM_MARKETS, bet.market)
        if market is not None and _takes_batches(market):
            left = _carry_out(ledger, market, bet, budget)
            if left is not None:
                return market.id, left.id
            budget.use_turn()
        bet = _queued_from(ledger, bet.market + 1)
    return (0 if bet is None else bet.market), 0


def _takes_batches(market: PmMarket) -> bool:
    return market.status == markets.ACTIVE and market.allow_batch and market.payout_status != BEING_PAID


def _carry_out(ledger: Ledger, market: PmMarket, first: PmBet, budget: MarketBudget) -> PmBet | None:
    """Carry out a market's queued bets as far as the rows go; returns the first that is left."""
    span = ledger.store.scan(BET_BY_STATUS_MARKET, lower=(QUEUED, market.id, first.id), upper=(QUEUED, market.id))
    queue = list(islice(span, budget.rows + 1))
    settled = _fill_all(ledger, market, queue[: budget.rows])
    if len(queue) > budget.rows:
        budget.rows = 0
        return queue[-1]
    budget.rows -= len(queue)
    if settled > 0:
        ledger.emit(PmBatchSettle(market.id, market.current_epoch, settled))
    ledger.remember(market)
    market.current_epoch = uint32(market.current_epoch + 1)
    return None


def _fill_all(ledger: Ledger, market: PmMarket, queue: list[PmBet]) -> int:
    """Returns how many were filled; the others go back, for there were too few tokens, or none."""
    sold: list[int] = []
    if market.market_type == MULTI:
        outcomes = [find_outcome(ledger, market, place) for place in range(market.outcome_count)]
        sold = [0 if outcome is None else outcome.q for outcome in outcomes]
    filled = 0
    with ledger.editing(market):
        for bet in queue:
            is_filled = _buy_outcome(ledger, market, sold, bet) if sold else _buy_side(ledger, market, bet)
            if is_filled:
                filled += 1
            else:
                give_stake_back(ledger, bet)
    return filled


def _buy_side(ledger: Ledger, market: PmMarket, bet: PmBet) -> bool:
    fill = priced(queued_fill, market.reserve_a, market.reserve_b, bet.amount, bet.side)
    if fill.tokens <= 0 or fill.tokens < bet.min_tokens:
        return False
    market.reserve_a, market.reserve_b = fits_int64(fill.reserve_a), fits_int64(fill.reserve_b)
    market.k = uint128(market.reserve_a * market.reserve_b)
    count_stake(market, bet.side, bet.amount)
    with ledger.editing(bet):
        bet.status, bet.weight, bet.entry_liquidity = ACTIVE, fill.tokens, market.liquidity_sum
    return True


def _buy_outcome(ledger: Ledger, market: PmMarket, sold: list[int], bet: PmBet) -> bool:
    """Quirk: tokens that were too few for their bet count as sold for the bets behind it in the same pass."""
    place = bet.outcome_index
    if not 0 <= place < market.outcome_count:
        return False
    found = priced(tokens_for_amount, sold, market.lmsr_b, place, bet.amount)
    if found > 0:
        sold[place] = fits_int64(sold[place] + found)
    if found <= 0 or found < bet.min_tokens:
        return False
    outcome = find_outcome(ledger, market, place)
    if outcome is not None:
        ledger.remember(outcome)
        outcome.q = sold[place]
        outcome.bets_sum = fits_int64(outcome.bets_sum + bet.amount)
        outcome.bets_count = uint32(outcome.bets_count + 1)
    market.bets_sum = fits_int64(market.bets_sum + bet.amount)
    with ledger.editing(bet):
        bet.status, bet.weight = ACTIVE, found
    return True
