"""Paying resolved markets that are disputed no more, over as many blocks as it takes (spec 09, sections 5.8, 6.1 and
6.3). Each phase visits the bets, or the claims, from where the last block has stopped. A market without a contest
gets its stakes back, with two pots on top.
"""

from __future__ import annotations

from itertools import islice

from ledgerd.chain.ledger.arithmetic import uint32, uint64, uint128
from ledgerd.chain.ledger.discrepancies import record_discrepancy
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.lazy_pool import return_to_pool, settle_allocation
from ledgerd.chain.rules.markets.liquidation import BY_END, BY_VOID, force_close
from ledgerd.chain.rules.markets.market import LIQUIDITY, STAKES, move_balance
from ledgerd.chain.rules.markets.oracles import IN_DISPUTE_WINDOW, adjust_gauge, find_oracle, take_insurance
from ledgerd.chain.rules.money.balances import adjust_balance, burn
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.chain.steps.markets.refunding import UNFILLED, bets_from, end_of_grace, give_stake_back
from ledgerd.pricing import parimutuel
from ledgerd.pricing.liquidity import Provided, bonus_shares, charges
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations.markets.markets import MULTI
from ledgerd.protocol.operations.markets.virtual_markets import PmAutoPayout, PmEarlyExitClaimPaid, PmLpPayout, PmPayout
from ledgerd.protocol.types.assets import fits_int64, tokens
from ledgerd.state.objects.discrepancies import Sum
from ledgerd.state.objects.markets import settlements
from ledgerd.state.objects.markets.bets import ACTIVE, RESOLVED, PmBet
from ledgerd.state.objects.markets.disputes import DISPUTE_BY_MARKET
from ledgerd.state.objects.markets.liquidity import ACTIVE as PROVIDED
from ledgerd.state.objects.markets.liquidity import CLOSED, LIQUIDITY_BY_MARKET, PmLiquidity
from ledgerd.state.objects.markets.markets import BEING_PAID, MARKET_BY_PAYMENT, PAID, TO_BE_PAID, PmMarket


def is_winner(market: PmMarket, bet: PmBet) -> bool:
    return (bet.outcome_index if market.market_type == MULTI else bet.side) == market.resolved_outcome


def pay_bet(ledger: Ledger, market: PmMarket, state: settlements.PmSettlement, bet: PmBet) -> None:
    payout = 0
    if is_winner(market, bet):
        won = parimutuel.winner_payout(
            parimutuel.Winner(bet.amount, bet.weight, bet.time_penalty), state.winners_pool, state.weight_total
        )
        payout = won.payout
        state.distributed = fits_int64(state.distributed + won.profit)
        state.lp_bonus = fits_int64(state.lp_bonus + won.penalty)
    state.escrow = fits_int64(state.escrow + bet.amount - payout)
    move_balance(ledger, ledger.account(bet.account), max(0, payout), STAKES, -bet.amount)
    with ledger.editing(bet):
        bet.status = RESOLVED
        bet.resolved_amount = payout
    ledger.emit(
        PmPayout(bet.account, market.id, bet.id, bet.side, bet.outcome_index, tokens(bet.amount), tokens(payout))
    )


def return_bet(ledger: Ledger, _market: PmMarket, state: settlements.PmSettlement, bet: PmBet) -> None:
    """A stake in a market without a contest comes back, with its parts of both pots."""
    is_last = state.rows_done == state.rows_total
    of_oracle = parimutuel.pot_share(
        state.winners_pool, state.distributed, bet.amount, state.stake_total, is_last=is_last
    )
    of_forfeits = parimutuel.pot_share(state.uncovered, state.lp_bonus, bet.amount, state.stake_total, is_last=is_last)
    state.distributed = fits_int64(state.distributed + of_oracle)
    state.lp_bonus = fits_int64(state.lp_bonus + of_forfeits)
    state.escrow = fits_int64(state.escrow - of_oracle - of_forfeits)
    give_stake_back(ledger, bet, of_oracle + of_forfeits)


def pay_providers(ledger: Ledger, market: PmMarket, bonus: int, uncovered: int) -> None:
    """Quirk: without any provider nobody gets the bonus, and nothing else happens either."""
    rows = ledger.store.under(LIQUIDITY_BY_MARKET, market.id)
    active = [row for row in rows if row.status == PROVIDED]
    if not active:
        record_discrepancy(ledger, Sum.TOKENS, uncovered - bonus)
        return
    incomes = bonus_shares([Provided(row.amount, ledger.now - row.deposit_time) for row in active], bonus)
    charged = charges([row.amount for row in active], uncovered)
    ledger.remember(market)
    market.liquidity_fee_earned = bonus
    for row, income, charge in zip(active, incomes, charged, strict=True):
        _pay(ledger, row, income, charge)
    settle_allocation(ledger, market)


