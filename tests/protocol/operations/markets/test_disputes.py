"""Disputes and bans: bytes, JSON, rules, authorities."""

from __future__ import annotations

from typing import Any

from ledgerd.protocol.operations.base import Operation, active, regular
from ledgerd.protocol.operations.markets.disputes import (
    PmDisputeCreate,
    PmDisputeOracleRespond,
    PmDisputeResolve,
    PmDisputeVote,
    PmUnban,
)
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.names import AccountName
from tests.protocol.operations.expect import changed, read
from tests.protocol.operations.family import Family, OperationFamily

DISPUTE_CREATE_JSON = [
    "pm_dispute_create",
    {"disputer": "bob", "market_id": 5, "proposed_outcome": -1, "reason": "no", "extensions": []},
]
DISPUTE_CREATE = read(DISPUTE_CREATE_JSON, PmDisputeCreate)

DISPUTE_VOTE_JSON = [
    "pm_dispute_vote",
    {"voter": "dave", "market_id": 5, "vote_outcome": 1, "vote_percent": -10000, "extensions": []},
]
DISPUTE_VOTE = read(DISPUTE_VOTE_JSON, PmDisputeVote)

DISPUTE_RESOLVE_JSON = [
    "pm_dispute_resolve",
    {
        "resolver": "judge",
        "market_id": 5,
        "correct_outcome": 0,
        "penalty_amount": "100.000 VIZ",
        "ban_oracle": True,
        "ban_oracle_until": "2027-01-01T00:00:00",
        "ban_creator": False,
        "ban_creator_until": "1970-01-01T00:00:00",
        "extensions": [],
    },
]
DISPUTE_RESOLVE = read(DISPUTE_RESOLVE_JSON, PmDisputeResolve)

DISPUTE_ORACLE_RESPOND_JSON = [
    "pm_dispute_oracle_respond",
    {"oracle": "orac", "market_id": 5, "response": "see url", "extensions": []},
]
DISPUTE_ORACLE_RESPOND = read(DISPUTE_ORACLE_RESPOND_JSON, PmDisputeOracleRespond)

UNBAN_JSON = [
    "pm_unban",
    {"resolver": "judge", "target": "orac", "unban_oracle": True, "unban_creator": False, "extensions": []},
]
UNBAN = read(UNBAN_JSON, PmUnban)

IN_BYTES: tuple[tuple[Operation, str, list[Any]], ...] = (
    (DISPUTE_CREATE, "4e03626f620500000000000000ffff026e6f00", DISPUTE_CREATE_JSON),
    (DISPUTE_VOTE, "4f046461766505000000000000000100f0d800", DISPUTE_VOTE_JSON),
    (
        DISPUTE_RESOLVE,
        "50056a7564676505000000000000000000a0860100000000000356495a000000000180ec366b000000000000",
        DISPUTE_RESOLVE_JSON,
    ),
    (DISPUTE_ORACLE_RESPOND, "62046f7261630500000000000000077365652075726c00", DISPUTE_ORACLE_RESPOND_JSON),
    (UNBAN, "63056a75646765046f726163010000", UNBAN_JSON),
)

SOUND: tuple[Operation, ...] = (
    changed(DISPUTE_CREATE, reason=""),
    changed(DISPUTE_CREATE, reason="x" * 1_024),
    changed(DISPUTE_CREATE, proposed_outcome=0),
    changed(DISPUTE_VOTE, vote_percent=10_000),
    changed(DISPUTE_VOTE, vote_percent=0),
    changed(DISPUTE_VOTE, vote_outcome=-1),
    changed(DISPUTE_RESOLVE, penalty_amount=tokens(0)),
    changed(DISPUTE_RESOLVE, ban_oracle_until=0),
    changed(DISPUTE_RESOLVE, ban_creator=True),
    changed(DISPUTE_RESOLVE, correct_outcome=-1),
    changed(DISPUTE_ORACLE_RESPOND, response="x" * 1_024),
    changed(UNBAN, unban_oracle=False, unban_creator=True),
    changed(UNBAN, target=AccountName("judge")),
)

UNSOUND: tuple[tuple[Operation, str], ...] = (
    (changed(DISPUTE_CREATE, market_id=-1), "market_id >= 0: market_id must be non-negative"),
    (changed(DISPUTE_CREATE, proposed_outcome=-2), "proposed_outcome >= -1: proposed_outcome must be >= -1"),
    (changed(DISPUTE_CREATE, reason="x" * 1025), "s.size() <= cap: reason exceeds byte cap 1024"),
    (changed(DISPUTE_CREATE, reason="\udcff"), "fc::is_utf8(s): reason not formatted in UTF8"),
    (changed(DISPUTE_VOTE, market_id=-1), "market_id >= 0: market_id must be non-negative"),
    (changed(DISPUTE_VOTE, vote_outcome=-2), "vote_outcome >= -1: vote_outcome must be >= -1"),
    (
        changed(DISPUTE_VOTE, vote_percent=-10_001),
        "vote_percent >= -10000 && vote_percent <= 10000: vote_percent must be in [-10000, 10000]",
    ),
    (
        changed(DISPUTE_VOTE, vote_percent=10_001),
        "vote_percent >= -10000 && vote_percent <= 10000: vote_percent must be in [-10000, 10000]",
    ),
    (changed(DISPUTE_RESOLVE, market_id=-1), "market_id >= 0: market_id must be non-negative"),
    (changed(DISPUTE_RESOLVE, correct_outcome=-2), "correct_outcome >= -1: correct_outcome must be >= -1"),
    (
        changed(DISPUTE_RESOLVE, penalty_amount=shares(1)),
        "pm_is_token(penalty_amount): penalty_amount must be VIZ (TOKEN_SYMBOL)",
    ),
    (
        changed(DISPUTE_RESOLVE, penalty_amount=tokens(-1)),
        "penalty_amount.amount >= 0: penalty_amount cannot be negative",
    ),
    (changed(DISPUTE_ORACLE_RESPOND, market_id=-1), "market_id >= 0: market_id must be non-negative"),
    (changed(DISPUTE_ORACLE_RESPOND, response=""), "response.size() > 0: response cannot be empty"),
    (changed(DISPUTE_ORACLE_RESPOND, response="x" * 1025), "s.size() <= cap: response exceeds byte cap 1024"),
    (changed(DISPUTE_ORACLE_RESPOND, response="\udcff"), "fc::is_utf8(s): response not formatted in UTF8"),
    (
        changed(UNBAN, unban_oracle=False),
        "unban_oracle || unban_creator: nothing to unban: set unban_oracle and/or unban_creator",
    ),
)


class TestDisputes(OperationFamily):
    family = Family(
        in_bytes=IN_BYTES,
        sound=SOUND,
        unsound=UNSOUND,
        names=(
            (DISPUTE_CREATE, ("disputer",)),
            (DISPUTE_VOTE, ("voter",)),
            (DISPUTE_RESOLVE, ("resolver",)),
            (DISPUTE_ORACLE_RESPOND, ("oracle",)),
            (UNBAN, ("resolver", "target")),
        ),
        authorities=(
            (DISPUTE_CREATE, active(DISPUTE_CREATE.disputer)),
            (DISPUTE_VOTE, regular(DISPUTE_VOTE.voter)),
            (DISPUTE_RESOLVE, active(DISPUTE_RESOLVE.resolver)),
            (DISPUTE_ORACLE_RESPOND, active(DISPUTE_ORACLE_RESPOND.oracle)),
            (UNBAN, active(UNBAN.resolver)),
        ),
        pairs=18,
    )
