"""Settlement: the specified ones, and that nothing appears or vanishes in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.pricing.parimutuel import (
    FeeRates,
    Fees,
    Payout,
    Pool,
    Winner,
    claims_bucket,
    expected_payout,
    fees,
    no_contest_penalty,
    pot_share,
    winner_payout,
    winners_bonus,
    winners_pool,
)
from tests.pricing.settlements import Settlement, settle

FREE = FeeRates(0, 0, 0, 0)
RATES = FeeRates(250, 100, 200, 5000)
WINNERS = [Winner(1000, 3333, 0), Winner(2500, 1234, 123456), Winner(7, 1, 1_000_000)]
AMOUNTS = st.integers(0, 10**13)
PERCENTS = st.integers(0, 3300)


@pytest.mark.parametrize(
    ("losing", "forfeit", "rates", "winners", "expected"),
    [
        (1000003, 777, RATES, WINNERS, Settlement([687431, 225267, 7], 30000, 10000, 51582)),
        (400, 0, FREE, [Winner(100, 100, 0), Winner(200, 300, 0)], Settlement([200, 500], 0, 0, 0)),
        (10, 0, FREE, [Winner(5, 1, 0), Winner(5, 2, 0)], Settlement([8, 11], 0, 0, 1)),
        (100, 0, FeeRates(0, 0, 0, 1000), [Winner(50, 10, 0)], Settlement([50], 100, 0, 0)),
        (1000, 0, FREE, [Winner(300, 100, 500_000)], Settlement([800], 0, 0, 500)),
        (1000, 5, FeeRates(100, 100, 100, 0), [], Settlement([], 10, 10, 985)),
        (0, 0, RATES, [Winner(300, 100, 0)], Settlement([300], 0, 0, 0)),
    ],
)
def test_a_settlement_is_the_specified_one(
    losing: int, forfeit: int, rates: FeeRates, winners: list[Winner], expected: Settlement
) -> None:
    assert settle(losing, forfeit, rates, winners) == expected


def test_a_settlement_with_claims_is_the_specified_one() -> None:
    taken = fees(1000003, RATES)
    bucket = claims_bucket(1000003, taken, 777, 3300)
    pool = winners_pool(taken, 777, 200000 + 130000)
    weights = sum(winner.weight for winner in WINNERS)
    paid = [winner_payout(winner, pool.winners, weights) for winner in WINNERS]

    assert (taken.oracle, taken.creator, taken.liquidity) == (30000, 10000, 20000)
    assert bucket == 330000
    assert pool == Pool(610780, 0)
    assert [each.payout for each in paid] == [446650, 147127, 7]
    profits, penalties = sum(each.profit for each in paid), sum(each.penalty for each in paid)
    assert winners_bonus(penalties, taken.liquidity, pool.winners, profits, weights) == 40503


def test_claims_are_paid_of_what_fees_leave() -> None:
    taken = fees(1000, FeeRates(9000, 500, 400, 0))

    assert taken == Fees(900, 50, 40, 10)
    assert claims_bucket(1000, taken, 0, 3300) == 10
    assert claims_bucket(1000, taken, 300, 3300) == 310
    assert claims_bucket(1000, taken, 1000, 3300) == 330


def test_percentages_beyond_the_losing_stake_leave_nothing_to_the_fixed_fee() -> None:
    assert fees(1000, FeeRates(9000, 9000, 0, 5)) == Fees(900, 900, 0, 0)
    assert claims_bucket(1000, fees(1000, FeeRates(9000, 9000, 0, 5)), -1, 3300) == 0


def test_claims_beyond_the_pool_are_uncovered() -> None:
    assert winners_pool(Fees(0, 0, 0, 100), 5, 110) == Pool(0, 5)
    assert winners_pool(Fees(0, 0, 0, 100), 5, 105) == Pool(0, 0)


def test_a_winner_without_weights_gets_the_stake_back() -> None:
    assert winner_payout(Winner(300, 0, 0), 1000, 0) == Payout(0, 0, 300)


def test_the_widest_pool_and_weight_are_shared_in_128_bits() -> None:
    widest = 2**63 - 1

    assert winner_payout(Winner(0, widest, 0), widest, 2 * widest).profit == widest // 2
    assert winner_payout(Winner(0, widest, 1_000_000), widest, widest) == Payout(widest, widest, 0)


def test_the_pots_of_a_void_market_are_shared_as_specified() -> None:
    stakes, total = [1000, 2001, 4000], 7001
    paid_a = paid_b = 0
    extras = []
    for stake in stakes:
        a = pot_share(500, paid_a, stake, total, is_last=stake == stakes[-1])
        b = pot_share(77, paid_b, stake, total, is_last=stake == stakes[-1])
        paid_a, paid_b = paid_a + a, paid_b + b
        extras.append(a + b)

    assert extras == [81, 164, 332]


def test_a_pot_without_stakes_or_already_overpaid_gives_nothing() -> None:
    assert pot_share(0, 0, 5, 5, is_last=True) == 0
    assert pot_share(500, 0, 5, 0, is_last=True) == 0
    assert pot_share(500, 600, 5, 5, is_last=True) == 0


def test_an_oracle_pays_no_more_than_its_insurance_for_no_contest() -> None:
    assert no_contest_penalty(1_000_000, 5000, 5_000_000) == 500_000
    assert no_contest_penalty(1_000_000, 5000, 499_999) == 499_999


@st.composite
def settlements(draw: st.DrawFn) -> tuple[int, int, FeeRates, list[Winner]]:
    rates = FeeRates(draw(PERCENTS), draw(PERCENTS), draw(PERCENTS), draw(AMOUNTS))
    winner = st.builds(Winner, st.integers(1, 10**13), st.integers(1, 10**14), st.integers(0, 1_000_000))
    return draw(AMOUNTS), draw(AMOUNTS), rates, draw(st.lists(winner, max_size=8))


@given(settlements())
def test_a_settlement_pays_exactly_what_came_in(case: tuple[int, int, FeeRates, list[Winner]]) -> None:
    losing, forfeit, rates, winners = case
    found = settle(losing, forfeit, rates, winners)
    stakes = sum(winner.amount for winner in winners)

    assert sum(found.payouts) + found.oracle + found.creator + found.bonus == stakes + losing + forfeit
    assert min([found.oracle, found.creator, found.bonus, *found.payouts]) >= 0


@given(settlements())
def test_profits_never_exceed_the_pool_and_winners_never_lose_their_stake(
    case: tuple[int, int, FeeRates, list[Winner]],
) -> None:
    losing, forfeit, rates, winners = case
    pool = winners_pool(fees(losing, rates), forfeit, 0).winners
    weights = sum(winner.weight for winner in winners)
    paid = [winner_payout(winner, pool, weights) for winner in winners]

    assert sum(each.profit for each in paid) <= pool
    for winner, each in zip(winners, paid, strict=True):
        assert winner.amount <= each.payout == winner.amount + each.profit - each.penalty


@given(AMOUNTS, AMOUNTS, st.builds(FeeRates, PERCENTS, PERCENTS, PERCENTS, AMOUNTS), st.integers(0, 10000))
def test_claims_within_their_bucket_leave_no_shortfall(losing: int, forfeit: int, rates: FeeRates, cap: int) -> None:
    taken = fees(losing, rates)
    bucket = claims_bucket(losing, taken, forfeit, cap)

    assert 0 <= bucket <= losing
    assert winners_pool(taken, forfeit, bucket).uncovered == 0


@given(AMOUNTS, st.lists(st.integers(1, 10**13), min_size=1, max_size=20))
def test_a_pot_is_given_away_whole(pot: int, stakes: list[int]) -> None:
    paid = 0
    for place, stake in enumerate(stakes):
        paid += pot_share(pot, paid, stake, sum(stakes), is_last=place == len(stakes) - 1)

    assert paid == pot


@given(st.integers(1, 10**13), st.integers(1, 10**13), st.integers(0, 10**13), AMOUNTS)
def test_more_weight_never_wins_less(weight: int, more: int, others: int, pool: int) -> None:
    small = winner_payout(Winner(0, weight, 0), pool, weight + others).payout

    assert small <= winner_payout(Winner(0, weight + more, 0), pool, weight + more + others).payout


def test_what_a_bet_would_bring_if_its_side_won() -> None:
    """The case of spec 11, section 10.3, and one without weight on its side."""
    bet, rates = Winner(400_000, 800_000, 50_000), FeeRates(100, 50, 25, 10_000)
    assert expected_payout(bet, 3_000_000 - 1_000_000, 1_960_784, rates, 777) == 1_158_060
    assert expected_payout(bet, 2_000_000, 0, rates, 777) == bet.amount
