"""Steps that several scenarios of markets have in common."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from ledgerd.codec.json.text import Json
from ledgerd.protocol.types.time_text import parse_time_text, time_text
from ledgerd.recording.steps import AskFact, Cast, LookUp, OperationText, Play, ScenarioStep, SendOperations, WaitUntil

API = "prediction_market_api"
DATABASE = "database_api"
DAY = 86_400
OPERATIONS_AT_ONCE = 40
"""Operations in one transaction; more would make it too large for some nodes."""

ROWS = 130
"""Bets of a market whose refund takes more than one block, where a block has a hundred rows."""

ScenarioPart = Generator[ScenarioStep, Json, Any]
"""A part of a scenario, with what it gives."""


def now() -> ScenarioPart:
    """The time of the head."""
    found: Any = yield LookUp(DATABASE, "get_dynamic_global_properties")
    return parse_time_text(found["time"])


def opened(cast: Cast, oracle: str, betting: int, **fields: object) -> ScenarioPart:
    """A new market of the cast; gives its number."""
    time = yield from now()
    usual = {
        "creator": cast.name("maker"),
        "oracle": cast.name(oracle),
        "outcomes": ["Yes", "No"],
        "oracle_fee_percent": 0,
        "oracle_fixed_fee": "0.000 VIZ",
        "liquidity": "100.000 VIZ",
        "betting_expiration": time_text(time + betting),
        "result_expiration": time_text(time + betting + 60),
        "allow_early_resolution": True,
        "allow_cancellation": True,
    }
    yield SendOperations((("pm_create_market", {**usual, **fields}),), (cast.name("maker"),))
    newest: Any = yield LookUp(API, "list_markets_by_oracle", (cast.name(oracle), 0, 1, "newest"))
    return newest[0]["id"]


def bets(cast: Cast, market: int, count: int = 2) -> ScenarioPart:
    """Bets on both sides by one account, many to a transaction."""
    operations: list[OperationText] = [
        (
            "pm_place_bet",
            {"account": cast.name("bettor"), "market_id": market, "side": each % 2, "amount": f"{each + 1}.007 VIZ"},
        )
        for each in range(count)
    ]
    for start in range(0, count, OPERATIONS_AT_ONCE):
        yield SendOperations(tuple(operations[start : start + OPERATIONS_AT_ONCE]), (cast.name("bettor"),))


def resolved(cast: Cast, oracle: str, market: int, outcome: int = 0) -> ScenarioPart:
    """The oracle's answer, at the end of betting."""
    found: Any = yield LookUp(API, "get_market", (market,))
    yield WaitUntil(parse_time_text(found["betting_expiration"]))
    fields = {"oracle": cast.name(oracle), "market_id": market, "winning_outcome": outcome}
    yield SendOperations((("pm_resolve_market", fields),), (cast.name(oracle),))


def disputed(cast: Cast, market: int) -> ScenarioPart:
    """File a dispute that says the other outcome is right; gives its times."""
    fields = {"disputer": cast.name("doubter"), "market_id": market, "proposed_outcome": 1, "reason": "recorded"}
    yield SendOperations((("pm_dispute_create", fields),), (cast.name("doubter"),))
    return (yield AskFact(API, "get_dispute", (market,)))


def shown(cast: Cast, oracle: str, market: int) -> Play:
    """Ask for a market, its dispute, its bets and its oracle."""
    for method in ("get_market", "get_dispute", "get_dispute_votes", "get_deferred_claims"):
        yield AskFact(API, method, (market,))
    yield AskFact(API, "get_market_bets", (market, 0, 1_000, "oldest"))
    yield AskFact(API, "get_market_liquidity", (market, 0, 100))
    yield AskFact(API, "get_oracle", (cast.name(oracle),))
    yield AskFact(DATABASE, "get_accounts", ([cast.name(who) for who in ("maker", oracle, "bettor", "doubter")],))
