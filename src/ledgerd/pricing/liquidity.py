"""Providers of liquidity: their parts of a bonus and of a shortfall, and their shares in the depth of a book.

Spec 09, sections 6.3, 7.8, 7.9 and 10.2; spec 08, section 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ledgerd.basics.durations import MINUTE
from ledgerd.pricing.widths import int64, mul_div, quotient128, uint128


class Provided(NamedTuple):
    """A provider's amount, and for how many seconds it has stood."""

    principal: int
    seconds: int


def bonus_shares(provided: Sequence[Provided], bonus: int) -> list[int]:
    """A bonus by amount and begun minutes, rounded down; the last provider takes the rest (spec 09, section 10.2)."""
    if not provided or bonus <= 0:
        return [0] * len(provided)
    weights = [uint128(principal * (max(0, seconds) // MINUTE + 1)) for principal, seconds in provided]
    total = uint128(sum(weights))
    if total == 0:
        return [0] * len(provided)
    shares = [quotient128(bonus * weight, total) for weight in weights[:-1]]
    return [*shares, int64(bonus - sum(shares))]


def charges(amounts: Sequence[int], uncovered: int) -> list[int]:
    """A shortfall by amount, rounded down, no more than each amount; the first take the rest.

    Spec 09, section 6.3, step 4.
    """
    total = int64(sum(amounts))
    if uncovered <= 0 or total <= 0:
        return [0] * len(amounts)
    shortfall = min(uncovered, total)
    found = [mul_div(shortfall, amount, total) for amount in amounts]
    rest = shortfall - sum(found)
    for place, amount in enumerate(amounts):
        if rest <= 0:
            break
        more = min(rest, amount - found[place])
        found[place] += more
        rest -= more
    return found


def depth_added(depth: int, amount: int, liquidity: int) -> int:
    """What an amount adds to a book's depth, in proportion; nothing where there was no liquidity.

    Spec 08, section 6.1, step 3; spec 09, section 7.8, step 5.
    """
    return mul_div(depth, amount, liquidity) if liquidity > 0 else 0


def depth_removed(share: int, withdrawn: int, amount: int) -> int:
    """What a withdrawal takes of its own share in a book's depth: all of it with all of the amount.

    Spec 08, section 6.2, step 6; spec 09, section 7.9.
    """
    if share <= 0 or amount <= 0:
        return 0
    return share if withdrawn == amount else mul_div(share, withdrawn, amount)
