"""Numbers with 96 bits after the point (Q96), as ints: product, quotient, exponential and logarithm, bit for bit."""

from __future__ import annotations

from ledgerd.pricing.errors import ExpOutOfDomain, LogOutOfDomain
from ledgerd.pricing.widths import truncated_quotient

FRACTION_BITS = 96
ONE = 1 << FRACTION_BITS
LN2 = 54916777467707473351141471128
EXP_DOMAIN = 130 * ONE

_BELOW_ONE = ONE - 1
# The reference adds up to term 30 and to term 50. With |r| <= ln 2 / 2 and z <= 1/3, terms come to nothing around the
# 22nd and the 31st, and what follows nothing is nothing: the loops below end there with the same sum.
_EXP_TERMS = range(2, 30, 2)
_LN_DIVISORS = range(3, 102, 2)


def mul_q(a: int, b: int) -> int:
    """The product, rounded down (spec 09, section 8.1)."""
    return a * b >> FRACTION_BITS


def div_q(a: int, b: int) -> int:
    """The quotient, truncated toward zero (spec 09, section 8.1)."""
    return truncated_quotient(a << FRACTION_BITS, b)


def exp_q(x: int) -> int:
    """The exponential (spec 09, section 8.2).

    Relative error below 2^-96 times (|x| / ln 2 + 200), and one unit of the last place for a negative x: the error of
    LN2 counts once for every doubling, and each of the terms is rounded by less than two units.
    """
    if not -EXP_DOMAIN <= x <= EXP_DOMAIN:
        raise ExpOutOfDomain
    doublings, rest = divmod(x, LN2)
    # To the nearest; of two that are equally near, to the even one.
    if (twice := rest << 1) > LN2 or (twice == LN2 and doublings & 1):
        doublings += 1
        rest -= LN2
    if doublings <= -FRACTION_BITS - 1:
        return 0  # the series stays below 2
    power = _series_above(rest) if rest >= 0 else _series_below(-rest)
    return power << doublings if doublings >= 0 else power >> -doublings


def _series_above(r: int) -> int:
    """The sum of the terms for r >= 0."""
    total = ONE + r
    term = r
    for n in _EXP_TERMS:
        term = (term * r >> 96) // n
        total += term
        term = (term * r >> 96) // (n + 1)
        if not term:
            break
        total += term
    return total


def _series_below(s: int) -> int:
    """The sum of the terms for r = -s < 0: odd ones are negative, so the reference rounds their size up."""
    total = ONE - s
    term = s
    for n in _EXP_TERMS:
        term = (term * s >> 96) // n
        total += term
        term = (term * s + _BELOW_ONE >> 96) // (n + 1)
        if not term:
            break
        total -= term
    return total


def ln_q(x: int) -> int:
    """The natural logarithm (spec 09, section 8.3).

    Error below 2^-96 times (doublings + 250): that of LN2 once for every doubling, of fifty terms twice two units each.
    """
    if x <= 0:
        raise LogOutOfDomain
    doublings = x.bit_length() - 1 - FRACTION_BITS
    mantissa = x >> doublings if doublings >= 0 else x << -doublings
    z = ((mantissa - ONE) << FRACTION_BITS) // (mantissa + ONE)
    square = z * z >> 96
    total = term = z
    for divisor in _LN_DIVISORS:
        term = term * square >> 96
        if not term:
            break
        total += term // divisor
    return doublings * LN2 + (total << 1)
