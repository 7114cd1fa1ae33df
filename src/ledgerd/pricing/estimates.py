"""Exponential and logarithm with 64 bits behind the point, fast, and wrong by no more than is stated here.

An estimate decides a comparison whose sides lie further apart than its error, and is never itself a result. Integers
throughout, so that the stated errors hold on every machine.
"""

from __future__ import annotations

from ledgerd.pricing.fixed_point import LN2, ONE, exp_q, ln_q

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
