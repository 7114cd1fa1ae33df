"""The reference's normative vectors of market prices: every number, to the last bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledgerd.pricing import fixed_point, lmsr
from ledgerd.pricing.lmsr_fill import tokens_for_amount

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "vectors/hf14/lmsr_fixed_vectors.json").read_text(encoding="utf-8")
)
COUNTS = {
    "mul_q": 5,
    "div_q": 5,
    "exp_q": 11,
    "ln_q": 8,
    "lmsr_cost": 10,
    "lmsr_prices": 10,
    "lmsr_buy_cost": 6,
    "lmsr_sell_return": 3,
    "lmsr_tokens_for_amount": 6,
    "lmsr_b_from_liquidity": 7,
}


def computed(family: str, each: dict[str, Any]) -> object:
    match family:
        case "mul_q":
            return fixed_point.mul_q(int(each["a"]), int(each["b"]))
        case "div_q":
            return fixed_point.div_q(int(each["a"]), int(each["b"]))
        case "exp_q":
            return fixed_point.exp_q(int(each["x"]))
        case "ln_q":
            return fixed_point.ln_q(int(each["x"]))
        case "lmsr_cost":
            return lmsr.cost(each["q"], each["b"])
        case "lmsr_prices":
            return list(lmsr.prices(each["q"], each["b"]))
        case "lmsr_buy_cost":
            return lmsr.buy_cost(each["q"], each["b"], each["i"], each["delta"])
        case "lmsr_sell_return":
            return lmsr.sell_return(each["q"], each["b"], each["i"], each["delta"])
        case "lmsr_tokens_for_amount":
            return tokens_for_amount(each["q"], each["b"], each["i"], each["amount"])
        case _:
            return lmsr.depth_of_liquidity(each["liquidity"], each["n"])


def test_every_vector_is_known() -> None:
    assert {name: len(cases) for name, cases in VECTORS.items() if isinstance(cases, list)} == COUNTS


def test_the_constants_are_the_recorded_ones() -> None:
    assert {name: int(value) for name, value in VECTORS["constants"].items()} == {
        "ONE": fixed_point.ONE,
        "HALF": fixed_point.ONE // 2,
        "LN2": fixed_point.LN2,
        "EXP_DOMAIN_LIMIT": lmsr.CUT_OFF,
        "MAX_B": lmsr.MAX_DEPTH,
        "MAX_Q": lmsr.MAX_QUANTITY,
    }


@pytest.mark.parametrize(
    ("family", "each"),
    [pytest.param(family, case, id=f"{family}-{n}") for family in COUNTS for n, case in enumerate(VECTORS[family])],
)
def test_a_recorded_number_is_equal(family: str, each: dict[str, Any]) -> None:
    expected = each["expected"]

    assert computed(family, each) == (int(expected) if isinstance(expected, str) else expected)
