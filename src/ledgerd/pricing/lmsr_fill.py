"""How many tokens of an outcome an amount buys (spec 09, section 8.6). The reference halves an interval some fifty
times and prices the whole book twice each time. Prices rise with the tokens, so the answer lies where the cost passes
the amount, and that place has a closed form. Here it is estimated in integers, with its error, the same on every
machine: trials outside of the error are decided by it, those inside by the costs themselves. An estimate is never
itself a result. Which trials are made, and which of them the reference refuses, is as there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from ledgerd.pricing.errors import ExpOutOfDomain, QuantityTooLarge
from ledgerd.pricing.fixed_point import EXP_DOMAIN, FRACTION_BITS, LN2, ONE, exp_q, ln_q
from ledgerd.pricing.lmsr import CUT_OFF, MAX_OUTCOMES, MAX_QUANTITY, check_book, cost_of, weigh

BITS = 64
UNIT = 1 << BITS

ERROR = 16
"""No estimate is further off, in 2^-64ths: of the result where it is above one, else of one.

`shrunk` rounds two factors, their product, three terms and a shift, by one each at most, and leaves out terms below a
sixteenth; `grown` is at least half of a power of two times that; `logarithm` rounds mantissa, inverse, seven terms and
two sums. What an error of the argument makes comes on top.
"""

_FINE = (1 << 48) - 1
_SEVENTH = UNIT // 7
_ONE_TO_SIXTH = tuple(UNIT // n for n in range(6, 0, -1))


def _powers(step: int, count: int) -> list[int]:
    """The exponential of -j steps, a step being given in Q96, rounded to the nearest in 64 bits."""
    factor, power, found = exp_q(-step), ONE, []
    for _ in range(count):
        found.append(power + (1 << 31) >> 32)
        power = power * factor >> 96
    return found


def _logarithms() -> list[int]:
    """The logarithms of (256 + j) / 256, for every j below 256."""
    total, found = 0, []
    for n in range(256, 512):
        found.append(total >> 32)
        total += ln_q((n + 1) * ONE // n)
    return found


_COARSE_POWERS = _powers(ONE >> 8, 178)
"""For the first eight bits of what is at most ln 2."""
_FINE_POWERS = _powers(ONE >> 16, 256)
_LOGARITHMS = _logarithms()
_INVERSES = [(1 << BITS + 8) // n for n in range(256, 512)]


def shrunk(y: int) -> int:
    """The exponential of -y, for y >= 0."""
    halvings, rest = divmod(y << 32, LN2)
    rest >>= 32
    fine = rest & _FINE
    power = _COARSE_POWERS[rest >> 56] * _FINE_POWERS[rest >> 48 & 255] >> 64
    square = fine * fine >> 65
    return power - (power * (fine - square + square * fine // 3 // UNIT) >> 64) >> halvings


def grown(y: int) -> int:
    """The exponential of y, for y >= 0."""
    doublings = (y << 32) // LN2 + 1
    return shrunk((doublings * LN2 >> 32) - y) << doublings


def logarithm(x: int) -> int:
    """The natural logarithm of x >= 1: of at least one 2^-64th, that is."""
    doublings = x.bit_length() - 1 - BITS
    mantissa = x >> doublings if doublings >= 0 else x << -doublings
    place = (mantissa >> 56) - 256
    d = (mantissa * _INVERSES[place] >> 64) - UNIT
    series = _SEVENTH
    for divided in _ONE_TO_SIXTH:
        series = divided - (d * series >> 64)
    series = d * series >> 64
    return (doublings * LN2 >> 32) + _LOGARITHMS[place] + series


REACH = 10
"""Trials stay below so many tokens for each unit of the amount."""

_SAFE_SPREAD = 129
"""A book of this spread at most, in depths, has all its exponents within the domain."""

_DOUBT = (MAX_OUTCOMES + 4) * ERROR
"""Error of the estimated logarithm of a book's sum: that of each outcome, of the logarithm, and the exact one's own.

