"""Virtual operations of markets: bytes, JSON as history has it, and that nobody can send one."""

from __future__ import annotations

from typing import Any

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import Authorities, name_of
from ledgerd.protocol.operations.markets import virtual_markets
from ledgerd.protocol.operations.variant import declared_in
from tests.protocol.operations.expect import refuses, round_trips

CASES: tuple[tuple[str, list[Any]], ...] = (
    ("5405000000000000000300000002000000", ["pm_batch_settle", {"market_id": 5, "epoch": 3, "settled_bets": 2}]),
    (
        ("5503626f6207000000000000000500000000000000a00f0000000000000356495a00000000803e0000000000000356495a00000000"),
        [
            "pm_commit_forfeit",
            {"account": "bob", "commit_id": 7, "market_id": 5, "penalty": "4.000 VIZ", "refund": "16.000 VIZ"},
        ],
    ),
    (
        "5603626f620500000000000000090000000000000039300000000000000356495a00000000",
        ["pm_auto_payout", {"account": "bob", "market_id": 5, "bet_id": 9, "payout": "12.345 VIZ"}],
    ),
    (
        "57046f72616305000000000000000100a8610000000000000356495a00000000",
        [
            "pm_dispute_finalize",
            {"oracle": "orac", "market_id": 5, "winning_outcome": 1, "oracle_penalty": "25.000 VIZ"},
        ],
    ),
    (
        "58046f726163050000000000000000000000000000000356495a00000000",
        ["pm_dispute_auto_close", {"oracle": "orac", "market_id": 5, "oracle_penalty": "0.000 VIZ"}],
    ),
    (
        "59046f726163050000000000000090d00300000000000356495a00000000",
        ["pm_oracle_missed_penalty", {"oracle": "orac", "market_id": 5, "slashed": "250.000 VIZ"}],
    ),
    (
        "5a0500000000000000d0070000000000000356495a00000000",
        ["pm_lazy_recall", {"market_id": 5, "recalled": "2.000 VIZ"}],
    ),
    (
        (
            "5e03626f6204000000000000000600000000000000e8800000000000000356495a00000000e8800000000000000356495a00"
            "00000000000000000000000356495a0000000001"
        ),
        [
            "pm_leverage_liquidate",
            {
                "account": "bob",
                "position_id": 4,
                "market_id": 6,
                "cancel_value": "33.000 VIZ",
                "pool_received": "33.000 VIZ",
                "bettor_received": "0.000 VIZ",
                "reason": 1,
            },
        ],
    ),
    (
        (
            "5f03626f620400000000000000060000000000000001e8800000000000000356495a0000000028230000000000000356495a"
            "0000000001000400"
        ),
        [
            "pm_leverage_resolve",
            {
                "account": "bob",
                "position_id": 4,
                "market_id": 6,
                "won": True,
                "pool_received": "33.000 VIZ",
                "bettor_received": "9.000 VIZ",
                "outcome_index": 1,
                "leverage": 4,
            },
        ],
    ),
    (
        "60046f72616305616c69636505000000000000009600f4010000000000000356495a0000000000",
        [
            "pm_market_accepted",
            {
                "oracle": "orac",
                "creator": "alice",
                "market_id": 5,
                "oracle_fee_percent": 150,
                "oracle_fixed_fee": "0.500 VIZ",
                "self_oracle": False,
            },
        ],
    ),
    (
        (
            "6103626f6205000000000000000900000000000000ff020010270000000000000356495a0000000039300000000000000356"
            "495a00000000"
        ),
        [
            "pm_payout",
            {
                "account": "bob",
                "market_id": 5,
                "bet_id": 9,
                "side": -1,
                "outcome_index": 2,
                "amount": "10.000 VIZ",
                "payout": "12.345 VIZ",
            },
        ],
    ),
    ("64046f7261630100", ["pm_ban_expired", {"account": "orac", "oracle": True, "creator": False}]),
    (
        "65046f72616305616c6963650800000000000000a0860100000000000356495a00000000",
        [
            "pm_market_expired",
            {"oracle": "orac", "creator": "alice", "market_id": 8, "refunded_liquidity": "100.000 VIZ"},
        ],
    ),
    (
        "66046f72616303626f620500000000000000ffff",
        ["pm_dispute_opened", {"oracle": "orac", "disputer": "bob", "market_id": 5, "proposed_outcome": -1}],
    ),
    (
        "6703626f6205000000000000000002b80b0000000000000356495a00000000dc050000000000000356495a00000000",
        [
            "pm_early_exit_claim_paid",
            {
                "account": "bob",
                "market_id": 5,
                "kind": 0,
                "outcome_index": 2,
                "claimed": "3.000 VIZ",
                "paid": "1.500 VIZ",
            },
        ],
    ),
    (
        (
            "68056361726f6c050000000000000050c30000000000000356495a0000000009030000000000000356495a00000000000000"
            "00000000000356495a00000000"
        ),
        [
            "pm_lp_payout",
            {
                "account": "carol",
                "market_id": 5,
                "principal": "50.000 VIZ",
                "income": "0.777 VIZ",
                "charge": "0.000 VIZ",
            },
        ],
    ),
)


def made(printed: list[Any]) -> Operation:
    return codec_of(Operation).from_json(printed)


@pytest.mark.parametrize(("raw", "printed"), CASES, ids=[case[1][0] for case in CASES])
def test_bytes_and_json(raw: str, printed: list[Any]) -> None:
    round_trips(made(printed), raw, printed)


def test_every_virtual_operation_of_markets_was_tried() -> None:
    assert [printed[0] for _, printed in CASES] == [name_of(each) for each in declared_in(virtual_markets)]
    assert [each for each in OPERATIONS[66:] if each.VIRTUAL] == list(declared_in(virtual_markets))


@pytest.mark.parametrize("printed", [case[1] for case in CASES], ids=[case[1][0] for case in CASES])
def test_nobody_can_send_it_and_nobody_signs_for_it(printed: list[Any]) -> None:
    operation = made(printed)

    refuses(operation, "false: This is a virtual operation")
    assert operation.authorities() == Authorities()
