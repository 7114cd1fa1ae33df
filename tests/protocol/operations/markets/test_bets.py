"""Bets: bytes, JSON, rules, authorities."""

from __future__ import annotations

from typing import Any

from ledgerd.codec import codec_of
from ledgerd.protocol.operations.base import Operation, active
from ledgerd.protocol.operations.markets.bets import PmCancelBet, PmPlaceBet, PmTransferPosition
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.protocol.operations.expect import changed, read
from tests.protocol.operations.family import Family, OperationFamily

BOB = AccountName("bob")

PLACE_BET_JSON = [
    "pm_place_bet",
    {
        "account": "bob",
        "market_id": 5,
        "side": -1,
        "outcome_index": 2,
        "amount": "10.000 VIZ",
        "min_tokens": 9000,
        "mode": 0,
        "extensions": [],
    },
]
PLACE_BET = read(PLACE_BET_JSON, PmPlaceBet)

CANCEL_BET_JSON = ["pm_cancel_bet", {"account": "bob", "bet_id": 9, "min_return": 100, "extensions": []}]
CANCEL_BET = read(CANCEL_BET_JSON, PmCancelBet)

TRANSFER_POSITION_JSON = [
    "pm_transfer_position",
    {"from": "bob", "bet_id": 9, "to": "dave", "amount": "5000000000", "memo": "#x", "extensions": []},
]
TRANSFER_POSITION = read(TRANSFER_POSITION_JSON, PmTransferPosition)

IN_BYTES: tuple[tuple[Operation, str, list[Any]], ...] = (
    (PLACE_BET, "4603626f620500000000000000ff020010270000000000000356495a0000000028230000000000000000", PLACE_BET_JSON),
    (CANCEL_BET, "4903626f620900000000000000640000000000000000", CANCEL_BET_JSON),
    (TRANSFER_POSITION, "5103626f620900000000000000046461766500f2052a0100000002237800", TRANSFER_POSITION_JSON),
)

SOUND: tuple[Operation, ...] = (
    changed(PLACE_BET, amount=tokens(1)),
    changed(PLACE_BET, mode=1),
    changed(PLACE_BET, min_tokens=0),
    changed(PLACE_BET, side=0, outcome_index=-1),
    changed(PLACE_BET, side=1, outcome_index=-1),
    changed(PLACE_BET, outcome_index=0),
    changed(PLACE_BET, outcome_index=32_767),
    changed(PLACE_BET, market_id=0),
    changed(CANCEL_BET, min_return=0),
    changed(CANCEL_BET, bet_id=0),
    changed(TRANSFER_POSITION, amount=0),
    changed(TRANSFER_POSITION, memo="x" * 1_024),
    changed(TRANSFER_POSITION, memo=""),
)

UNSOUND: tuple[tuple[Operation, str], ...] = (
    (changed(PLACE_BET, market_id=-1), "market_id >= 0: market_id must be non-negative"),
    (changed(PLACE_BET, amount=shares(1)), "pm_is_token(amount): amount must be VIZ (TOKEN_SYMBOL)"),
    (changed(PLACE_BET, amount=tokens(0)), "amount.amount > 0: bet amount must be positive"),
    (changed(PLACE_BET, amount=tokens(-1)), "amount.amount > 0: bet amount must be positive"),
    (changed(PLACE_BET, min_tokens=-1), "min_tokens >= 0: min_tokens cannot be negative"),
    (changed(PLACE_BET, mode=2), "mode == 0 || mode == 1: mode must be 0 (instant) or 1 (batch)"),
    (changed(PLACE_BET, side=-2), "side >= -1 && side <= 1: side must be -1, 0 or 1"),
    (changed(PLACE_BET, side=2), "side >= -1 && side <= 1: side must be -1, 0 or 1"),
    (changed(PLACE_BET, outcome_index=-2), "outcome_index >= -1: outcome_index must be >= -1"),
    (
        changed(PLACE_BET, side=0, outcome_index=0),
        "(side >= 0) != (outcome_index >= 0): set exactly one of side / outcome_index",
    ),
    (
        changed(PLACE_BET, side=-1, outcome_index=-1),
        "(side >= 0) != (outcome_index >= 0): set exactly one of side / outcome_index",
    ),
    (changed(CANCEL_BET, bet_id=-1), "bet_id >= 0: bet_id must be non-negative"),
    (changed(CANCEL_BET, min_return=-1), "min_return >= 0: min_return cannot be negative"),
    (changed(TRANSFER_POSITION, recipient=BOB), "from != to: cannot transfer a position to yourself"),
    (changed(TRANSFER_POSITION, bet_id=-1), "bet_id >= 0: bet_id must be non-negative"),
    (changed(TRANSFER_POSITION, amount=-1), "amount >= 0: amount cannot be negative (0 = full position)"),
    (changed(TRANSFER_POSITION, memo="x" * 1025), "s.size() <= cap: memo exceeds byte cap 1024"),
    (changed(TRANSFER_POSITION, memo="\udcff"), "fc::is_utf8(s): memo not formatted in UTF8"),
)


class TestBets(OperationFamily):
    family = Family(
        in_bytes=IN_BYTES,
        sound=SOUND,
        unsound=UNSOUND,
        names=(
            (PLACE_BET, ("account",)),
            (CANCEL_BET, ("account",)),
            (TRANSFER_POSITION, ("sender", "recipient")),
        ),
        authorities=(
            (PLACE_BET, active(PLACE_BET.account)),
            (CANCEL_BET, active(CANCEL_BET.account)),
            (TRANSFER_POSITION, active(TRANSFER_POSITION.sender)),
        ),
        pairs=56,
    )


def test_missing_keys_are_empty_and_zero_but_for_the_outcome() -> None:
    assert codec_of(PmPlaceBet).from_json({}) == PmPlaceBet(NO_NAME, 0, -1, -1, tokens(0), 0, 0, ())
    assert codec_of(PmCancelBet).from_json({}) == PmCancelBet(NO_NAME, 0, 0, ())
    assert codec_of(PmTransferPosition).from_json({}) == PmTransferPosition(NO_NAME, 0, NO_NAME, 0, "", ())


def test_numbers_in_json_are_cut_to_their_width() -> None:
    bet = codec_of(PmPlaceBet)

    assert bet.from_json({"side": 257, "market_id": "5"}) == bet.from_json({"side": 1, "market_id": 5})
    assert bet.from_json({"min_tokens": "-5"}).min_tokens == -5
