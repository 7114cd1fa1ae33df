"""The lazy pool: bytes, JSON, rules, authorities."""

from __future__ import annotations

from typing import Any

import pytest

from ledgerd.protocol.assets import shares, tokens
from ledgerd.protocol.operations.base import Operation, active
from ledgerd.protocol.operations.lazy_pool import PmLazyDeposit, PmLazyWithdraw
from tests.protocol.operations.expect import accepts, asks_for_names, changed, read, refuses, round_trips

LAZY_DEPOSIT_JSON = ["pm_lazy_deposit", {"account": "carol", "amount": "1000.000 VIZ", "extensions": []}]
LAZY_DEPOSIT = read(LAZY_DEPOSIT_JSON, PmLazyDeposit)

LAZY_WITHDRAW_JSON = ["pm_lazy_withdraw", {"account": "carol", "shares": 0, "emergency": True, "extensions": []}]
LAZY_WITHDRAW = read(LAZY_WITHDRAW_JSON, PmLazyWithdraw)

IN_BYTES: tuple[tuple[Operation, str, list[Any]], ...] = (
    (LAZY_DEPOSIT, "52056361726f6c40420f00000000000356495a0000000000", LAZY_DEPOSIT_JSON),
    (LAZY_WITHDRAW, "53056361726f6c00000000000000000100", LAZY_WITHDRAW_JSON),
)

SOUND: tuple[Operation, ...] = (
    changed(LAZY_DEPOSIT, amount=tokens(1)),
    changed(LAZY_WITHDRAW, shares=1, emergency=False),
)

UNSOUND: tuple[tuple[Operation, str], ...] = (
    (changed(LAZY_DEPOSIT, amount=shares(1)), "pm_is_token(amount): amount must be VIZ (TOKEN_SYMBOL)"),
    (changed(LAZY_DEPOSIT, amount=tokens(0)), "amount.amount > 0: deposit amount must be positive"),
    (changed(LAZY_DEPOSIT, amount=tokens(-1)), "amount.amount > 0: deposit amount must be positive"),
    (changed(LAZY_WITHDRAW, shares=-1), "shares >= 0: shares cannot be negative (0 = all)"),
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


def test_names_have_to_be_valid() -> None:
    asks_for_names(LAZY_DEPOSIT, "account")
    asks_for_names(LAZY_WITHDRAW, "account")


def test_those_who_act_must_agree() -> None:
    assert LAZY_DEPOSIT.authorities() == active(LAZY_DEPOSIT.account)
    assert LAZY_WITHDRAW.authorities() == active(LAZY_WITHDRAW.account)
