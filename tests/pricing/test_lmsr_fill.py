"""How many tokens an amount buys: the specified answers, those of the plain search, and how little is priced for it."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from ledgerd.pricing import lmsr_fill
from ledgerd.pricing.errors import (
    DepthTooLarge,
    ExpOutOfDomain,
    PricingError,
    QuantityNegative,
    QuantityTooLarge,
    WrongOutcomeCount,
)
from ledgerd.pricing.lmsr import MAX_DEPTH, MAX_QUANTITY, buy_cost, sell_return, weigh
from ledgerd.pricing.lmsr_fill import tokens_for_amount
from tests.pricing import plain_lmsr
from tests.pricing.books import Book, books

MAX_AMOUNT = 2**63 - 1


@st.composite
def bets(draw: st.DrawFn, spread: int, amounts: int = 20) -> tuple[list[int], int, int, int]:
    """A book, an outcome of it, and an amount of up to so many depths."""
    quantities, depth = draw(books(spread=spread, depths=MAX_DEPTH))
    outcome = draw(st.integers(0, len(quantities) - 1))
    amount = draw(st.one_of(st.integers(1, 1000), st.integers(1, max(1, amounts * depth))))
    return quantities, depth, outcome, amount


@pytest.mark.parametrize(
    ("quantities", "depth", "outcome", "amount", "expected"),
    [
        ([1000, 2000, 3000], 5000, 0, 10000, 16039),
        ([0, 0, 0], 8000, 1, 50000, 58778),
        ([50000, 10000], 20000, 0, 30000, 31999),
        ([0, 0], 10000, 0, 1000, 1909),
        ([0, 0], 10000, 0, 100000, 106931),
        ([1000000, 0], 50000, 1, 50000, 499999),
        ([0, 0, 0], 91023, 2, 12345, 32922),
        ([0, 0], 144269, 0, 3000000, 3099999),
        ([0, 0], 144269, 0, 3750000, 3849999),
        ([0, 0], 144269, 0, 5800000, 5899999),
    ],
)
def test_an_amount_buys_what_is_specified(
    quantities: list[int], depth: int, outcome: int, amount: int, expected: int
) -> None:
    assert tokens_for_amount(quantities, depth, outcome, amount) == expected


@pytest.mark.parametrize("amount", [3760000, 4000000, 5000000, 5700000, 8000000, 20000000])
def test_a_trial_outside_of_the_domain_refuses_an_amount_whose_answer_lies_inside(amount: int) -> None:
    with pytest.raises(ExpOutOfDomain):
        tokens_for_amount([0, 0], 144269, 0, amount)


@pytest.mark.parametrize(
    ("quantities", "depth", "fault"),
    [
        ([0], 1, WrongOutcomeCount),
        ([0] * 129, 1, WrongOutcomeCount),
        ([0, 0], MAX_DEPTH + 1, DepthTooLarge),
        ([0, -1], 1, QuantityNegative),
        ([0, MAX_QUANTITY + 1], 1, QuantityTooLarge),
        ([0, 150_000], 1000, ExpOutOfDomain),
    ],
)
def test_a_book_that_cannot_be_priced_is_refused(quantities: list[int], depth: int, fault: type[PricingError]) -> None:
    with pytest.raises(fault):
        tokens_for_amount(quantities, depth, 0, 1)


def test_a_trial_beyond_the_greatest_quantity_is_refused() -> None:
    """The first trial is five times the amount."""
    book = [MAX_QUANTITY - 50] * 2

    for depth in (10**6, 10**15):
        assert tokens_for_amount(book, depth, 0, 10) == plain_lmsr.tokens_for_amount(book, depth, 0, 10)
        with pytest.raises(QuantityTooLarge):
            tokens_for_amount(book, depth, 0, 11)


@pytest.mark.parametrize(
    ("quantities", "outcome", "amount", "tokens"),
    [
        ([0, 0], 0, 26000, 26693),
        ([0, 0], 0, 26001, None),  # the first trial: a spread of 130.005
        ([0, 0], 0, 40000, None),  # of 200
        ([0, 0], 0, 40001, 40694),  # of 200.005, then of 100
        ([0, 100_000, 0], 1, 6000, 6001),  # the book has cost 99,999
        ([0, 100_000, 0], 1, 6001, None),
        ([0, 100_000, 50_000], 1, 20001, None),  # of 200.005 to the one, of 150.005 to the other
        ([0, 100_000, 50_000], 1, 30001, None),
        ([130_000, 0, 0], 1, 1000, 9999),
        ([200_000, 0, 0], 0, 1, None),
        ([200_001, 0, 0], 0, 1, 1),
        ([130_001, 0, 0], 1, 1, None),
        ([250_000, 0, 170_000], 0, 10000, 10001),  # of 300 to the one, of 130 to the other
        ([250_000, 0, 170_000], 0, 10001, None),
        ([0, 250_000], 0, 4999, 49989),
        ([0, 250_000], 0, 5001, None),  # upwards, to where the outcome itself lies 200 below
        ([MAX_QUANTITY, 0], 1, 1000, 9999),
    ],
)
def test_a_spread_is_refused_from_above_130_depths_to_200(
    quantities: list[int], outcome: int, amount: int, tokens: int | None
) -> None:
    bet = quantities, 1000, outcome, amount

    assert outcome_of(tokens_for_amount, *bet) == ("LMSR_OVERFLOW" if tokens is None else tokens)
    assert outcome_of(plain_lmsr.tokens_for_amount, *bet) == ("LMSR_OVERFLOW" if tokens is None else tokens)


@pytest.mark.parametrize(("depth", "outcome", "amount"), [(0, 0, 5), (-1, 0, 5), (9, -1, 5), (9, 2, 5), (9, 0, 0)])
def test_nothing_is_bought_without_depth_outcome_or_amount(depth: int, outcome: int, amount: int) -> None:
    assert tokens_for_amount([0, 0], depth, outcome, amount) == 0
    assert tokens_for_amount([-1, 0], 0, 0, -5) == 0


@pytest.mark.parametrize("count", [2, 8, 128])
@pytest.mark.parametrize("amount", [1, 1000, 10**9, MAX_AMOUNT])
@pytest.mark.parametrize("depth", [1, 20609, MAX_DEPTH])
def test_the_ends_of_all_widths_take_the_plain_search(count: int, amount: int, depth: int) -> None:
    book = [depth * i // count for i in range(count)]

    assert outcome_of(tokens_for_amount, book, depth, 1, amount) == outcome_of(
        plain_lmsr.tokens_for_amount, book, depth, 1, amount
    )


def outcome_of(search: object, *bet: object) -> object:
    """The tokens, or the kind of the refusal."""
    assert callable(search)
    try:
        return search(*bet)
    except plain_lmsr.Refused as refused:
        return str(refused)
    except PricingError as refused:
        return refused.message.split(": ")[1]


@settings(max_examples=400)
@given(bets(spread=60))
@example(([1000, 20000, 3000, 40500, 50000, 61234, 70000, 12345], 50000, 1, 5000))
def test_an_amount_buys_what_the_plain_search_finds(bet: tuple[list[int], int, int, int]) -> None:
    assert outcome_of(tokens_for_amount, *bet) == outcome_of(plain_lmsr.tokens_for_amount, *bet)


@settings(max_examples=400)
@given(bets(spread=300, amounts=400))
def test_what_the_plain_search_refuses_is_refused(bet: tuple[list[int], int, int, int]) -> None:
    assert outcome_of(tokens_for_amount, *bet) == outcome_of(plain_lmsr.tokens_for_amount, *bet)


@given(bets(spread=30, amounts=10))
def test_the_tokens_cost_no_more_than_the_amount_and_one_more_would(bet: tuple[list[int], int, int, int]) -> None:
    quantities, depth, outcome, amount = bet
    tokens = outcome_of(tokens_for_amount, *bet)
    assume(isinstance(tokens, int))
    assert isinstance(tokens, int)

    assert buy_cost(quantities, depth, outcome, tokens) <= amount
    if tokens < 10 * amount - 1:
        assert buy_cost(quantities, depth, outcome, tokens + 1) > amount


@given(bets(spread=20, amounts=10))
def test_a_bet_sold_again_gives_no_more_than_it_cost(bet: tuple[list[int], int, int, int]) -> None:
    quantities, depth, outcome, amount = bet
    tokens = outcome_of(tokens_for_amount, *bet)
    assume(isinstance(tokens, int))
    assert isinstance(tokens, int)
    bought = [quantity + tokens * (i == outcome) for i, quantity in enumerate(quantities)]

    assert sell_return(bought, depth, outcome, tokens) <= amount


@given(bets(spread=20, amounts=5), st.integers(1, 1000))
def test_a_greater_amount_buys_no_less(bet: tuple[list[int], int, int, int], more: int) -> None:
    quantities, depth, outcome, amount = bet
    few = outcome_of(tokens_for_amount, *bet)
    many = outcome_of(tokens_for_amount, quantities, depth, outcome, amount + more)

    assume(isinstance(few, int) and isinstance(many, int))
    assert isinstance(few, int)
    assert isinstance(many, int)
    assert few <= many


@given(books(spread=10, depths=10**9), st.data())
def test_an_ordinary_bet_is_decided_with_next_to_no_book_priced(book: Book, data: st.DataObject) -> None:
    amount = data.draw(st.integers(1000, max(1000, 2 * book.depth)))
    depth = max(book.depth, 1000)
    with patch.object(lmsr_fill, "weigh", wraps=weigh) as priced:
        tokens_for_amount(book.quantities, depth, 0, amount)

    assert priced.call_count <= 3
