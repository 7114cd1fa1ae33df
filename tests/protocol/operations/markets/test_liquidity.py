"""Liquidity: bytes, JSON, rules, authorities."""

from __future__ import annotations

from typing import Any

from ledgerd.protocol.operations.base import Operation, active
from ledgerd.protocol.operations.markets.liquidity import PmAddLiquidity, PmWithdrawLiquidity
from ledgerd.protocol.types.assets import shares, tokens
from tests.protocol.operations.expect import changed, read
from tests.protocol.operations.family import Family, OperationFamily

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


class TestLiquidity(OperationFamily):
    family = Family(
        in_bytes=IN_BYTES,
        sound=SOUND,
        unsound=UNSOUND,
        names=(
            (ADD_LIQUIDITY, ("provider",)),
            (WITHDRAW_LIQUIDITY, ("provider",)),
        ),
        authorities=(
            (ADD_LIQUIDITY, active(ADD_LIQUIDITY.provider)),
            (WITHDRAW_LIQUIDITY, active(WITHDRAW_LIQUIDITY.provider)),
        ),
        pairs=5,
    )
