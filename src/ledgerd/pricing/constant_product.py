"""The binary curve: two reserves whose product `k` stays (spec 08, sections 3.5 and 5; spec 09, section 9).

A bet adds to the reserve of its side and takes its tokens from the other. `k` is the market's, a 128-bit number: it is
computed again only where liquidity comes or goes, so it may exceed the product of the reserves by less than one
reserve.
"""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.pricing.errors import CurveOverflow, RefundUnderflow
from ledgerd.pricing.widths import int64, mul_div, quotient128, uint64, uint128


class Reserves(NamedTuple):
    """Both reserves, and the product that bets keep."""

    a: int
    b: int
    k: int


class Fill(NamedTuple):
    """The tokens that a bet gets, and the reserves after it: `a` is that of side 0, `b` that of side 1."""

    tokens: int
    reserve_a: int
    reserve_b: int


class Cancellation(NamedTuple):
    """The payment for a cancelled bet, and where the rest of it goes."""

    curve: int
    """The amount that leaves the reserve of the bet's side, whether or not all of it is paid."""
    paid: int
    tail: int
    """The amount above the stake, which becomes a claim on the outcome."""
    residual: int
    """The part of the stake that is not paid, but forfeited."""
    reserve_a: int
    reserve_b: int


def reserve_at(k: int, other: int) -> int:
    """The reserve that gives `k` with the other one; 0 if the other is not above 0 (spec 09, section 9: `kdiv`)."""
    return 0 if other <= 0 else int64(uint128(k) // other)


def buy(reserve_a: int, reserve_b: int, k: int, amount: int, outcome: int) -> Fill:
    """A bet as leverage computes it; any outcome but 0 is side 1 (spec 09, section 9.1)."""
    if outcome == 0:
        grown = int64(reserve_a + amount)
        left = reserve_at(k, grown)
        return Fill(int64(reserve_b - left), grown, left)
    grown = int64(reserve_b + amount)
    left = reserve_at(k, grown)
    return Fill(int64(reserve_a - left), left, grown)


def instant_fill(reserve_a: int, reserve_b: int, k: int, amount: int, side: int) -> Fill:
    """A bet that is filled at once (spec 08, section 5.1, step 9); the caller judges its tokens."""
    if side == 0:
        grown = int64(reserve_a + amount)
        left = _other_reserve(k, grown)
        return Fill(int64(reserve_b - left), grown, left)
    grown = int64(reserve_b + amount)
    left = _other_reserve(k, grown)
    return Fill(int64(reserve_a - left), left, grown)


def queued_fill(reserve_a: int, reserve_b: int, amount: int, side: int) -> Fill:
    """Fill a queued bet at the product of the reserves, not at `k`; it gets nothing while a reserve is empty (spec 09,
    section 5.10, step 3).
    """
    if reserve_a <= 0 or reserve_b <= 0:
        return Fill(0, reserve_a, reserve_b)
    product = reserve_a * reserve_b
    if side == 0:
        grown = int64(reserve_a + amount)
        left = quotient128(product, uint64(grown))
        return Fill(int64(reserve_b - left), grown, left)
    grown = int64(reserve_b + amount)
    left = quotient128(product, uint64(grown))
    return Fill(int64(reserve_a - left), left, grown)


def cancel(
    reserves: Reserves, side: int, weight: int, stake: int, entry_liquidity: int, liquidity: int
) -> Cancellation:
    """A bet's way back along the curve (spec 08, section 5.4, step 2); any side but 0 is side 1.

    Where liquidity has changed since the bet, it gets no more than the curve of its own depth would have given, so that
    nobody gains by cancelling in a deeper or shallower market.
    """
    into, out = (reserves.a, reserves.b) if side == 0 else (reserves.b, reserves.a)
    returned = int64(out + weight)
    left = _other_reserve(reserves.k, returned)
    curve = int64(into - left)
    if curve < 0:
        raise RefundUnderflow
    priced = curve
    if entry_liquidity > 0 and liquidity > 0 and entry_liquidity != liquidity:
        entry_in = uint128(uint64(into) * entry_liquidity) // liquidity
        entry_out = uint128(uint64(out) * entry_liquidity) // liquidity
        divisor = uint128(entry_out + weight)
        if 0 < entry_in < 2**64 and entry_out < 2**64 and divisor > 0:
            at_entry = int64(entry_in - quotient128(entry_in * entry_out, divisor))
            priced = min(priced, max(0, at_entry))
    paid = min(priced, stake)
    a, b = (left, returned) if side == 0 else (returned, left)
    return Cancellation(curve, paid, priced - paid, int64(stake - paid), a, b)


def opening_reserves(liquidity: int) -> Reserves:
    """Both halves of a new market's liquidity; side 1 gets the odd unit (spec 08, section 4.3, step 12)."""
    half = liquidity // 2
    return _reserves(half, liquidity - half)


def reserves_with(reserve_a: int, reserve_b: int, liquidity: int, amount: int) -> Reserves:
    """The reserves after liquidity was added in their proportion, or in halves if there was none (spec 08, section 6.1,
    step 4).
    """
    if liquidity <= 0:
        return reserves_with_halves(reserve_a, reserve_b, amount)
    return _scaled(reserve_a, reserve_b, int64(liquidity + amount), liquidity)


def reserves_with_halves(reserve_a: int, reserve_b: int, amount: int) -> Reserves:
    """The reserves after the lazy pool gave its part, half to each side (spec 09, section 7.8, step 5)."""
    half = amount // 2
    return _reserves(int64(reserve_a + half), int64(reserve_b + amount - half))


def reserves_without(reserve_a: int, reserve_b: int, liquidity: int, amount: int) -> Reserves:
    """The reserves after liquidity was withdrawn in their proportion; there must be some (spec 08, 6.2, step 7; spec
    09, 7.9).
    """
    return _scaled(reserve_a, reserve_b, int64(liquidity - amount), liquidity)


def _scaled(reserve_a: int, reserve_b: int, numerator: int, denominator: int) -> Reserves:
    return _reserves(mul_div(reserve_a, numerator, denominator), mul_div(reserve_b, numerator, denominator))


def _reserves(a: int, b: int) -> Reserves:
    return Reserves(a, b, uint128(uint64(a) * uint64(b)))


def _other_reserve(k: int, reserve: int) -> int:
    if reserve == 0:
        raise CurveOverflow
    return int64(uint128(k) // uint64(reserve))
