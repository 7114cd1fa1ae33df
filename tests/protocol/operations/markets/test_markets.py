"""Prediction markets: bytes, JSON, rules, authorities."""

from __future__ import annotations

from typing import Any

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.operations.base import Operation, active
from ledgerd.protocol.operations.markets.markets import BY_ACCOUNT, MULTI, PmCreateMarket, PmNoContest, PmResolveMarket
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.protocol.operations.expect import (
    accepts,
    asks_for_names,
    changed,
    read,
    refuses,
    refuses_for_the_first_of_two_faults,
    round_trips,
)

ORAC = AccountName("orac")
ALICE = AccountName("alice")

CREATE_MARKET_JSON = [
    "pm_create_market",
    {
        "creator": "alice",
        "oracle": "orac",
        "market_type": 1,
        "outcomes": ["A", "B", "C"],
        "url": "ipfs://q",
        "oracle_fee_percent": 200,
        "oracle_fixed_fee": "1.000 VIZ",
        "creator_fee_percent": 100,
        "liquidity_fee_percent": 200,
        "liquidity": "100.000 VIZ",
        "lmsr_b": 91023,
        "betting_expiration": "2026-12-01T00:00:00",
        "result_expiration": "2026-12-08T00:00:00",
        "time_penalty_type": 0,
        "time_penalty_value": 0,
        "penalty_curve_type": 0,
        "allow_early_resolution": False,
        "allow_cancellation": True,
        "allow_batch": False,
        "allow_instant_bet": True,
        "endogeneity_tier": 2,
        "dispute_mode": 1,
        "dispute_resolver": "judge",
        "dispute_penalty_percent": -500,
        "metadata": "{}",
        "extensions": [],
    },
]
CREATE_MARKET = read(CREATE_MARKET_JSON, PmCreateMarket)

RESOLVE_MARKET_JSON = [
    "pm_resolve_market",
    {
        "oracle": "orac",
        "market_id": 5,
        "winning_outcome": 2,
        "decision_url": "https://d",
        "decision_reason": "C",
        "extensions": [],
    },
]
RESOLVE_MARKET = read(RESOLVE_MARKET_JSON, PmResolveMarket)

NO_CONTEST_JSON = ["pm_no_contest", {"oracle": "orac", "market_id": 5, "reason": "void", "extensions": []}]
NO_CONTEST = read(NO_CONTEST_JSON, PmNoContest)

IN_BYTES: tuple[tuple[Operation, str, list[Any]], ...] = (
    (
        CREATE_MARKET,
        (
            "4405616c696365046f726163010301410142014308697066733a2f2f71c800e8030000000000000356495a000000006400c8"
            "00a0860100000000000356495a000000008f63010000000000000e0e6b8048176b000000000000000100010201056a756467"
            "650cfe027b7d00"
        ),
        CREATE_MARKET_JSON,
    ),
    (RESOLVE_MARKET, "4c046f726163050000000000000002000968747470733a2f2f64014300", RESOLVE_MARKET_JSON),
    (NO_CONTEST, "4d046f726163050000000000000004766f696400", NO_CONTEST_JSON),
)

SOUND: tuple[Operation, ...] = (
    changed(CREATE_MARKET, outcomes=("A",) * 128),
    changed(CREATE_MARKET, outcomes=("x" * 64, "B", "C")),
    changed(CREATE_MARKET, url=""),
    changed(CREATE_MARKET, url="x" * 256),
    changed(CREATE_MARKET, liquidity=tokens(1)),
    changed(CREATE_MARKET, result_expiration=1796083201),
    changed(CREATE_MARKET, creator_fee_percent=9_600),
    changed(CREATE_MARKET, oracle_fee_percent=0, creator_fee_percent=10_000, liquidity_fee_percent=0),
    changed(CREATE_MARKET, endogeneity_tier=1),
    changed(CREATE_MARKET, endogeneity_tier=3),
    changed(CREATE_MARKET, dispute_penalty_percent=-10_000),
    changed(CREATE_MARKET, dispute_penalty_percent=10_000),
    changed(CREATE_MARKET, dispute_mode=0, dispute_resolver=NO_NAME),
    changed(CREATE_MARKET, metadata="\udcff" * 3_000),
    changed(CREATE_MARKET, creator=ORAC),
    changed(CREATE_MARKET, time_penalty_type=255, time_penalty_value=4_294_967_295, penalty_curve_type=255),
    changed(CREATE_MARKET, market_type=0, outcomes=("A", "A"), lmsr_b=0, allow_instant_bet=False, allow_batch=True),
    changed(RESOLVE_MARKET, winning_outcome=-1),
    changed(RESOLVE_MARKET, decision_url="", decision_reason=""),
    changed(RESOLVE_MARKET, decision_url="x" * 256, decision_reason="x" * 1_024),
    changed(NO_CONTEST, reason=""),
    changed(NO_CONTEST, reason="x" * 1_024),
)

