"""Providers of liquidity: specified shares and charges, and that they add up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.pricing.liquidity import Provided, bonus_shares, charges, depth_added, depth_removed

AMOUNTS = st.integers(1, 10**13)
PROVIDED = st.lists(st.builds(Provided, AMOUNTS, st.integers(-10, 10**8)), min_size=1, max_size=20)


@pytest.mark.parametrize(
    ("provided", "bonus", "expected"),
    [
        ([(1000, 36000), (1000, 0)], 600, [599, 1]),
        ([(100000, 86400), (50000, 3599), (70001, -5)], 12345, [12087, 251, 7]),
        ([(300, 0), (100, 0)], 400, [300, 100]),
        ([(300, 0), (100, 0)], 0, [0, 0]),
        ([(300, 0), (100, 0)], -1, [0, 0]),
        ([(0, 0), (0, 60)], 400, [0, 0]),
        ([(5, 0)], 400, [400]),
        ([], 400, []),
    ],
)
def test_a_bonus_is_shared_as_specified(provided: list[tuple[int, int]], bonus: int, expected: list[int]) -> None:
    assert bonus_shares([Provided(*each) for each in provided], bonus) == expected


@pytest.mark.parametrize(
    ("amounts", "uncovered", "expected"),
    [
        ([100, 3, 50], 101, [67, 1, 33]),
        ([1, 1, 1], 2, [1, 1, 0]),
        ([5, 5], 99, [5, 5]),
        ([5, 5], 0, [0, 0]),
        ([0, 0], 9, [0, 0]),
        ([], 9, []),
    ],
)
def test_a_shortfall_is_charged_as_specified(amounts: list[int], uncovered: int, expected: list[int]) -> None:
    assert charges(amounts, uncovered) == expected


def test_shares_in_the_depth_come_and_go_as_specified() -> None:
    added = depth_added(91023, 50000, 100000)

    assert added == 45511
    assert depth_removed(added, 20000, 50000) == 18204
    assert depth_removed(added - 18204, 30000, 30000) == 27307
    assert depth_added(91023, 50000, 0) == 0
    assert depth_removed(0, 5, 10) == depth_removed(5, 0, 0) == 0


@given(PROVIDED, st.integers(1, 10**13))
def test_a_bonus_is_shared_whole(provided: list[Provided], bonus: int) -> None:
    shares = bonus_shares(provided, bonus)

    assert sum(shares) == bonus
    assert min(shares) >= 0


@given(AMOUNTS, st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 10**13))
def test_who_stood_longer_gets_no_less(amount: int, seconds: int, more: int, bonus: int) -> None:
    longer, shorter, _ = bonus_shares(
        [Provided(amount, seconds + more), Provided(amount, seconds), Provided(amount, 0)], bonus
    )

    assert longer >= shorter


@given(st.lists(AMOUNTS, min_size=1, max_size=20), st.integers(1, 10**14))
def test_a_shortfall_is_charged_whole_as_far_as_amounts_go(amounts: list[int], uncovered: int) -> None:
    charged = charges(amounts, uncovered)

    assert sum(charged) == min(uncovered, sum(amounts))
    assert all(0 <= each <= amount for each, amount in zip(charged, amounts, strict=True))


@given(AMOUNTS, AMOUNTS, AMOUNTS)
def test_parts_of_a_share_never_exceed_it(share: int, first: int, second: int) -> None:
    amount = first + second
    taken = depth_removed(share, first, amount)

    assert 0 <= taken <= share
    assert taken + depth_removed(share - taken, second, second) == share