def _pay(ledger: Ledger, row: PmLiquidity, income: int, charge: int) -> None:
    """Quirk: what the pool is charged stays in its allocated balance for ever."""
    principal = max(0, row.amount - charge)
    if row.provider:
        paid = fits_int64(principal + income)
        move_balance(ledger, ledger.account(row.provider), max(0, paid), LIQUIDITY, -row.amount)
        ledger.emit(PmLpPayout(row.provider, row.market, tokens(principal), tokens(income), tokens(charge)))
    else:
        return_to_pool(ledger, principal, income)
    with ledger.editing(row):
        row.earned_fee = fits_int64(row.earned_fee + income)
        row.status = CLOSED


BEGINNING = 1
MEASURING = 2
CLAIMS = 3
PAYING = 4
FINISHING = 5


def settle(ledger: Ledger, market: PmMarket, budget: MarketBudget) -> bool:
    """Returns whether all is done. Quirk: a refund that comes here is finished at once (spec 09, section 5.6)."""
    state = ledger.store.lookup(settlements.SETTLEMENT_BY_MARKET, market.id)
    if state is None:
        state = ledger.store.create(settlements.PM_SETTLEMENTS, settlements.PmSettlement(market=market.id))
    if state.phase == BEGINNING:
        _begin(ledger, market, state)
    if state.phase == MEASURING and not _measure(ledger, market, state, budget):
        return False
    if state.phase == CLAIMS:
        if not _pay_claims(ledger, market, state, budget):
            return False
        _share_out(ledger, market, state)
    if state.phase == PAYING and not _pay_bets(ledger, market, state, budget):
        return False
    _finish(ledger, market, state)
    return True


def is_void(market: PmMarket) -> bool:
    return market.resolved_outcome < 0


def _fees(market: PmMarket, state: settlements.PmSettlement) -> parimutuel.Fees:
    rates = parimutuel.FeeRates(
        market.oracle_fee_percent, market.creator_fee_percent, market.liquidity_fee_percent, market.oracle_fixed_fee
    )
    return parimutuel.fees(state.stake_total, rates)


def _begin(ledger: Ledger, market: PmMarket, state: settlements.PmSettlement) -> None:
    """Positions are closed, and an oracle of a market without bets is marked."""
    force_close(ledger, market, BY_VOID if is_void(market) else BY_END)
    oracle = find_oracle(ledger, market.oracle)
    if oracle is not None and not is_void(market) and market.bets_sum == 0:
        ledger.remember(oracle)
        oracle.penalty_stamps = uint32(oracle.penalty_stamps + 1)
        oracle.last_penalty_stamp_time = ledger.now
    ledger.remember(state)
    state.phase = MEASURING


def _measure(ledger: Ledger, market: PmMarket, state: settlements.PmSettlement, budget: MarketBudget) -> bool:
    """Add up what was lost and what has won; bets that were never carried out go back."""
    has_winners = not is_void(market)
    with ledger.editing(state):
        for bet in bets_from(ledger, market, state.cursor):
            if not budget.spend():
                state.cursor = bet.id
                return False
            if bet.status in UNFILLED:
                give_stake_back(ledger, bet)
            elif bet.status == ACTIVE:
                state.rows_total += 1
                if has_winners and is_winner(market, bet):
                    state.weight_total = uint128(state.weight_total + uint64(bet.weight))
                else:
                    state.stake_total = fits_int64(state.stake_total + bet.amount)
        state.phase, state.cursor = CLAIMS, 0
    return True


def _pay_claims(ledger: Ledger, market: PmMarket, state: settlements.PmSettlement, budget: MarketBudget) -> bool:
    """Claims on what came about are paid in their order while the bucket lasts; all of them go."""
    bucket = 0
    if not is_void(market):
        cap = ledger.median.pm_early_exit_reward_cap_percent
        bucket = parimutuel.claims_bucket(state.stake_total, _fees(market, state), market.forfeit_pool, cap)
    with ledger.editing(state):
        claims = ledger.store.under(settlements.DEFERRED_CLAIM_BY_MARKET, market.id)
        for claim in list(islice(claims, budget.rows + 1)):
            if not budget.spend():
                return False
            if claim.outcome_index == market.resolved_outcome:
                _pay_claim(ledger, claim, state, bucket)
            ledger.store.remove(claim)
    return True


