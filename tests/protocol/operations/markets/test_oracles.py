"""Oracles: bytes, JSON, rules, authorities."""

from __future__ import annotations

from typing import Any

from ledgerd.codec import codec_of
from ledgerd.protocol.operations.base import Operation, active
from ledgerd.protocol.operations.markets.oracles import PmOracleAcceptMarket, PmOracleRegister, PmOracleUpdate
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.protocol.operations.expect import accepts, changed, read, refuses
from tests.protocol.operations.family import Family, OperationFamily

ORACLE_REGISTER_JSON = [
    "pm_oracle_register",
    {
        "owner": "orac",
        "insurance": "5000.000 VIZ",
        "fee_percent": 200,
        "fixed_fee": "1.000 VIZ",
        "rules_url": "https://o.x",
        "auto_accept_creator": "",
        "auto_accept_resolver": "judge",
        "auto_accept": True,
        "extensions": [],
    },
]
ORACLE_REGISTER = read(ORACLE_REGISTER_JSON, PmOracleRegister)

ORACLE_UPDATE_JSON = [
    "pm_oracle_update",
    {
        "owner": "orac",
        "insurance_delta": "-2.000 VIZ",
        "fee_percent": 300,
        "auto_accept_resolver": "",
        "auto_accept": False,
        "extensions": [],
    },
]
ORACLE_UPDATE = read(ORACLE_UPDATE_JSON, PmOracleUpdate)

ORACLE_ACCEPT_MARKET_JSON = [
    "pm_oracle_accept_market",
    {
        "oracle": "orac",
        "market_id": 5,
        "accept": True,
        "oracle_fee_percent": 150,
        "oracle_fixed_fee": "0.500 VIZ",
        "extensions": [],
    },
]
ORACLE_ACCEPT_MARKET = read(ORACLE_ACCEPT_MARKET_JSON, PmOracleAcceptMarket)

IN_BYTES: tuple[tuple[Operation, str, list[Any]], ...] = (
    (
        ORACLE_REGISTER,
        (
            "42046f726163404b4c00000000000356495a00000000c800e8030000000000000356495a000000000b68747470733a2f2f6f"
            "2e7800056a756467650100"
        ),
        ORACLE_REGISTER_JSON,
    ),
    (ORACLE_UPDATE, "43046f7261630130f8ffffffffffff0356495a00000000012c010000000100010000", ORACLE_UPDATE_JSON),
    (
        ORACLE_ACCEPT_MARKET,
        "45046f7261630500000000000000019600f4010000000000000356495a0000000000",
        ORACLE_ACCEPT_MARKET_JSON,
    ),
)

SOUND: tuple[Operation, ...] = (
    changed(ORACLE_REGISTER, insurance=tokens(1)),
    changed(ORACLE_REGISTER, fixed_fee=tokens(0)),
    changed(ORACLE_REGISTER, fee_percent=10_000),
    changed(ORACLE_REGISTER, rules_url=""),
    changed(ORACLE_REGISTER, rules_url="x" * 256),
    changed(ORACLE_REGISTER, auto_accept_resolver=AccountName("!!")),
    changed(ORACLE_UPDATE, insurance_delta=tokens(0), fee_percent=None),
    changed(ORACLE_UPDATE, insurance_delta=None, fee_percent=None, fixed_fee=tokens(0)),
    changed(ORACLE_UPDATE, insurance_delta=None, fee_percent=None, rules_url=""),
    changed(ORACLE_UPDATE, auto_accept_creator=AccountName("!!")),
    changed(ORACLE_UPDATE, fee_percent=10_000),
    changed(ORACLE_ACCEPT_MARKET, accept=False),
    changed(ORACLE_ACCEPT_MARKET, oracle_fee_percent=10_000),
    changed(ORACLE_ACCEPT_MARKET, oracle_fixed_fee=tokens(0)),
)

