"""The lazy pool: its shares, its rewards, and how much of it a market gets.

Spec 08, sections 3.9, 3.10 and 8; spec 09, section 7.8. Queues, rows and payments belong to the ledger.
"""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.pricing.widths import int64, mul_div, quotient128, truncated_quotient, uint64, uint128

REWARD_SCALE = 1_000_000_000
MAX_HALVINGS = 4


class Deposit(NamedTuple):
    """What the pool remembers of a depositor."""

    shares: int
    principal: int
    reward_snapshot: int
    """The pool's reward of each share when the deposit last changed."""
    pending_rewards: int


class Withdrawal(NamedTuple):
    """What a depositor takes out."""

    principal: int
    reward: int
    """Of the pending rewards, before the penalty."""
    penalty: int
    owed: int


def shares_for(amount: int, total_shares: int, equity: int) -> int:
    """The shares that a deposit gets, rounded down; one for one where there are none, or no equity.

    Spec 08, section 8.1, step 2.
    """
    return amount if total_shares == 0 or equity <= 0 else mul_div(amount, total_shares, equity)


def reward_growth(income: int, total_shares: int) -> int:
    """What income adds to the reward of each share, in billionths, a 128-bit number; nothing without shares.

    Spec 08, section 3.9.
    """
    return uint128(uint64(income) * REWARD_SCALE) // uint64(total_shares) if total_shares > 0 else 0


def reward_since(deposit: Deposit, reward_per_share: int) -> int:
    """What a deposit's shares have earned since it last changed (spec 08, section 8.1, step 4)."""
    return quotient128(uint128(reward_per_share - deposit.reward_snapshot) * uint64(deposit.shares), REWARD_SCALE)


def withdraw(deposit: Deposit, shares: int, reward_per_share: int, penalty_percent: int) -> Withdrawal:
    """The part of a deposit that some of its shares are; the penalty takes of the rewards alone.

    Spec 08, section 8.2, step 5. The percentage, in ten-thousandths, is 0 unless the deposit is locked.
    """
    pending = int64(reward_since(deposit, reward_per_share) + deposit.pending_rewards)
    principal = mul_div(deposit.principal, shares, deposit.shares)
    reward = mul_div(pending, shares, deposit.shares)
    penalty = truncated_quotient(int64(reward * penalty_percent), HUNDRED_PERCENT)
    return Withdrawal(principal, reward, penalty, int64(principal + reward - penalty))


def allocation(free: int, allocated: int, percent: int, max_percent: int, others: int, stamps: int) -> int:
    """What a market gets of the pool; 0 for nothing (spec 09, section 7.8, steps 1 to 4).

    A percentage of what is free, within a percentage of everything, both in ten-thousandths; a twentieth less for each
    other active market of the oracle, rounded down one by one; half for each stamp that counts, four at most.
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