def _pay_claim(
    ledger: Ledger, claim: settlements.PmDeferredClaim, state: settlements.PmSettlement, bucket: int
) -> None:
    paid = min(claim.claim_amount, bucket - state.paid_claims)
    if paid <= 0:
        return
    adjust_balance(ledger, ledger.account(claim.account), paid)
    state.paid_claims = fits_int64(state.paid_claims + paid)
    state.escrow = fits_int64(state.escrow - paid)
    ledger.emit(
        PmEarlyExitClaimPaid(
            claim.account,
            claim.market,
            claim.kind,
            claim.outcome_index,
            claimed=tokens(claim.claim_amount),
            paid=tokens(paid),
        )
    )


def _share_out(ledger: Ledger, market: PmMarket, state: settlements.PmSettlement) -> None:
    """Say what winners share; of a market without a contest, what all share: an oracle's penalty, and forfeits."""
    with ledger.editing(state):
        if is_void(market):
            penalty = _penalty(ledger, market) if state.stake_total > 0 else 0
            state.winners_pool, state.uncovered = penalty, market.forfeit_pool
            state.escrow = fits_int64(state.escrow + penalty)
        else:
            taken = _fees(market, state)
            pool = parimutuel.winners_pool(taken, market.forfeit_pool, state.paid_claims)
            state.winners_pool, state.uncovered = pool
            state.lp_bonus = taken.liquidity
        state.phase, state.cursor = PAYING, 0


def _penalty(ledger: Ledger, market: PmMarket) -> int:
    oracle, median = find_oracle(ledger, market.oracle), ledger.median
    if oracle is None:
        return 0
    penalty = parimutuel.no_contest_penalty(
        median.pm_dispute_fee.amount, median.pm_no_contest_penalty_percent, oracle.insurance
    )
    if penalty > 0:
        with ledger.editing(oracle):
            take_insurance(oracle, penalty)
    return penalty


def _pay_bets(ledger: Ledger, market: PmMarket, state: settlements.PmSettlement, budget: MarketBudget) -> bool:
    """Each bet gets what it has won, which for most is nothing, or its stake back."""
    pay = return_bet if is_void(market) else pay_bet
    with ledger.editing(state):
        for bet in bets_from(ledger, market, state.cursor):
            if not budget.spend():
                state.cursor = bet.id
                return False
            if bet.status == ACTIVE:
                state.rows_done += 1
                pay(ledger, market, state, bet)
        state.phase, state.cursor = FINISHING, 0
    return True


def _finish(ledger: Ledger, market: PmMarket, state: settlements.PmSettlement) -> None:
    """Fees and providers; then what came in must be what went out."""
    escrow = fits_int64(state.escrow + market.forfeit_pool)
    if is_void(market):
        pay_providers(ledger, market, 0, 0)
        burn(ledger, escrow)
        escrow = min(escrow, 0)
    else:
        taken = _fees(market, state)
        bonus = parimutuel.winners_bonus(state.lp_bonus, 0, state.winners_pool, state.distributed, state.weight_total)
        if taken.oracle > 0:
            adjust_balance(ledger, ledger.account(market.oracle), taken.oracle)
        if taken.creator > 0:
            adjust_balance(ledger, ledger.account(market.creator), taken.creator)
        pay_providers(ledger, market, bonus, state.uncovered)
        escrow = fits_int64(escrow - taken.oracle - taken.creator - bonus + state.uncovered)
    require(
        escrow == 0,
        "st.escrow.value == 0: PM settlement did not balance for market ${m}: escrow=${e}",
        m=market.id,
        e=escrow,
    )
    if market.forfeit_pool:
        ledger.remember(market)
        market.forfeit_pool = 0
    ledger.store.remove(state)


NO_BET = -1
"""In the virtual operation, which is of the market as a whole."""


def settle_resolved(ledger: Ledger, budget: MarketBudget) -> None:
    """The one whose result was due first comes first, also before those whose settlement was cut."""
    for market in ledger.store.scan(MARKET_BY_PAYMENT, lower=(True,), upper=(True, end_of_grace(ledger))):
        if budget.turns <= 0:
            return
        if market.payout_status == TO_BE_PAID:
            _begin_payment(ledger, market)
        if not settle(ledger, market, budget):
            return
        with ledger.editing(market):
            market.payout_status = PAID
            market.finalized_time = ledger.now
        ledger.emit(PmAutoPayout(market.oracle, market.id, NO_BET, tokens(market.bets_sum)))
        budget.use_turn()


def _begin_payment(ledger: Ledger, market: PmMarket) -> None:
    if ledger.store.lookup(DISPUTE_BY_MARKET, market.id) is None:
        adjust_gauge(ledger, market.oracle, IN_DISPUTE_WINDOW, -1)
    with ledger.editing(market):
        market.payout_status = BEING_PAID
