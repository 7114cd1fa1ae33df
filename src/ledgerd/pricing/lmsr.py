"""The logarithmic market scoring rule: what a book of outcomes costs, and the prices in it (spec 09, section 8).

A book is the quantities sold of each outcome and its depth `b`. How many tokens an amount buys is in `lmsr_fill`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ledgerd.pricing import errors
from ledgerd.pricing.fixed_point import FRACTION_BITS, ONE, exp_q, ln_q

MIN_OUTCOMES = 2
MAX_OUTCOMES = 128
MAX_DEPTH = 2**53
MAX_QUANTITY = 2**53
CUT_OFF = 200 * ONE
PRICE_SCALE = 1_000_000


class Weighed(NamedTuple):
    """A book in Q96: e to the power of each quantity's distance to the greatest, over the depth, and their sums."""

    powers: list[int]
    total: int
    log_sum: int
    """The logarithm of the sum of e to the power of each ratio."""


def check_book(quantities: Sequence[int], depth: int) -> None:
    """Require the bounds of a book, in the order of the reference (spec 09, section 8.4)."""
    if not MIN_OUTCOMES <= len(quantities) <= MAX_OUTCOMES:
        raise errors.WrongOutcomeCount
    if depth <= 0:
        raise errors.DepthNotPositive
    if depth > MAX_DEPTH:
        raise errors.DepthTooLarge
    if min(quantities) >= 0 and max(quantities) <= MAX_QUANTITY:
        return
    for quantity in quantities:
        if quantity < 0:
            raise errors.QuantityNegative
        if quantity > MAX_QUANTITY:
            raise errors.QuantityTooLarge


def weigh(quantities: Sequence[int], depth: int) -> Weighed:
    """A checked book in Q96 (spec 09, section 8.4). Outcomes of one quantity share their exponential.

    What lies more than 200 below the greatest counts for nothing; between 130 and 200 the exponential refuses it.
    """
    shared = {quantity: (quantity << FRACTION_BITS) // depth for quantity in quantities}
    greatest = max(shared.values())
    for quantity, ratio in shared.items():
        below = greatest - ratio
        if below > CUT_OFF:
            shared[quantity] = 0
        else:
            shared[quantity] = exp_q(-below) if below else ONE
    powers = [shared[quantity] for quantity in quantities]
    total = sum(powers)
    return Weighed(powers, total, greatest + ln_q(total))


def cost(quantities: Sequence[int], depth: int) -> int:
    """What the book has cost, rounded down; 0 without depth (spec 09, section 8.4)."""
    if depth <= 0:
        return 0
    check_book(quantities, depth)
    return cost_of(weigh(quantities, depth), depth)


def cost_of(book: Weighed, depth: int) -> int:
    """What a weighed book has cost, rounded down. No logarithm in it is negative."""
    return depth * book.log_sum >> FRACTION_BITS


def prices(quantities: Sequence[int], depth: int) -> tuple[int, ...]:
    """The prices in millionths, each rounded down: their sum is below a million by at most one for each outcome (spec
    09, section 8.5).
    """
    if depth <= 0:
        return (0,) * len(quantities)
    check_book(quantities, depth)
    book = weigh(quantities, depth)
    return tuple(_price_of(power, book.total) for power in book.powers)


def price(quantities: Sequence[int], depth: int, outcome: int) -> int:
    """The price of an outcome in millionths; 0 without depth or for an outcome that is not there (spec 09, section
    8.5).
    """
    if depth <= 0:
        return 0
    check_book(quantities, depth)
    if not 0 <= outcome < len(quantities):
        return 0
    book = weigh(quantities, depth)
    return _price_of(book.powers[outcome], book.total)


def buy_cost(quantities: Sequence[int], depth: int, outcome: int, tokens: int) -> int:
    """What so many tokens of an outcome cost, from one rounded cost to the other (spec 09, section 8.6)."""
    if depth <= 0 or tokens <= 0 or not 0 <= outcome < len(quantities):
        return 0
    before = cost(quantities, depth)
    return max(0, cost(_moved(quantities, outcome, tokens), depth) - before)


def sell_return(quantities: Sequence[int], depth: int, outcome: int, tokens: int) -> int:
    """What so many tokens of an outcome give back; 0 if fewer were sold (spec 09, section 8.6)."""
    if depth <= 0 or tokens <= 0 or not 0 <= outcome < len(quantities) or tokens > quantities[outcome]:
        return 0
    before = cost(quantities, depth)
    return max(0, before - cost(_moved(quantities, outcome, -tokens), depth))


def depth_of_liquidity(liquidity: int, outcomes: int) -> int:
    """The depth at which a maker loses no more than the liquidity, rounded down (spec 09, section 8.6)."""
    if liquidity <= 0 or outcomes <= 1:
        return 0
    if outcomes > MAX_OUTCOMES:
        raise errors.TooManyOutcomes
    return (liquidity << FRACTION_BITS) // ln_q(outcomes << FRACTION_BITS)


def _price_of(power: int, total: int) -> int:
    return (power << FRACTION_BITS) // total * PRICE_SCALE >> FRACTION_BITS


def _moved(quantities: Sequence[int], outcome: int, tokens: int) -> list[int]:
    moved = list(quantities)
    moved[outcome] += tokens
    return moved
