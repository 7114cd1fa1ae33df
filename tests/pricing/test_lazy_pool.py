"""The lazy pool: specified shares, rewards and allocations, and their bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.pricing.liquidity import (
    Deposit,
    Withdrawal,
    allocation,
    reward_growth,
    reward_since,
    shares_for,
    withdraw,
)

AMOUNTS = st.integers(1, 10**13)


def test_a_deposit_gets_the_specified_shares() -> None:
    assert shares_for(250_000, 1_000_000, 940_000) == 265_957
    assert shares_for(250_000, 0, 940_000) == shares_for(250_000, 5, 0) == shares_for(250_000, 5, -1) == 250_000


def test_an_emergency_withdrawal_pays_what_is_specified() -> None:
    deposit = Deposit(1_000_000, 900_000, 23456789, 77)

    assert reward_since(deposit, 123456789) == 100_000
    assert withdraw(deposit, 400_000, 123456789, 5000) == Withdrawal(360_000, 40_030, 20_015, 380_015)
    assert 123456789 + reward_growth(20_015, 2_600_000) == 131154865


def test_income_of_a_pool_without_shares_grows_nothing() -> None:
    assert reward_growth(5, 0) == 0


@pytest.mark.parametrize(
    ("free", "allocated", "others", "stamps", "expected"),
    [
        (10_000_000, 0, 0, 0, 2_000_000),
        (10_000_001, 5_000_000, 3, 2, 428_687),
        (10_000_000, 2_000_000, 3, 0, 1_714_750),
        (10_000_000, 2_000_000, 3, 2, 428_687),
        (10_000_000, 2_000_000, 3, 9, 107_171),
        (1_000_000, 2_000_000, 0, 0, 100_000),
        (1_000_000, 2_300_000, 0, 0, 10_000),
        (1_000_000, 2_400_000, 0, 0, 0),
        (0, 100, 0, 0, 0),
        (4, 0, 0, 0, 0),
        (10, 0, 0, 2, 0),
    ],
)
def test_a_market_gets_what_is_specified(free: int, allocated: int, others: int, stamps: int, expected: int) -> None:
    assert allocation(free, allocated, 2000, 7000, others, stamps) == expected


@given(AMOUNTS, AMOUNTS, st.integers(0, 10000), st.integers(0, 10000), st.integers(0, 20), st.integers(0, 6))
def test_a_market_gets_no_more_than_is_free_and_the_pool_may_give(
    free: int, allocated: int, percent: int, most: int, others: int, stamps: int
) -> None:
    given_ = allocation(free, allocated, percent, most, others, stamps)

    assert 0 <= given_ <= free
    assert given_ == 0 or given_ + allocated <= (free + allocated) * most // 10000
    assert allocation(free, allocated, percent, most, others + 1, stamps) <= given_


@given(*[st.integers(1, 10**9)] * 3)
def test_shares_are_worth_no_more_than_was_paid_for_them(amount: int, total: int, equity: int) -> None:
    shares = shares_for(amount, total, equity)

    assert shares * (equity + amount) // (total + shares) <= amount


@given(AMOUNTS, AMOUNTS)
def test_rewards_of_all_shares_never_exceed_the_income(income: int, shares: int) -> None:
    assert reward_since(Deposit(shares, 0, 0, 0), reward_growth(income, shares)) <= income


@given(AMOUNTS, AMOUNTS, st.integers(0, 10**13), st.integers(1, 10**13), st.integers(0, 10000))
def test_a_part_of_a_deposit_is_no_more_than_its_part(
    shares: int, principal: int, pending: int, burnt: int, penalty: int
) -> None:
    burnt = min(burnt, shares)
    found = withdraw(Deposit(shares, principal, 0, pending), burnt, 0, penalty)

    assert found.principal * shares <= principal * burnt
    assert 0 <= found.penalty <= found.reward <= pending
    assert found.owed == found.principal + found.reward - found.penalty