UNSOUND: tuple[tuple[Operation, str], ...] = (
    (
        changed(CREATE_MARKET, market_type=2),
        "market_type == 0 || market_type == 1: market_type must be 0 (binary) or 1 (multi)",
    ),
    (changed(CREATE_MARKET, market_type=0), "outcomes.size() == 2: binary market must have exactly 2 outcomes"),
    (changed(CREATE_MARKET, market_type=0, outcomes=("A", "B")), "lmsr_b == 0: lmsr_b must be 0 for binary markets"),
    (
        changed(CREATE_MARKET, outcomes=("A", "B")),
        "outcomes.size() >= 3 && outcomes.size() <= MAX_PM_OUTCOMES_PER_MARKET: multi market must have 3..128 outcomes",
    ),
    (
        changed(CREATE_MARKET, outcomes=("A",) * 129),
        "outcomes.size() >= 3 && outcomes.size() <= MAX_PM_OUTCOMES_PER_MARKET: multi market must have 3..128 outcomes",
    ),
    (changed(CREATE_MARKET, lmsr_b=0), "lmsr_b > 0: lmsr_b must be positive for multi markets"),
    (
        changed(CREATE_MARKET, allow_instant_bet=False),
        "allow_instant_bet: multi markets must keep allow_instant_bet=true (no LMSR batch yet)",
    ),
    (changed(CREATE_MARKET, outcomes=("A", "", "C")), "label.size() > 0: outcome label cannot be empty"),
    (changed(CREATE_MARKET, outcomes=("A", "x" * 65, "C")), "s.size() <= cap: outcome label exceeds byte cap 64"),
    (changed(CREATE_MARKET, outcomes=("A", "\udcff", "C")), "fc::is_utf8(s): outcome label not formatted in UTF8"),
    (changed(CREATE_MARKET, url="x" * 257), "s.size() <= cap: url exceeds byte cap 256"),
    (changed(CREATE_MARKET, url="\udcff"), "fc::is_utf8(s): url not formatted in UTF8"),
    (changed(CREATE_MARKET, liquidity=shares(1)), "pm_is_token(liquidity): liquidity must be VIZ (TOKEN_SYMBOL)"),
    (changed(CREATE_MARKET, liquidity=tokens(0)), "liquidity.amount > 0: liquidity must be positive"),
    (changed(CREATE_MARKET, liquidity=tokens(-1)), "liquidity.amount > 0: liquidity must be positive"),
    (
        changed(CREATE_MARKET, result_expiration=1796083200),
        "result_expiration > betting_expiration: result_expiration must be after betting_expiration",
    ),
    (
        changed(CREATE_MARKET, creator_fee_percent=10_001),
        (
            "oracle_fee_percent <= 10000 && creator_fee_percent <= 10000 && "
            "liquidity_fee_percent <= 10000: individual fee_percent out of range (bp, max 10000)"
        ),
    ),
    (
        changed(CREATE_MARKET, creator_fee_percent=9_601),
        (
            "uint32_t(oracle_fee_percent) + creator_fee_percent + liquidity_fee_percent <= 10000: "
            "sum of fees exceeds 100% (10000 bp)"
        ),
    ),
    (
        changed(CREATE_MARKET, oracle_fixed_fee=shares(1)),
        "pm_is_token(oracle_fixed_fee): oracle_fixed_fee must be VIZ (TOKEN_SYMBOL)",
    ),
    (
        changed(CREATE_MARKET, oracle_fixed_fee=tokens(-1)),
        "oracle_fixed_fee.amount >= 0: oracle_fixed_fee cannot be negative",
    ),
    (
        changed(CREATE_MARKET, endogeneity_tier=0),
        "endogeneity_tier >= 1 && endogeneity_tier <= 3: endogeneity_tier must be 1..3",
    ),
    (
        changed(CREATE_MARKET, endogeneity_tier=4),
        "endogeneity_tier >= 1 && endogeneity_tier <= 3: endogeneity_tier must be 1..3",
    ),
    (
        changed(CREATE_MARKET, dispute_penalty_percent=-10_001),
        (
            "dispute_penalty_percent >= -10000 && dispute_penalty_percent <= 10000: "
            "dispute_penalty_percent must be in [-10000, 10000]"
        ),
    ),
    (
        changed(CREATE_MARKET, dispute_penalty_percent=10_001),
        (
            "dispute_penalty_percent >= -10000 && dispute_penalty_percent <= 10000: "
            "dispute_penalty_percent must be in [-10000, 10000]"
        ),
    ),
    (
        changed(CREATE_MARKET, dispute_mode=2),
        "dispute_mode == 0 || dispute_mode == 1: dispute_mode must be 0 (committee) or 1 (account)",
    ),
    (
        changed(CREATE_MARKET, market_type=0, outcomes=("A", "B"), lmsr_b=0, allow_instant_bet=False),
        "allow_instant_bet || allow_batch: market would be unbettable: need allow_instant_bet or allow_batch",
    ),
    (changed(CREATE_MARKET, dispute_resolver=NO_NAME), "is_valid_account_name(name): Account name  is invalid"),
    (
        changed(CREATE_MARKET, dispute_resolver=ORAC),
        "dispute_resolver != oracle: dispute_resolver must not be the oracle",
    ),
    (
        changed(CREATE_MARKET, dispute_resolver=ALICE),
        "dispute_resolver != creator: dispute_resolver must not be the creator",
    ),
    (
        changed(CREATE_MARKET, dispute_mode=0),
        "dispute_resolver == account_name_type(): dispute_resolver must be empty for committee mode",
    ),
    (changed(RESOLVE_MARKET, market_id=-1), "market_id >= 0: market_id must be non-negative"),
    (changed(RESOLVE_MARKET, winning_outcome=-2), "winning_outcome >= -1: winning_outcome must be >= -1"),
    (changed(RESOLVE_MARKET, decision_url="x" * 257), "s.size() <= cap: decision_url exceeds byte cap 256"),
    (changed(RESOLVE_MARKET, decision_url="\udcff"), "fc::is_utf8(s): decision_url not formatted in UTF8"),
    (changed(RESOLVE_MARKET, decision_reason="x" * 1025), "s.size() <= cap: decision_reason exceeds byte cap 1024"),
    (changed(RESOLVE_MARKET, decision_reason="\udcff"), "fc::is_utf8(s): decision_reason not formatted in UTF8"),
    (changed(NO_CONTEST, market_id=-1), "market_id >= 0: market_id must be non-negative"),
    (changed(NO_CONTEST, reason="x" * 1025), "s.size() <= cap: reason exceeds byte cap 1024"),
    (changed(NO_CONTEST, reason="\udcff"), "fc::is_utf8(s): reason not formatted in UTF8"),
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


def is_of_another_kind(operation: Operation) -> bool:
    """Whether it is of a binary market, or of one whose disputes the committee settles."""
    return isinstance(operation, PmCreateMarket) and (operation.market_type, operation.dispute_mode) != (
        MULTI,
        BY_ACCOUNT,
    )


def test_of_two_faults_the_first_is_told() -> None:
    # Where the market's type or who judges is another, other rules hold, so that two faults are not independent.
    alone = [(each, message) for each, message in UNSOUND if not is_of_another_kind(each)]
    tried = [refuses_for_the_first_of_two_faults(operation, alone) for operation, _, _ in IN_BYTES]

    assert sum(tried) > 20


def test_names_have_to_be_valid() -> None:
    asks_for_names(CREATE_MARKET, "creator", "oracle")
    asks_for_names(RESOLVE_MARKET, "oracle")
    asks_for_names(NO_CONTEST, "oracle")


def test_those_who_act_must_agree() -> None:
    assert CREATE_MARKET.authorities() == active(CREATE_MARKET.creator)
    assert RESOLVE_MARKET.authorities() == active(RESOLVE_MARKET.oracle)
    assert NO_CONTEST.authorities() == active(NO_CONTEST.oracle)


def test_missing_keys_make_a_binary_market_without_outcomes() -> None:
    made = codec_of(PmCreateMarket).from_json({})

    assert (made.market_type, made.outcomes, made.allow_instant_bet, made.endogeneity_tier) == (0, (), True, 2)
    assert codec_of(PmResolveMarket).from_json({}).winning_outcome == -1


def test_the_shortest_json_of_a_sound_market() -> None:
    sent = {
        "creator": "alice",
        "oracle": "alice",
        "outcomes": ["Yes", "No"],
        "liquidity": "100.000 VIZ",
        "betting_expiration": "2026-12-01T00:00:00",
        "result_expiration": "2026-12-08T00:00:00",
    }
    market = read(["pm_create_market", sent], PmCreateMarket)

    accepts(market)
    assert codec_of(Operation).encode(market).hex() == (
        "4405616c69636505616c696365000203596573024e6f00000000000000000000000356495a0000000000000000a086010000000000035649"
        "5a000000000000000000000000000e0e6b8048176b0000000000000000000102000000000000"
    )
