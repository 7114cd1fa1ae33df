"""Hidden bets: bytes, JSON, rules, authorities."""

from __future__ import annotations

from typing import Any

from ledgerd.protocol.operations.base import Operation, active
from ledgerd.protocol.operations.markets.bets import PmCommitBet, PmRevealBet
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.identifiers import NO_COMMITMENT, Commitment
from tests.protocol.operations.expect import changed, read
from tests.protocol.operations.family import Family, OperationFamily

COMMIT_BET_JSON = [
    "pm_commit_bet",
    {
        "account": "bob",
        "market_id": 5,
        "commitment": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
        "escrow_amount": "20.000 VIZ",
        "no_reveal_fee_percent": 2000,
        "extensions": [],
    },
]
COMMIT_BET = read(COMMIT_BET_JSON, PmCommitBet)

REVEAL_BET_JSON = [
    "pm_reveal_bet",
    {
        "account": "bob",
        "commit_id": 7,
        "side": 1,
        "outcome_index": -1,
        "amount": "15.000 VIZ",
        "salt": "s3",
        "min_tokens": 0,
        "extensions": [],
    },
]
REVEAL_BET = read(REVEAL_BET_JSON, PmRevealBet)

IN_BYTES: tuple[tuple[Operation, str, list[Any]], ...] = (
    (
        COMMIT_BET,
        (
            "4703626f62050000000000000000112233445566778899aabbccddeeff00112233445566778899aabbccddeeff204e000000"
            "0000000356495a00000000d00700"
        ),
        COMMIT_BET_JSON,
    ),
    (
        REVEAL_BET,
        "4803626f62070000000000000001ffff983a0000000000000356495a00000000027333000000000000000000",
        REVEAL_BET_JSON,
    ),
)

SOUND: tuple[Operation, ...] = (
    changed(COMMIT_BET, no_reveal_fee_percent=10_000),
    changed(COMMIT_BET, escrow_amount=tokens(1)),
    changed(COMMIT_BET, commitment=Commitment(bytes(31) + bytes((1,)))),
    changed(REVEAL_BET, salt="x" * 256),
    changed(REVEAL_BET, salt=""),
    changed(REVEAL_BET, side=-1, outcome_index=0),
)

UNSOUND: tuple[tuple[Operation, str], ...] = (
    (changed(COMMIT_BET, market_id=-1), "market_id >= 0: market_id must be non-negative"),
    (changed(COMMIT_BET, commitment=NO_COMMITMENT), "commitment != fc::sha256(): commitment cannot be empty"),
    (
        changed(COMMIT_BET, escrow_amount=shares(1)),
        "pm_is_token(escrow_amount): escrow_amount must be VIZ (TOKEN_SYMBOL)",
    ),
    (changed(COMMIT_BET, escrow_amount=tokens(0)), "escrow_amount.amount > 0: escrow_amount must be positive"),
    (changed(COMMIT_BET, escrow_amount=tokens(-1)), "escrow_amount.amount > 0: escrow_amount must be positive"),
    (
        changed(COMMIT_BET, no_reveal_fee_percent=10_001),
        "no_reveal_fee_percent <= 10000: no_reveal_fee_percent out of range (bp, max 10000)",
    ),
    (changed(REVEAL_BET, commit_id=-1), "commit_id >= 0: commit_id must be non-negative"),
    (changed(REVEAL_BET, amount=shares(1)), "pm_is_token(amount): amount must be VIZ (TOKEN_SYMBOL)"),
    (changed(REVEAL_BET, amount=tokens(0)), "amount.amount > 0: reveal amount must be positive"),
    (changed(REVEAL_BET, amount=tokens(-1)), "amount.amount > 0: reveal amount must be positive"),
    (changed(REVEAL_BET, min_tokens=-1), "min_tokens >= 0: min_tokens cannot be negative"),
    (changed(REVEAL_BET, side=-2), "side >= -1 && side <= 1: side must be -1, 0 or 1"),
    (changed(REVEAL_BET, side=2), "side >= -1 && side <= 1: side must be -1, 0 or 1"),
    (changed(REVEAL_BET, outcome_index=-2), "outcome_index >= -1: outcome_index must be >= -1"),
    (
        changed(REVEAL_BET, side=0, outcome_index=0),
        "(side >= 0) != (outcome_index >= 0): set exactly one of side / outcome_index",
    ),
    (
        changed(REVEAL_BET, side=-1, outcome_index=-1),
        "(side >= 0) != (outcome_index >= 0): set exactly one of side / outcome_index",
    ),
    (changed(REVEAL_BET, salt="x" * 257), "s.size() <= cap: salt exceeds byte cap 256"),
    (changed(REVEAL_BET, salt="\udcff"), "fc::is_utf8(s): salt not formatted in UTF8"),
)


class TestCommitments(OperationFamily):
    family = Family(
        in_bytes=IN_BYTES,
        sound=SOUND,
        unsound=UNSOUND,
        names=(
            (COMMIT_BET, ("account",)),
            (REVEAL_BET, ("account",)),
        ),
        authorities=(
            (COMMIT_BET, active(COMMIT_BET.account)),
            (REVEAL_BET, active(REVEAL_BET.account)),
        ),
        pairs=67,
    )
