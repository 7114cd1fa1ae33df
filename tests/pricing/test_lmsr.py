"""Books of outcomes: specified costs and prices, what must hold of any book, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.pricing.errors import (
    DepthTooLarge,
    ExpOutOfDomain,
    PricingError,
    QuantityNegative,
    QuantityTooLarge,
    TooManyOutcomes,
    WrongOutcomeCount,
)
from ledgerd.pricing.lmsr import (
    MAX_DEPTH,
    MAX_QUANTITY,
    PRICE_SCALE,
    buy_cost,
    cost,
    depth_of_liquidity,
    price,
    prices,
    sell_return,
)
from tests.pricing import plain_lmsr
from tests.pricing.books import Book, books


@pytest.mark.parametrize(
    ("quantities", "depth", "expected", "each"),
    [
        ([0, 0], 100000, 69314, [500000] * 2),
        ([0, 0, 0], 100000, 109861, [333333] * 3),
        ([10000, 0, 0], 100000, 113306, [355913, 322043, 322043]),
        ([1000, 2000, 3000], 5000, 7559, [269307, 328932, 401759]),
        ([50000, 10000], 20000, 52538, [880797, 119202]),
        ([5000] * 4, 200000, 282258, [250000] * 4),
        (list(range(1, 11)), 100000, 230264, list(range(99995, 100005))),
        ([0] * 16, 100000, 277258, [62500] * 16),
        ([1000000, 0], 50000, 1000000, [999999, 0]),
        ([2500, 2500], 5000, 5965, [500000] * 2),
        ([7, 0, 123456789], 1000000, 123456788, [0, 0, 1000000]),
    ],
)
def test_a_book_costs_what_is_specified(quantities: list[int], depth: int, expected: int, each: list[int]) -> None:
    assert cost(quantities, depth) == expected
    assert list(prices(quantities, depth)) == each
    assert [price(quantities, depth, i) for i in range(len(quantities))] == each


@pytest.mark.parametrize(
    ("quantities", "depth", "outcome", "tokens", "expected"),
    [
        ([1000, 2000, 3000], 5000, 0, 1000, 290),
        ([1000, 2000, 3000], 5000, 1, 1000, 351),
        ([0, 0, 0], 8000, 0, 5000, 2034),
        ([0, 0, 0], 8000, 2, 50000, 41242),
        ([50000, 10000], 20000, 0, 1000, 883),
        ([50000, 10000], 20000, 1, 100000, 58433),
        ([0, 0], 144269, 0, 18754970, 18654971),
    ],
)
def test_tokens_cost_what_is_specified(
    quantities: list[int], depth: int, outcome: int, tokens: int, expected: int
) -> None:
    assert buy_cost(quantities, depth, outcome, tokens) == expected


@pytest.mark.parametrize(
    ("quantities", "depth", "outcome", "tokens", "expected"),
    [
        ([10000, 5000, 2000], 8000, 0, 1000, 510),
        ([10000, 5000, 2000], 8000, 1, 2500, 628),
        ([50000, 10000], 20000, 0, 25000, 19801),
        ([12345, 0, 0], 91023, 0, 12345, 4304),
        ([12345, 0, 0], 91023, 0, 12346, 0),
    ],
)
def test_tokens_give_back_what_is_specified(
    quantities: list[int], depth: int, outcome: int, tokens: int, expected: int
) -> None:
    assert sell_return(quantities, depth, outcome, tokens) == expected


@pytest.mark.parametrize(
    ("liquidity", "outcomes", "expected"),
    [
        (100000, 2, 144269),
        (100000, 3, 91023),
        (100000, 4, 72134),
        (100000, 10, 43429),
        (100000, 16, 36067),
        (100000, 128, 20609),
        (1000000, 5, 621334),
        (1234567, 7, 634441),
        (1, 2, 1),
        (5000000, 64, 1202245),
        (0, 2, 0),
        (-1, 200, 0),
        (100000, 1, 0),
    ],
)
def test_the_depth_of_liquidity_is_the_specified_one(liquidity: int, outcomes: int, expected: int) -> None:
    assert depth_of_liquidity(liquidity, outcomes) == expected


def test_liquidity_among_129_outcomes_is_refused() -> None:
    with pytest.raises(TooManyOutcomes, match=r"^n <= 128: LMSR_INVALID_N$"):
        depth_of_liquidity(100000, 129)


@pytest.mark.parametrize(
    ("quantities", "depth", "fault"),
    [
        ([0], 1, WrongOutcomeCount),
        ([0] * 129, 1, WrongOutcomeCount),
        ([0, 0], MAX_DEPTH + 1, DepthTooLarge),
        ([-1, MAX_QUANTITY + 1], 1, QuantityNegative),
        ([MAX_QUANTITY + 1, -1], 1, QuantityTooLarge),
    ],
)
def test_a_book_outside_of_its_bounds_is_refused(quantities: list[int], depth: int, fault: type[PricingError]) -> None:
    for refused in (cost, prices):
        with pytest.raises(fault):
            refused(quantities, depth)
    with pytest.raises(fault):
        price(quantities, depth, 0)


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (WrongOutcomeCount, "q.size() >= 2 && q.size() <= 128: LMSR_INVALID_N: outcomes must be 2..128"),
        (DepthTooLarge, "q96(b) <= MAX_B: LMSR_INVALID_B: b exceeds MAX_B (2^53)"),
        (QuantityNegative, "qi >= 0: LMSR_INVALID_Q: q[i] < 0"),
        (QuantityTooLarge, "q96(qi) <= MAX_Q: LMSR_INVALID_Q: q[i] exceeds MAX_Q (2^53)"),
        (ExpOutOfDomain, "abs_x <= q96(130) * ONE: LMSR_OVERFLOW: exp_q domain exceeded"),
    ],
)
def test_a_fault_has_the_text_of_the_reference(fault: type[PricingError], text: str) -> None:
    assert str(fault()) == fault().message == text


def test_a_book_without_depth_costs_nothing_and_has_no_prices() -> None:
    for depth in (0, -5):
        assert cost([5, -5], depth) == 0
        assert prices([5, -5], depth) == (0, 0)
        assert price([5, -5], depth, 9) == 0
        assert buy_cost([5, 0], depth, 0, 1) == 0
        assert sell_return([5, 0], depth, 0, 1) == 0


def test_an_outcome_that_is_not_there_costs_nothing() -> None:
    for outcome in (-1, 2):
        assert buy_cost([5, 5], 10, outcome, 1) == 0
        assert sell_return([5, 5], 10, outcome, 1) == 0
        assert price([5, 5], 10, outcome) == 0


def test_no_tokens_cost_nothing() -> None:
    for tokens in (0, -1):
        assert buy_cost([5, 5], 10, 0, tokens) == 0
        assert sell_return([5, 5], 10, 0, tokens) == 0


@pytest.mark.parametrize("count", [2, 8, 128])
def test_the_ends_of_all_widths_are_priced(count: int) -> None:
    assert cost([MAX_QUANTITY] * count, MAX_DEPTH) == plain_lmsr.cost([MAX_QUANTITY] * count, MAX_DEPTH)
    assert cost([0] * count, 1) == plain_lmsr.cost([0] * count, 1)
    assert cost([MAX_QUANTITY, *[0] * (count - 1)], 1) == MAX_QUANTITY
    assert sum(prices([0] * count, MAX_DEPTH)) <= PRICE_SCALE


def test_a_spread_between_130_and_200_depths_is_refused_and_beyond_it_is_cut_off() -> None:
    assert cost([130_000, 0], 1000) == 130_000
    for spread in (130_001, 199_999, 200_000):
        with pytest.raises(ExpOutOfDomain):
            cost([spread, 0], 1000)
        with pytest.raises(ExpOutOfDomain):
            prices([0, spread], 1000)
    assert cost([200_001, 0], 1000) == 200_000
    assert prices([200_001, 0], 1000) == (PRICE_SCALE, 0)
    with pytest.raises(ExpOutOfDomain):
        buy_cost([0, 0], 144269, 0, 18754971)


@given(books(spread=130))
def test_a_book_takes_the_plain_steps(book: Book) -> None:
    assert cost(*book) == plain_lmsr.cost(*book)


@given(books())
def test_prices_add_up_to_a_million_but_for_one_lost_by_each_outcome(book: Book) -> None:
    total = sum(prices(*book))

    assert PRICE_SCALE - len(book.quantities) <= total <= PRICE_SCALE


@given(books(spread=50), st.data())
def test_selling_what_was_bought_gives_back_what_it_cost(book: Book, data: st.DataObject) -> None:
    outcome = data.draw(st.integers(0, len(book.quantities) - 1))
    tokens = data.draw(st.integers(1, 10 * book.depth))
    bought = list(book.quantities)
    bought[outcome] += tokens

    assert sell_return(bought, book.depth, outcome, tokens) == buy_cost(*book, outcome, tokens)


@given(books(spread=10), st.data())
def test_more_tokens_cost_no_less_and_never_more_than_they_can_win(book: Book, data: st.DataObject) -> None:
    outcome = data.draw(st.integers(0, len(book.quantities) - 1))
    few = data.draw(st.integers(1, 10 * book.depth))
    many = few + data.draw(st.integers(1, 10 * book.depth))

    assert 0 <= buy_cost(*book, outcome, few) <= buy_cost(*book, outcome, many) <= many + 1


@given(books(spread=10), st.data())
def test_buying_an_outcome_raises_its_price_and_lowers_the_others(book: Book, data: st.DataObject) -> None:
    outcome = data.draw(st.integers(0, len(book.quantities) - 1))
    bought = list(book.quantities)
    bought[outcome] += data.draw(st.integers(1, 10 * book.depth))

    for other, (before, after) in enumerate(zip(prices(*book), prices(bought, book.depth), strict=True)):
        assert before <= after if other == outcome else before >= after


@given(books(spread=20), st.data())
def test_all_outcomes_together_cost_what_they_win(book: Book, data: st.DataObject) -> None:
    tokens = data.draw(st.integers(1, 10 * book.depth))
    after = [quantity + tokens for quantity in book.quantities]

    assert abs(cost(after, book.depth) - cost(*book) - tokens) <= 1


@given(st.integers(1, 2**50), st.integers(2, 128))
def test_a_maker_loses_no_more_than_the_liquidity(liquidity: int, outcomes: int) -> None:
    assert cost([0] * outcomes, depth_of_liquidity(liquidity, outcomes)) <= liquidity
