"""A whole settlement of a market without claims, from the terms that the ledger computes row by row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ledgerd.pricing.parimutuel import FeeRates, Winner, fees, winner_payout, winners_bonus, winners_pool
from ledgerd.pricing.widths import int64, uint64, uint128


class Settlement(NamedTuple):
    """A whole settlement: payouts in the order of the winners."""

    payouts: list[int]
    oracle: int
    creator: int
    bonus: int
    """For those who provided liquidity."""


def settle(losing: int, forfeit: int, rates: FeeRates, winners: Iterable[Winner]) -> Settlement:
    """A market without claims, settled at once (spec 09, section 10.1); a shortfall is dropped, not reported."""
    winners = list(winners)
    taken = fees(losing, rates)
    pool = winners_pool(taken, forfeit, 0).winners
    weight_total = uint128(sum(uint64(winner.weight) for winner in winners))
    paid = [winner_payout(winner, pool, weight_total) for winner in winners] if weight_total else []
    distributed = int64(sum(each.profit for each in paid))
    penalties = int64(sum(each.penalty for each in paid))
    bonus = winners_bonus(penalties, taken.liquidity, pool, distributed, weight_total)
    return Settlement([each.payout for each in paid], taken.oracle, taken.creator, bonus)
