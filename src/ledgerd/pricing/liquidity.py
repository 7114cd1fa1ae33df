"""Providers of liquidity: their parts of a bonus and of a shortfall, and their shares in the depth of a book (spec
09, sections 6.3, 7.8, 7.9 and 10.2; spec 08, section 6); and the lazy pool: its shares, its rewards, and how much of
it a market gets (spec 08, sections 3.9, 3.10 and 8). Queues, rows and payments belong to the ledger.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ledgerd.basics.durations import MINUTE
from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.pricing.widths import int64, mul_div, quotient128, truncated_quotient, uint64, uint128


class Provided(NamedTuple):
    """The amount of a provider, and the seconds for which it has been provided."""

    principal: int
    seconds: int


def bonus_shares(provided: Sequence[Provided], bonus: int) -> list[int]:
    """Divide a bonus by amount and begun minutes, rounded down; the last provider gets the rest (spec 09, section
    10.2).
    """
    if not provided or bonus <= 0:
        return [0] * len(provided)
    weights = [uint128(principal * (max(0, seconds) // MINUTE + 1)) for principal, seconds in provided]
    total = uint128(sum(weights))
    if total == 0:
        return [0] * len(provided)
    shares = [quotient128(bonus * weight, total) for weight in weights[:-1]]
    return [*shares, int64(bonus - sum(shares))]


def charges(amounts: Sequence[int], uncovered: int) -> list[int]:
    """Charge a shortfall to providers by their amounts, rounded down, and never more than the amount; the first ones
    are charged the rest (spec 09, section 6.3, step 4).
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
    """The depth that an amount adds, in proportion; 0 if there was no liquidity (spec 08, 6.1, step 3; spec 09, section
    7.8, step 5).
    """
    return mul_div(depth, amount, liquidity) if liquidity > 0 else 0


def depth_removed(share: int, withdrawn: int, amount: int) -> int:
    """The depth that a withdrawal takes from the provider's own share: all of it with the whole amount (spec 08,
    section 6.2, step 6; spec 09, section 7.9).
    """
    if share <= 0 or amount <= 0:
        return 0
    return share if withdrawn == amount else mul_div(share, withdrawn, amount)


REWARD_SCALE = 1_000_000_000
MAX_HALVINGS = 4


class Deposit(NamedTuple):
    """The record of a depositor in the pool."""

    shares: int
    principal: int
    reward_snapshot: int
    """The reward per share of the pool when the deposit last changed."""
    pending_rewards: int


class Withdrawal(NamedTuple):
    """The amounts of a withdrawal from the pool."""

    principal: int
    reward: int
    """The part of the pending rewards, before the penalty."""
    penalty: int
    owed: int


def shares_for(amount: int, total_shares: int, equity: int) -> int:
    """The shares for a deposit, rounded down: one per unit if there are no shares yet, or no equity (spec 08, section
    8.1, step 2).
    """
    return amount if total_shares == 0 or equity <= 0 else mul_div(amount, total_shares, equity)


def reward_growth(income: int, total_shares: int) -> int:
    """The growth of the reward per share by an income, in billionths and 128 bits; 0 if there are no shares (spec 08,
    section 3.9).
    """
    return uint128(uint64(income) * REWARD_SCALE) // uint64(total_shares) if total_shares > 0 else 0


def reward_since(deposit: Deposit, reward_per_share: int) -> int:
    """The reward that the shares of a deposit have earned since it last changed (spec 08, section 8.1, step 4)."""
    return quotient128(uint128(reward_per_share - deposit.reward_snapshot) * uint64(deposit.shares), REWARD_SCALE)


def withdraw(deposit: Deposit, shares: int, reward_per_share: int, penalty_percent: int) -> Withdrawal:
    """Withdraw some shares of a deposit; the penalty is on the rewards alone (spec 08, section 8.2, step 5).

    The percentage, in ten-thousandths, is 0 unless the deposit is locked.
    """
    pending = int64(reward_since(deposit, reward_per_share) + deposit.pending_rewards)
    principal = mul_div(deposit.principal, shares, deposit.shares)
    reward = mul_div(pending, shares, deposit.shares)
    penalty = truncated_quotient(int64(reward * penalty_percent), HUNDRED_PERCENT)
    return Withdrawal(principal, reward, penalty, int64(principal + reward - penalty))


def allocation(free: int, allocated: int, percent: int, max_percent: int, others: int, stamps: int) -> int:
    """The amount that the pool gives to a market, at least 0 (spec 09, section 7.8, steps 1 to 4).

    It is a percentage of what is free, within a percentage of everything, both in ten-thousandths. Each other active
    market of the oracle takes off a twentieth, rounded down one by one; each stamp that counts halves it, four at most.
    """
    if free <= 0:
        return 0
    room = int64(mul_div(int64(free + allocated), max_percent, HUNDRED_PERCENT) - allocated)
    amount = min(mul_div(free, percent, HUNDRED_PERCENT), free, room)
    if amount <= 0:
        return 0
    for _ in range(others):
        amount = int64(amount * 95) // 100
    return amount >> min(MAX_HALVINGS, stamps)
