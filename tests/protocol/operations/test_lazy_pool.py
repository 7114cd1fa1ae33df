"""The lazy pool: bytes, JSON, rules, authorities."""

from __future__ import annotations

from typing import Any

from ledgerd.protocol.operations.base import Operation, active
from ledgerd.protocol.operations.markets.liquidity import PmLazyDeposit, PmLazyWithdraw
from ledgerd.protocol.types.assets import shares, tokens
from tests.protocol.operations.expect import changed, read
from tests.protocol.operations.family import Family, OperationFamily

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


class TestLazyPool(OperationFamily):
    family = Family(
        in_bytes=IN_BYTES,
        sound=SOUND,
        unsound=UNSOUND,
        names=(
            (LAZY_DEPOSIT, ("account",)),
            (LAZY_WITHDRAW, ("account",)),
        ),
        authorities=(
            (LAZY_DEPOSIT, active(LAZY_DEPOSIT.account)),
            (LAZY_WITHDRAW, active(LAZY_WITHDRAW.account)),
        ),
        pairs=0,
    )