UNSOUND: tuple[tuple[Operation, str], ...] = (
    (changed(ORACLE_REGISTER, insurance=shares(1)), "pm_is_token(insurance): insurance must be VIZ (TOKEN_SYMBOL)"),
    (changed(ORACLE_REGISTER, insurance=tokens(0)), "insurance.amount > 0: insurance must be positive"),
    (changed(ORACLE_REGISTER, insurance=tokens(-1)), "insurance.amount > 0: insurance must be positive"),
    (changed(ORACLE_REGISTER, fixed_fee=shares(1)), "pm_is_token(fixed_fee): fixed_fee must be VIZ (TOKEN_SYMBOL)"),
    (changed(ORACLE_REGISTER, fixed_fee=tokens(-1)), "fixed_fee.amount >= 0: fixed_fee cannot be negative"),
    (changed(ORACLE_REGISTER, fee_percent=10_001), "fee_percent <= 10000: fee_percent out of range (bp, max 10000)"),
    (changed(ORACLE_REGISTER, rules_url="x" * 257), "s.size() <= cap: rules_url exceeds byte cap 256"),
    (changed(ORACLE_REGISTER, rules_url="\udcff"), "fc::is_utf8(s): rules_url not formatted in UTF8"),
    (changed(ORACLE_UPDATE, insurance_delta=shares(1)), "pm_is_token(*insurance_delta): insurance_delta must be VIZ"),
    (changed(ORACLE_UPDATE, fixed_fee=shares(1)), "pm_is_token(*fixed_fee): fixed_fee must be VIZ"),
    (changed(ORACLE_UPDATE, fixed_fee=tokens(-1)), "fixed_fee->amount >= 0: fixed_fee cannot be negative"),
    (changed(ORACLE_UPDATE, fee_percent=10_001), "*fee_percent <= 10000: fee_percent out of range (bp, max 10000)"),
    (changed(ORACLE_UPDATE, rules_url="x" * 257), "s.size() <= cap: rules_url exceeds byte cap 256"),
    (changed(ORACLE_UPDATE, rules_url="\udcff"), "fc::is_utf8(s): rules_url not formatted in UTF8"),
    (changed(ORACLE_ACCEPT_MARKET, market_id=-1), "market_id >= 0: market_id must be non-negative"),
    (
        changed(ORACLE_ACCEPT_MARKET, oracle_fee_percent=10_001),
        "oracle_fee_percent <= 10000: oracle_fee_percent out of range (bp, max 10000)",
    ),
    (
        changed(ORACLE_ACCEPT_MARKET, oracle_fixed_fee=shares(1)),
        "pm_is_token(oracle_fixed_fee): oracle_fixed_fee must be VIZ (TOKEN_SYMBOL)",
    ),
    (
        changed(ORACLE_ACCEPT_MARKET, oracle_fixed_fee=tokens(-1)),
        "oracle_fixed_fee.amount >= 0: oracle_fixed_fee cannot be negative",
    ),
)


class TestOracles(OperationFamily):
    family = Family(
        in_bytes=IN_BYTES,
        sound=SOUND,
        unsound=UNSOUND,
        names=(
            (ORACLE_REGISTER, ("owner",)),
            (ORACLE_UPDATE, ("owner",)),
            (ORACLE_ACCEPT_MARKET, ("oracle",)),
        ),
        authorities=(
            (ORACLE_REGISTER, active(ORACLE_REGISTER.owner)),
            (ORACLE_UPDATE, active(ORACLE_UPDATE.owner)),
            (ORACLE_ACCEPT_MARKET, active(ORACLE_ACCEPT_MARKET.oracle)),
        ),
        pairs=41,
    )


def test_a_change_of_whom_an_oracle_accepts_alone_is_none() -> None:
    nothing = changed(ORACLE_UPDATE, insurance_delta=None, fee_percent=None)

    for change in ({}, {"auto_accept": True}, {"auto_accept_creator": NO_NAME}, {"auto_accept_resolver": NO_NAME}):
        refuses(
            changed(nothing, **change),
            "insurance_delta || fee_percent || fixed_fee || rules_url: pm_oracle_update must change at least one field",
        )
    accepts(changed(nothing, fee_percent=0))


def test_an_empty_name_is_not_the_same_as_none() -> None:
    update = codec_of(PmOracleUpdate)

    assert update.from_json({"auto_accept_creator": ""}).auto_accept_creator == NO_NAME
    assert update.from_json({"auto_accept_creator": None}).auto_accept_creator is None
    assert update.from_json({}) == PmOracleUpdate(NO_NAME, None, None, None, None, None, None, None, ())
    assert '"auto_accept_creator"' not in update.to_json(update.from_json({}))


def test_missing_keys_are_empty_and_zero_but_for_the_answer_itself() -> None:
    assert codec_of(PmOracleAcceptMarket).from_json({}) == PmOracleAcceptMarket(NO_NAME, 0, True, 0, tokens(0), ())
    registration = PmOracleRegister(NO_NAME, tokens(0), 0, tokens(0), "", NO_NAME, NO_NAME, False, ())
    assert codec_of(PmOracleRegister).from_json({}) == registration
