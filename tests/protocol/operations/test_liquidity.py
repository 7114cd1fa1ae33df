"""Liquidity: bytes, JSON, rules, authorities."""

from __future__ import annotations

from typing import Any

import pytest

from ledgerd.protocol.assets import shares, tokens
from ledgerd.protocol.operations.base import Operation, active
from ledgerd.protocol.operations.liquidity import PmAddLiquidity, PmWithdrawLiquidity
from tests.protocol.operations.expect import (
    accepts,
    asks_for_names,
    changed,
    read,
    refuses,
    refuses_for_the_first_of_two_faults,
    round_trips,
)

ADD_LIQUIDITY_JSON = [
    "pm_add_liquidity",
    {"provider": "carol", "market_id": 5, "amount": "50.000 VIZ", "extensions": []},
]
ADD_LIQUIDITY = read(ADD_LIQUIDITY_JSON, PmAddLiquidity)

WITHDRAW_LIQUIDITY_JSON = [
    "pm_withdraw_liquidity",
    {"provider": "carol", "liquidity_id": 3, "amount": "0.000 VIZ", "extensions": []},
]
WITHDRAW_LIQUIDITY = read(WITHDRAW_LIQUIDITY_JSON, PmWithdrawLiquidity)

IN_BYTES: tuple[tuple[Operation, str, list[Any]], ...] = (
    (ADD_LIQUIDITY, "4a056361726f6c050000000000000050c30000000000000356495a0000000000", ADD_LIQUIDITY_JSON),
    (WITHDRAW_LIQUIDITY, "4b056361726f6c030000000000000000000000000000000356495a0000000000", WITHDRAW_LIQUIDITY_JSON),
)

SOUND: tuple[Operation, ...] = (
    changed(ADD_LIQUIDITY, amount=tokens(1)),
    changed(ADD_LIQUIDITY, market_id=0),
    changed(WITHDRAW_LIQUIDITY, amount=tokens(1)),
    changed(WITHDRAW_LIQUIDITY, liquidity_id=0),
)

UNSOUND: tuple[tuple[Operation, str], ...] = (
    (changed(ADD_LIQUIDITY, market_id=-1), "market_id >= 0: market_id must be non-negative"),
    (changed(ADD_LIQUIDITY, amount=shares(1)), "pm_is_token(amount): amount must be VIZ (TOKEN_SYMBOL)"),
    (changed(ADD_LIQUIDITY, amount=tokens(0)), "amount.amount > 0: liquidity amount must be positive"),
    (changed(ADD_LIQUIDITY, amount=tokens(-1)), "amount.amount > 0: liquidity amount must be positive"),
    (changed(WITHDRAW_LIQUIDITY, liquidity_id=-1), "liquidity_id >= 0: liquidity_id must be non-negative"),
    (changed(WITHDRAW_LIQUIDITY, amount=shares(1)), "pm_is_token(amount): amount must be VIZ (TOKEN_SYMBOL)"),
    (
        changed(WITHDRAW_LIQUIDITY, amount=tokens(-1)),
        "amount.amount >= 0: amount cannot be negative (0 = full position)",
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

    assert sum(tried) == 5


def test_names_have_to_be_valid() -> None:
    asks_for_names(ADD_LIQUIDITY, "provider")
    asks_for_names(WITHDRAW_LIQUIDITY, "provider")


def test_those_who_act_must_agree() -> None:
    assert ADD_LIQUIDITY.authorities() == active(ADD_LIQUIDITY.provider)
    assert WITHDRAW_LIQUIDITY.authorities() == active(WITHDRAW_LIQUIDITY.provider)
