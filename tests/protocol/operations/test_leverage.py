"""Leverage: bytes, JSON, rules, authorities."""

from __future__ import annotations

from typing import Any

import pytest

from ledgerd.protocol.assets import shares, tokens
from ledgerd.protocol.operations.base import Operation, active
from ledgerd.protocol.operations.leverage import PmLeverageClose, PmLeverageConvert, PmLeverageOpen
from tests.protocol.operations.expect import (
    accepts,
    asks_for_names,
    changed,
    read,
    refuses,
    refuses_for_the_first_of_two_faults,
    round_trips,
)

LEVERAGE_OPEN_JSON = [
    "pm_leverage_open",
    {
        "account": "bob",
        "market_id": 6,
        "outcome_index": 1,
        "collateral": "10.000 VIZ",
        "loan": "30.000 VIZ",
        "min_tokens": 1,
        "max_slippage_percent": 10,
        "extensions": [],
    },
]
LEVERAGE_OPEN = read(LEVERAGE_OPEN_JSON, PmLeverageOpen)

LEVERAGE_CLOSE_JSON = ["pm_leverage_close", {"account": "bob", "position_id": 4, "min_return": 0, "extensions": []}]
LEVERAGE_CLOSE = read(LEVERAGE_CLOSE_JSON, PmLeverageClose)

LEVERAGE_CONVERT_JSON = [
    "pm_leverage_convert",
    {"account": "bob", "position_id": 4, "conversion_profit_cost": 50, "extensions": []},
]
LEVERAGE_CONVERT = read(LEVERAGE_CONVERT_JSON, PmLeverageConvert)

IN_BYTES: tuple[tuple[Operation, str, list[Any]], ...] = (
    (
        LEVERAGE_OPEN,
        (
            "5b03626f620600000000000000010010270000000000000356495a0000000030750000000000000356495a00000000010000"
            "00000000000a0000"
        ),
        LEVERAGE_OPEN_JSON,
    ),
    (LEVERAGE_CLOSE, "5c03626f620400000000000000000000000000000000", LEVERAGE_CLOSE_JSON),
    (LEVERAGE_CONVERT, "5d03626f620400000000000000320000", LEVERAGE_CONVERT_JSON),
)

SOUND: tuple[Operation, ...] = (
    changed(LEVERAGE_OPEN, market_id=-1),
    changed(LEVERAGE_OPEN, outcome_index=0),
    changed(LEVERAGE_OPEN, max_slippage_percent=100),
    changed(LEVERAGE_OPEN, max_slippage_percent=0),
    changed(LEVERAGE_OPEN, min_tokens=0),
    changed(LEVERAGE_CLOSE, position_id=-1),
    changed(LEVERAGE_CLOSE, min_return=1),
    changed(LEVERAGE_CONVERT, position_id=-1),
    changed(LEVERAGE_CONVERT, conversion_profit_cost=100),
    changed(LEVERAGE_CONVERT, conversion_profit_cost=0),
)

UNSOUND: tuple[tuple[Operation, str], ...] = (
    (
        changed(LEVERAGE_OPEN, outcome_index=-1),
        "outcome_index == 0 || outcome_index == 1: leverage is CPMM-binary only (outcome 0/1)",
    ),
    (
        changed(LEVERAGE_OPEN, outcome_index=2),
        "outcome_index == 0 || outcome_index == 1: leverage is CPMM-binary only (outcome 0/1)",
    ),
    (changed(LEVERAGE_OPEN, collateral=shares(1)), "collateral.symbol == TOKEN_SYMBOL: collateral must be VIZ"),
    (changed(LEVERAGE_OPEN, loan=shares(1)), "loan.symbol == TOKEN_SYMBOL: loan must be VIZ"),
    (changed(LEVERAGE_OPEN, collateral=tokens(0)), "collateral.amount > 0: collateral must be positive"),
    (changed(LEVERAGE_OPEN, loan=tokens(0)), "loan.amount > 0: loan must be positive"),
    (changed(LEVERAGE_OPEN, min_tokens=-1), "min_tokens >= 0: min_tokens cannot be negative"),
    (
        changed(LEVERAGE_OPEN, max_slippage_percent=101),
        "max_slippage_percent <= 100: max_slippage_percent out of range",
    ),
    (changed(LEVERAGE_CLOSE, min_return=-1), "min_return >= 0: min_return cannot be negative"),
    (
        changed(LEVERAGE_CONVERT, conversion_profit_cost=101),
        "conversion_profit_cost <= 100: conversion_profit_cost out of range",
    ),
)


@pytest.mark.parametrize(("operation", "raw", "printed"), IN_BYTES, ids=[case[2][0] for case in IN_BYTES])
def test_bytes_and_json_of_an_operation(operation: Operation, raw: str, printed: list[Any]) -> None:
    round_trips(operation, raw, printed)


@pytest.mark.parametrize("operation", [*(case[0] for case in IN_BYTES), *SOUND], ids=repr)
def test_what_is_within_its_bounds_is_accepted(operation: Operation) -> None:
    accepts(operation)


@pytest.mark.parametrize(("operation", "message"), UNSOUND)
def test_what_is_out_of_its_bounds_is_refused(operation: Operation, message: str) -> None:
    refuses(operation, message)


def test_of_two_faults_the_first_is_told() -> None:
    tried = [refuses_for_the_first_of_two_faults(operation, UNSOUND) for operation, _, _ in IN_BYTES]

    assert sum(tried) > 20


def test_names_have_to_be_valid() -> None:
    asks_for_names(LEVERAGE_OPEN, "account")
    asks_for_names(LEVERAGE_CLOSE, "account")
    asks_for_names(LEVERAGE_CONVERT, "account")


def test_those_who_act_must_agree() -> None:
    assert LEVERAGE_OPEN.authorities() == active(LEVERAGE_OPEN.account)
    assert LEVERAGE_CLOSE.authorities() == active(LEVERAGE_CLOSE.account)
    assert LEVERAGE_CONVERT.authorities() == active(LEVERAGE_CONVERT.account)
