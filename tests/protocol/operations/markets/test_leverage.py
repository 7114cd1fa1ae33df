"""Leverage: bytes, JSON, rules, authorities."""

from __future__ import annotations

from typing import Any

from ledgerd.protocol.operations.base import Operation, active
from ledgerd.protocol.operations.markets.leverage import PmLeverageClose, PmLeverageConvert, PmLeverageOpen
from ledgerd.protocol.types.assets import shares, tokens
from tests.protocol.operations.expect import changed, read
from tests.protocol.operations.family import Family, OperationFamily

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
    changed(LEVERAGE_OPEN, collateral=tokens(1), loan=tokens(1)),
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


class TestLeverage(OperationFamily):
    family = Family(
        in_bytes=IN_BYTES,
        sound=SOUND,
        unsound=UNSOUND,
        names=(
            (LEVERAGE_OPEN, ("account",)),
            (LEVERAGE_CLOSE, ("account",)),
            (LEVERAGE_CONVERT, ("account",)),
        ),
        authorities=(
            (LEVERAGE_OPEN, active(LEVERAGE_OPEN.account)),
            (LEVERAGE_CLOSE, active(LEVERAGE_CLOSE.account)),
            (LEVERAGE_CONVERT, active(LEVERAGE_CONVERT.account)),
        ),
        pairs=25,
    )
