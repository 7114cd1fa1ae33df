"""Paying a resolved market out, over as many blocks as it takes (spec 09, section 6.1).

Each phase visits the bets, or the claims, from where the last block has stopped. What they come to stands in the
settlement of the market. A market without a contest gets its stakes back, with two pots on top.
"""

from __future__ import annotations

from itertools import islice

from ledgerd.chain.ledger.arithmetic import uint32, uint64, uint128
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.gauges import find_oracle
from ledgerd.chain.rules.markets.liquidation import BY_END, BY_VOID, force_close
from ledgerd.chain.rules.money.balances import adjust_balance, burn
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.chain.steps.markets.payouts import is_winner, pay_bet, return_bet
from ledgerd.chain.steps.markets.provider_payouts import pay_providers
from ledgerd.chain.steps.markets.refunding import WAITING, bets_from, give_stake_back
from ledgerd.chain.steps.markets.slashing import take_insurance
from ledgerd.pricing.parimutuel import (
    FeeRates,
    Fees,
    claims_bucket,
    fees,
    no_contest_penalty,
    winners_bonus,
    winners_pool,
)
from ledgerd.protocol.assets import fits_int64, tokens
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations.virtual_markets import PmEarlyExitClaimPaid
from ledgerd.state.objects.bets import ACTIVE
from ledgerd.state.objects.markets import PmMarket
from ledgerd.state.objects.settlements import (
    DEFERRED_CLAIM_BY_MARKET,
    PM_SETTLEMENTS,
    SETTLEMENT_BY_MARKET,
    PmDeferredClaim,
    PmSettlement,
)

BEGINNING = 1
MEASURING = 2
CLAIMS = 3
PAYING = 4
FINISHING = 5


def settle(ledger: Ledger, market: PmMarket, budget: MarketBudget) -> bool:
    """Go on with the settlement of a market as far as the budget goes; returns whether all is done.

    Quirk: the phases of a refund are none of these, so that a refund which comes here is finished at once (spec 09,
    section 5.6).
    """
    state = ledger.store.lookup(SETTLEMENT_BY_MARKET, market.id)
    if state is None:
        state = ledger.store.create(PM_SETTLEMENTS, PmSettlement(market=market.id))
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
    """Nobody has won."""
    return market.resolved_outcome < 0


def _fees(market: PmMarket, state: PmSettlement) -> Fees:
    rates = FeeRates(
        market.oracle_fee_percent, market.creator_fee_percent, market.liquidity_fee_percent, market.oracle_fixed_fee
    )
    return fees(state.stake_total, rates)


def _begin(ledger: Ledger, market: PmMarket, state: PmSettlement) -> None:
    """Positions are closed, and an oracle of a market without bets is marked."""
    force_close(ledger, market, BY_VOID if is_void(market) else BY_END)
    oracle = find_oracle(ledger, market.oracle)
    if oracle is not None and not is_void(market) and market.bets_sum == 0:
        with ledger.editing(oracle):
            oracle.penalty_stamps = uint32(oracle.penalty_stamps + 1)
            oracle.last_penalty_stamp_time = ledger.now
    with ledger.editing(state):
        state.phase = MEASURING


def _measure(ledger: Ledger, market: PmMarket, state: PmSettlement, budget: MarketBudget) -> bool:
    """Add up what was lost and what has won; bets that were never carried out go back."""
    has_winners = not is_void(market)
    with ledger.editing(state):
        for bet in bets_from(ledger, market, state.cursor):
            if not budget.spend():
                state.cursor = bet.id
                return False
            if bet.status in WAITING:
                give_stake_back(ledger, bet)
            elif bet.status == ACTIVE:
                state.rows_total += 1
                if has_winners and is_winner(market, bet):
                    state.weight_total = uint128(state.weight_total + uint64(bet.weight))
                else:
                    state.stake_total = fits_int64(state.stake_total + bet.amount)
        state.phase, state.cursor = CLAIMS, 0
    return True


def _pay_claims(ledger: Ledger, market: PmMarket, state: PmSettlement, budget: MarketBudget) -> bool:
    """Claims on what came about are paid in their order while the bucket lasts; all of them go."""
    bucket = 0
    if not is_void(market):
        cap = ledger.median.pm_early_exit_reward_cap_percent
        bucket = claims_bucket(state.stake_total, _fees(market, state), market.forfeit_pool, cap)
    with ledger.editing(state):
        claims = ledger.store.scan(DEFERRED_CLAIM_BY_MARKET, lower=(market.id,), upper=(market.id,))
        for claim in list(islice(claims, budget.rows + 1)):
            if not budget.spend():
                return False
            if claim.outcome_index == market.resolved_outcome:
                _pay_claim(ledger, claim, state, bucket)
            ledger.store.remove(claim)
    return True


def _pay_claim(ledger: Ledger, claim: PmDeferredClaim, state: PmSettlement, bucket: int) -> None:
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


def _share_out(ledger: Ledger, market: PmMarket, state: PmSettlement) -> None:
    """Say what winners share; of a market without a contest, what all share: an oracle's penalty, and forfeits."""
    with ledger.editing(state):
        if is_void(market):
            penalty = _penalty(ledger, market) if state.stake_total > 0 else 0
            state.winners_pool, state.uncovered = penalty, market.forfeit_pool
            state.escrow = fits_int64(state.escrow + penalty)
        else:
            taken = _fees(market, state)
            pool = winners_pool(taken, market.forfeit_pool, state.paid_claims)
            state.winners_pool, state.uncovered = pool
            state.lp_bonus = taken.liquidity
        state.phase, state.cursor = PAYING, 0


def _penalty(ledger: Ledger, market: PmMarket) -> int:
    oracle, median = find_oracle(ledger, market.oracle), ledger.median
    if oracle is None:
        return 0
    penalty = no_contest_penalty(median.pm_dispute_fee.amount, median.pm_no_contest_penalty_percent, oracle.insurance)
    if penalty > 0:
        with ledger.editing(oracle):
            take_insurance(oracle, penalty)
    return penalty


def _pay_bets(ledger: Ledger, market: PmMarket, state: PmSettlement, budget: MarketBudget) -> bool:
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


def _finish(ledger: Ledger, market: PmMarket, state: PmSettlement) -> None:
    """Fees and providers; then what came in must be what went out."""
    escrow = fits_int64(state.escrow + market.forfeit_pool)
    if is_void(market):
        pay_providers(ledger, market, 0, 0)
        burn(ledger, escrow)
        escrow = min(escrow, 0)
    else:
        taken = _fees(market, state)
        bonus = winners_bonus(state.lp_bonus, 0, state.winners_pool, state.distributed, state.weight_total)
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
        with ledger.editing(market):
            market.forfeit_pool = 0
    ledger.store.remove(state)
