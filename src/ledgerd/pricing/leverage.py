"""Positions with a loan on the binary curve (spec 09, sections 7.3, 7.4 and 9; spec 08, sections 3.12, 3.13 and 9)."""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.pricing.constant_product import Reserves, buy, reserve_at
from ledgerd.pricing.widths import int64, mul_div, quotient128, truncated_quotient, uint64, uint128

FUNDING_PERIOD = 86400
PARTS_PER_MILLION = 1_000_000
_UINT32 = 2**32 - 1


class Funding(NamedTuple):
    """The amount that funding adds to a position's debt, and when it is due next."""

    added: int
    next_due: int


class LeverageLimits(NamedTuple):
    """The percentages that bound a position, from the median properties."""

    profit: int
    """The pool's profit on the loan (`pm_leverage_pool_profit_percent`)."""
    safety: int
    """The margin on top of loan and profit, in percent of both (`pm_leverage_safety_margin_percent`)."""
    slippage: int
    """The percentage of the greatest opposing bet that is allowed for (`pm_leverage_max_slippage_percent`)."""
    opposing: int
    """The greatest opposing bet, in percent of the smaller reserve (`pm_leverage_m_factor_percent`)."""


class Division(NamedTuple):
    """The value of a liquidated position, and how it is divided."""

    value: int
    pool: int
    bettor: int
    profit: int
    """The pool's gain over the loan; negative for a loss."""
    pot: int
    """The part of the bet that is forfeited."""
    is_solvent: bool
    """Whether the value covers what the pool is owed."""


def cancel_value(reserves: Reserves, tokens: int, outcome: int) -> int:
    """The value of a position now, at least 0 (spec 09, section 9.2)."""
    into, out = _sides(reserves, outcome)
    return max(0, int64(into - reserve_at(reserves.k, int64(out + tokens))))


def cancel_value_after(reserves: Reserves, tokens: int, outcome: int, opposing: int) -> int:
    """The value of a position after a bet against it, at least 0 (spec 09, section 9.3)."""
    _, out = _sides(reserves, outcome)
    moved = int64(out + opposing)
    return max(0, int64(reserve_at(reserves.k, moved) - reserve_at(reserves.k, int64(moved + tokens))))


def worst_opposing(reserve_a: int, reserve_b: int, slippage: int, opposing: int) -> int:
    """The greatest bet against a position that its safety margin allows for; both percentages are of 100 (spec 09,
    section 9.4).
    """
    smaller = min(reserve_a, reserve_b)
    return 0 if smaller <= 0 else quotient128(smaller * slippage * opposing, 10_000)


def threshold(loan: int, profit: int) -> int:
    """The debt of a position to the pool: the loan with the profit, rounded down (spec 09, section 9.4)."""
    return mul_div(loan, 100 + profit, 100)


def safe_threshold(loan: int, limits: LeverageLimits) -> int:
    """The least value of a safe position in the worst case; rounded down twice (spec 09, section 9.4)."""
    return threshold(threshold(loan, limits.profit), limits.safety)


def worst_value(reserves: Reserves, tokens: int, outcome: int, limits: LeverageLimits) -> int:
    """The value of a position after the worst bet against it, from the reserves that it left (spec 08, section 9.1,
    step 7).
    """
    opposing = worst_opposing(reserves.a, reserves.b, limits.slippage, limits.opposing)
    return cancel_value_after(reserves, tokens, outcome, opposing)


def max_loan(reserves: Reserves, collateral: int, outcome: int, most: int, limits: LeverageLimits) -> int:
    """The greatest safe loan, at most `most` (spec 09, section 9.4). `k` stays the same, also for the reserves that the
    position would leave.
    """
    low, high = 0, most
    while low < high:
        gap = high - low
        loan = low + gap // 2 + gap % 2
        tokens, a, b = buy(*reserves, int64(collateral + loan), outcome)
        if worst_value(Reserves(a, b, reserves.k), tokens, outcome, limits) >= safe_threshold(loan, limits):
            low = loan
        else:
            high = loan - 1
    return low


def unwind(reserves: Reserves, tokens: int, outcome: int) -> Reserves:
    """The reserves after a position's tokens were returned; `k` stays the same (spec 09, section 7.4, step 4)."""
    if outcome == 0:
        b = int64(reserves.b + tokens)
        return Reserves(quotient128(reserves.k, uint64(b)), b, reserves.k)
    a = int64(reserves.a + tokens)
    return Reserves(a, quotient128(reserves.k, uint64(a)), reserves.k)


def funding(loan: int, rate: int, due: int, now: int) -> Funding:
    """The funding of all periods begun since `due`, which is not after `now`, at one rate in millionths (spec 09,
    section 7.3).
    """
    periods = ((now - due) // FUNDING_PERIOD + 1) & _UINT32
    added = quotient128(uint128(uint64(loan) * rate) * periods, PARTS_PER_MILLION) if rate > 0 else 0
    return Funding(added, (due + FUNDING_PERIOD * periods) & _UINT32)


def divide(value: int, obligation: int, loan: int, total_bet: int, *, is_void: bool) -> Division:
    """Divide the value of a liquidated position (spec 09, section 7.4, steps 2 and 3).

    The pool comes first, up to the obligation, which is the threshold with the funding. In a void market the bettor
    gets the rest at once, so only what the bet exceeds the value by is forfeited.
    """
    pool = min(value, obligation)
    pot = max(0, int64(total_bet - (value if is_void else pool)))
    return Division(value, pool, int64(value - pool), int64(pool - loan), pot, value >= obligation)


def conversion_fee(value: int, obligation: int, percent: int) -> int:
    """The fee for turning a position into a bet: a percentage of its profit (spec 08, section 9.3, step 2)."""
    return mul_div(int64(value - obligation), percent, 100)


def leverage_of(total_bet: int, collateral: int) -> int:
    """The leverage as virtual operations show it, cut to 16 bits (spec 09, section 7.4, step 10)."""
    return truncated_quotient(total_bet, collateral) & 0xFFFF if collateral > 0 else 0


def _sides(reserves: Reserves, outcome: int) -> tuple[int, int]:
    """The reserve that a bet on the outcome grew, and the one that it took from."""
    return (reserves.a, reserves.b) if outcome == 0 else (reserves.b, reserves.a)
