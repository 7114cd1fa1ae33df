from __future__ import annotations

import pytest

from ledgerd.chain.ledger.arithmetic import DivideByZero
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.curve import priced, reserves_of, time_penalty_of
from ledgerd.pricing.constant_product import instant_fill
from ledgerd.pricing.lmsr import depth_of_liquidity
from ledgerd.pricing.widths import mul_div
from ledgerd.protocol.errors import RuleViolation
from tests.chain.ledgers import NOW, set_median
from tests.chain.market_scenes import create_market


def test_a_price_comes_through_as_it_is() -> None:
    assert priced(instant_fill, 50_000, 50_001, 2_500_050_000, 10_000, side=0) == (8_334, 60_000, 41_667)


def test_what_has_no_price_is_a_broken_rule() -> None:
    with pytest.raises(RuleViolation) as refusal:
        priced(depth_of_liquidity, 1, 129)

    assert (refusal.value.code, refusal.value.message) == (10, "n <= 128: LMSR_INVALID_N")


def test_a_division_by_zero_has_a_code_of_its_own() -> None:
    with pytest.raises(DivideByZero) as refusal:
        priced(mul_div, 1, 1, 0)

    assert (refusal.value.code, refusal.value.message) == (21, "")


def test_a_market_has_its_reserves_and_its_product(markets: Ledger) -> None:
    assert reserves_of(create_market(markets, k=9)) == (50_000, 50_001, 9)


@pytest.mark.parametrize(
    ("fields", "most", "expected"),
    [
        ({"time_penalty_value": 2_000}, 1_000_000, 500_000),
        ({"time_penalty_value": 2_000}, 0, 0),
        ({"time_penalty_value": 0}, 1_000_000, 0),
        ({"time_penalty_value": 2_000, "betting_expiration": 0}, 1_000_000, 0),
        ({"time_penalty_value": 2_000, "penalty_curve_type": 1}, 1_000_000, 250_000),
        ({"time_penalty_value": 100, "time_penalty_type": 7}, 1_000_000, 500_000),
    ],
)
def test_the_terms_of_a_penalty_are_the_markets_and_its_top_the_medians(
    markets: Ledger, fields: dict[str, int], most: int, expected: int
) -> None:
    """Betting takes 2,000 seconds, of which half are over."""
    set_median(markets, pm_max_time_penalty=most)

    assert time_penalty_of(markets, create_market(markets, **fields), NOW) == expected