The exact one is off by less than 2^-84: exponentials by 400 units of 2^-96 each, their logarithm by 300.
"""

_FAR = 100 * UNIT
"""e to the power of -100 is nothing in 64 bits."""


class _Doubt(NamedTuple):
    """So many tokens cost no more than the amount for certain, and more than so many cost more for certain."""

    fit: int
    most: int


def tokens_for_amount(quantities: Sequence[int], depth: int, outcome: int, amount: int) -> int:
    """The most tokens that cost no more than the amount, short of ten times the amount.

    0 for no depth, no amount, or an outcome that is not there. A trial outside of the domain refuses the whole, though
    the answer might lie inside.
    """
    if depth <= 0 or amount <= 0 or not 0 <= outcome < len(quantities):
        return 0
    check_book(quantities, depth)
    lowest, highest, sold = min(quantities), max(quantities), quantities[outcome]
    if highest - lowest > _SAFE_SPREAD * depth:
        _check_spread(quantities, depth)
    limit = min(REACH * amount, MAX_QUANTITY)
    log_sum = _estimated_log_sum(quantities, depth, highest)
    spent = _estimated_cost(depth, highest, log_sum)
    if spent is None:
        spent = cost_of(weigh(quantities, depth), depth)
    doubt = _crossing(depth, log_sum, highest - sold, spent + amount + 1 - highest)
    reach = sold + limit
    if doubt.fit == doubt.most and reach <= MAX_QUANTITY and max(reach, highest) - lowest <= _SAFE_SPREAD * depth:
        return min(doubt.fit, limit - 1)
    return _search(_Trials(quantities, depth, outcome), limit, doubt, spent + amount)


def _estimated_log_sum(quantities: Sequence[int], depth: int, highest: int) -> int:
    """The logarithm of the sum of e to the power of (quantity - highest) / depth. Equal quantities share theirs."""
    powers = {highest: UNIT}
    total = 0
    for quantity in quantities:
        power = powers.get(quantity)
        if power is None:
            power = powers[quantity] = shrunk((highest - quantity << BITS) // depth)
        total += power
    return logarithm(total)


def _estimated_cost(depth: int, highest: int, log_sum: int) -> int | None:
    """What the book has cost, rounded down, if the estimate decides it."""
    least = depth * (log_sum - _DOUBT) >> BITS
    most = depth * (log_sum + _DOUBT) >> BITS
    return highest + least if least == most else None


def _crossing(depth: int, log_sum: int, below: int, room: int) -> _Doubt:
    """Where the cost comes to `room` above the highest quantity, for an outcome that lies `below` it.

    With p the outcome's price and x the rise of the book's logarithm, d tokens more make e^x = 1 + p (e^(d / b) - 1),
    so d = b ln(1 + (e^x - 1) / p). An error of x comes out as many times larger as the slope e^x / (e^x - 1 + p) says.
    """
    rise = (room << BITS) // depth - log_sum
    if rise <= _DOUBT << 4:
        return _Doubt(0, MAX_QUANTITY)
    rarity = (below << BITS) // depth + log_sum  # -ln p
    if rise > _FAR:
        distance, slope = rise + rarity, UNIT
    else:
        power = grown(rise)
        if rarity > _FAR:
            distance, slope = logarithm(power - UNIT) + rarity, (power << BITS) // (power - UNIT)
        else:
            scale = grown(rarity)
            inner = UNIT + ((power - UNIT) * scale >> BITS)
            distance, slope = logarithm(inner), power * scale // inner
    middle = depth * distance
    margin = depth * (4 * _DOUBT * (slope + 2 * UNIT) >> BITS)
    return _Doubt(max(0, middle - margin >> BITS), max(0, middle + margin >> BITS))


def _check_spread(quantities: Sequence[int], depth: int) -> None:
    """Refuse a book with an outcome between 130 and 200 below the greatest (spec 09, section 8.4, quirk)."""
    ratios = [(quantity << FRACTION_BITS) // depth for quantity in quantities]
    greatest = max(ratios)
    if any(EXP_DOMAIN < greatest - ratio <= CUT_OFF for ratio in ratios):
        raise ExpOutOfDomain


class _Trials:
    """A book in which one outcome is tried with more tokens."""

    def __init__(self, quantities: Sequence[int], depth: int, outcome: int) -> None:
        self._trial = list(quantities)
        self._depth = depth
        self._outcome = outcome
        self._sold = quantities[outcome]
        self._others = sorted(
            (quantity << FRACTION_BITS) // depth for i, quantity in enumerate(quantities) if i != outcome
        )

    def check(self, tokens: int) -> None:
        """Refuse a trial that the reference refuses to price."""
        tried = self._sold + tokens
        if tried > MAX_QUANTITY:
            raise QuantityTooLarge
        ratio = (tried << FRACTION_BITS) // self._depth
        others = self._others
        greatest = max(ratio, others[-1])
        if greatest - min(ratio, others[0]) <= EXP_DOMAIN:
            return
        refused = bisect_left(others, greatest - CUT_OFF) < bisect_left(others, greatest - EXP_DOMAIN)
        if refused or EXP_DOMAIN < greatest - ratio <= CUT_OFF:
            raise ExpOutOfDomain

    def cost(self, tokens: int) -> int:
        self._trial[self._outcome] = self._sold + tokens
        return cost_of(weigh(self._trial, self._depth), self._depth)


def _search(trials: _Trials, limit: int, doubt: _Doubt, most: int) -> int:
    """The reference's trials one by one; only those in doubt are priced."""
    low, high = 0, limit
    while high - low > 1:
        middle = (low + high) // 2
        trials.check(middle)
        if middle <= doubt.fit or (middle <= doubt.most and trials.cost(middle) <= most):
            low = middle
        else:
            high = middle
    return low
