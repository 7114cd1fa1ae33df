"""Who gets what of a resolved market: fees, claims, winners, the pots of a void one (spec 09, sections 6.1, 6.2,
10.1); and the penalty for a late bet (spec 09, section 7.11; spec 08, section 3.4). Losers' stakes pay for
everything. Each function is one term of the settlement, so that the ledger can stop between rows.
"""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.pricing.widths import int64, mul_div, quotient128, truncated_quotient, uint64, uint128


class PenaltyTerms(NamedTuple):
    """The terms of a market for its penalty on late bets; times in seconds."""

    created: int
    betting_expiration: int
    """0: betting never ends, and nothing is late."""
    kind: int
    """0: the window is `value` seconds; else `value` hundredths of the time for betting."""
    value: int
    curve: int
    """1: quadratic; else linear."""


def time_penalty(terms: PenaltyTerms, risk_time: int, most: int) -> int:
    """The penalty in millionths of the profit, up to `most`, for a bet whose risk began at `risk_time`."""
    if terms.value == 0 or terms.betting_expiration == 0:
        return 0
    window = _window(terms)
    if window <= 0:
        return 0
    left = max(0, terms.betting_expiration - risk_time)
    if left >= window:
        return 0
    late, whole = window - left, window
    if terms.curve == 1:
        late, whole = uint128(late * late), uint128(whole * whole)
    return max(0, min(most, quotient128(most * late, whole)))


def _window(terms: PenaltyTerms) -> int:
    if terms.kind == 0:
        return int64(terms.value)
    duration = terms.betting_expiration - terms.created
    return mul_div(terms.value, duration, 100) if duration > 0 else 0


PENALTY_SCALE = 1_000_000


class FeeRates(NamedTuple):
    """The market's fees in ten-thousandths, and the oracle's fixed one."""

    oracle: int
    creator: int
    liquidity: int
    fixed: int


class Fees(NamedTuple):
    """The fees on the losing stake, and what they leave of it."""

    oracle: int
    """The oracle's fee: its percentage and its fixed fee together."""
    creator: int
    liquidity: int
    left: int
    """The rest of the losing stake after all three; never below 0."""


class Pool(NamedTuple):
    """The amount that winners share, and the amount that is missing if claims and fees exceed it."""

    winners: int
    uncovered: int


class Payout(NamedTuple):
    """What one winner gets: profit on top of the stake, less the penalty for a late bet."""

    profit: int
    penalty: int
    payout: int


class Winner(NamedTuple):
    """A bet on the outcome that came about."""

    amount: int
    weight: int
    time_penalty: int


def fees(losing: int, rates: FeeRates) -> Fees:
    """Fees of the losing stake alone, each percentage rounded down (spec 09, section 6.1, phase 3).

    The fixed fee takes no more than the percentages leave, so that without losers there is none.
    """
    oracle = truncated_quotient(int64(losing * rates.oracle), HUNDRED_PERCENT)
    creator = truncated_quotient(int64(losing * rates.creator), HUNDRED_PERCENT)
    liquidity = truncated_quotient(int64(losing * rates.liquidity), HUNDRED_PERCENT)
    available = max(0, int64(losing - oracle - creator - liquidity))
    fixed = min(rates.fixed, available)
    return Fees(int64(oracle + fixed), creator, liquidity, int64(available - fixed))


def claims_bucket(losing: int, fees_: Fees, forfeit: int, cap_percent: int) -> int:
    """The most that early exits are paid together (spec 09, section 6.1, phase 3).

    A share of the losing stake in ten-thousandths, and no more than fees leave of it and of what was forfeited.
    """
    headroom = max(0, int64(fees_.left + forfeit))
    return min(mul_div(losing, cap_percent, HUNDRED_PERCENT), headroom)


def winners_pool(fees_: Fees, forfeit: int, paid_claims: int) -> Pool:
    """The amount for winners after fees and claims (spec 09, section 6.1, end of phase 3)."""
    winners = int64(fees_.left + forfeit - paid_claims)
    return Pool(0, int64(-winners)) if winners < 0 else Pool(winners, 0)


def winner_payout(winner: Winner, pool: int, weight_total: int) -> Payout:
    """A winner's part of the pool by weight, rounded down, less the penalty (spec 09, section 6.1, phase 4)."""
    amount, weight, time_penalty = winner
    profit = quotient128(uint64(pool) * uint64(weight), weight_total) if weight_total else 0
    penalty = min(profit, mul_div(profit, time_penalty, PENALTY_SCALE))
    return Payout(profit, penalty, int64(amount + profit - penalty))


def winners_bonus(penalties: int, liquidity_fee: int, pool: int, distributed: int, weight_total: int) -> int:
    """Fee, penalties, what rounding left, or a pool that nobody won (spec 09, section 6.1, phase 5)."""
    rest = pool if weight_total == 0 else max(0, int64(pool - distributed))
    return int64(liquidity_fee + penalties + rest)


def pot_share(pot: int, paid: int, amount: int, stake_total: int, *, is_last: bool) -> int:
    """A refunded stake's part of a pot; the last takes what the others left (spec 09, sections 6.1 and 6.2)."""
    if pot <= 0 or stake_total <= 0:
        return 0
    return max(0, int64(pot - paid) if is_last else mul_div(pot, amount, stake_total))


def no_contest_penalty(dispute_fee: int, percent: int, insurance: int) -> int:
    """The penalty that an oracle pays to those whose market came to nothing (spec 09, section 6.1, end of phase 3)."""
    return min(mul_div(dispute_fee, percent, HUNDRED_PERCENT), insurance)


def expected_payout(bet: Winner, losing: int, own_weight: int, rates: FeeRates, forfeit: int) -> int:
    """The payout of a bet if its side won now (spec 11, section 4.6): percentages are rounded down together."""
    if not own_weight:
        return bet.amount
    taken = truncated_quotient(int64(losing * (rates.oracle + rates.creator + rates.liquidity)), HUNDRED_PERCENT)
    available = max(losing - taken, 0)
    pool = int64(available - min(rates.fixed, available) + forfeit)
    profit = quotient128(pool * bet.weight, own_weight)
    penalty = quotient128(profit * bet.time_penalty, PENALTY_SCALE)
    return int64(bet.amount + profit - penalty)
