"""The market scoring rule as specified, step by step, without any of what makes the room fast (spec 09, section 8)."""

from __future__ import annotations

from collections.abc import Sequence

ONE = 2**96
LN2 = 54916777467707473351141471128


class Refused(Exception):
    """A step of the specification that raises; its text begins as given."""


def tdiv(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def exp_q(x: int) -> int:
    if abs(x) > 130 * ONE:
        raise Refused("LMSR_OVERFLOW")
    k = tdiv(x, LN2)
    r = x - k * LN2
    if 2 * r > LN2 or (2 * r == LN2 and k % 2):
        k += 1
    if 2 * r < -LN2 or (2 * r == -LN2 and k % 2):
        k -= 1
    r = x - k * LN2
    total = term = ONE
    for n in range(1, 31):
        term = tdiv(term * r // ONE, n)
        total += term
    return total << k if k >= 0 else total >> -k


def ln_q(x: int) -> int:
    p = x.bit_length() - 1 - 96
    mantissa = x >> p if p >= 0 else x << -p
    z = tdiv((mantissa - ONE) * ONE, mantissa + ONE)
    square = z * z // ONE
    total = term = z
    for k in range(1, 51):
        term = term * square // ONE
        total += tdiv(term, 2 * k + 1)
    return p * LN2 + 2 * total


def cost(q: Sequence[int], b: int) -> int:
    if max(q) > 2**53:
        raise Refused("LMSR_INVALID_Q")
    ratios = [x * ONE // b for x in q]
    greatest = max(ratios)
    total = sum(exp_q(ratio - greatest) for ratio in ratios if ratio - greatest >= -200 * ONE)
    return tdiv(b * (greatest + ln_q(total)), ONE)


def buy_cost(q: Sequence[int], b: int, i: int, d: int) -> int:
    before = cost(q, b)
    return max(0, cost([x + d * (j == i) for j, x in enumerate(q)], b) - before)


def tokens_for_amount(q: Sequence[int], b: int, i: int, a: int) -> int:
    low, high, best = 0, min(10 * a, 2**53), 0
    for _ in range(100):
        if high - low <= 1:
            break
        middle = (low + high) // 2
        if buy_cost(q, b, i, middle) <= a:
            best = low = middle
        else:
            high = middle
    return best
