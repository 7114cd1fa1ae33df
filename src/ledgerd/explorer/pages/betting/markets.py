"""Prediction markets: what is bet on, how likely each outcome looks, and how that came about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import Any, NamedTuple

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.client.envelope import ErrorAnswer, NodeCall
from ledgerd.explorer.pages.lists import OF_A_PAGE, beside, existing, operations_of
from ledgerd.explorer.pages.view import MOST_SKIPPED, PageAnswer, PageFamily, PageView, Visit, needed, optional

WIDTH, HEIGHT = 720, 220
LEFT, BOTTOM = 40, 22
TOP = 8


class OutcomeLine(NamedTuple):
    """The line of an outcome."""

    points: str
    end: float
    last: int
    """The share that it ends with, in hundredths of a percent."""


class Picture(NamedTuple):
    """Lines in a frame, in the units of the drawing."""

    width: int
    height: int
    lines: tuple[OutcomeLine, ...]
    first: int
    last: int
    """Times of its ends, in seconds."""
    marks: tuple[tuple[float, int], ...]
    left: int = LEFT


def picture_of(points: Sequence[tuple[int, Sequence[int | str]]], count: int) -> Picture:
    first, last = points[0][0], points[-1][0]
    span = max(1, last - first)

    def across(at: int) -> float:
        return round(LEFT + (at - first) * (WIDTH - LEFT - 4) / span, 1)

    def up(part: float) -> float:
        return round(TOP + (1 - part) * (HEIGHT - BOTTOM - TOP), 1)

    lines = []
    for outcome in range(count):
        corners: list[str] = []
        height, part = up(0), 0.0
        for at, stakes in points:
            total = sum(map(int, stakes))
            if not total or outcome >= len(stakes):
                continue
            part = int(stakes[outcome]) / total
            if corners:
                corners.append(f"{across(at)},{height}")  # steps: between two bets nothing changes
            height = up(part)
            corners.append(f"{across(at)},{height}")
        lines.append(OutcomeLine(" ".join(corners), height, round(part * 10_000)))
    marks = tuple((up(each / 100), each) for each in (0, 25, 50, 75, 100))
    return Picture(WIDTH, HEIGHT, tuple(lines), first, last, marks)


ROUTES = PageFamily()
POINTS = 400
API = "prediction_market_api"
STATUSES = {"open": 1, "waiting": 0, "resolved": 3, "deleted": -1}
PAYOUTS = ("none", "pending", "disputed", "paid", "running")
BETS = ("active", "cancelled", "refunded", "settled", "", "queued", "queued")
DISPUTES = ("open", "wrong", "right", "closed")
TYPES = [
    "pm_create_market", "pm_oracle_accept_market", "pm_market_accepted", "pm_resolve_market", "pm_no_contest",
    "pm_dispute_create", "pm_dispute_finalize", "pm_dispute_auto_close", "pm_dispute_resolve",
]  # fmt: skip
ORACLES_AT_ONCE, MOST_ORACLES = 100, 500
"""Oracles whose disputes are asked for in one request, and in all."""
HALF = 5_000


@ROUTES.page("/markets")
async def markets(visit: Visit) -> PageAnswer:
    status = visit.chosen("status", tuple(STATUSES))
    skipped = visit.number("skip", 100_000) or 0
    rows, pool, properties = await visit.node.ask(
        NodeCall(API, "list_markets", (STATUSES[status], skipped, OF_A_PAGE, True, "newest")),
        NodeCall(API, "get_lazy_pool"),
        NodeCall(API, "get_pm_chain_properties"),
    )
    rows = needed(rows)
    facts = {
        "rows": [{**each, "state": state_of(each)} for each in rows],
        "status": status,
        "statuses": tuple(STATUSES),
        "pool": optional(pool),
        "rules": optional(properties) or {},
        **beside(visit, "skip", skipped, OF_A_PAGE, has_more=len(rows) == OF_A_PAGE),
    }
    return PageView("markets.html", facts)


def state_of(market: Mapping[str, Any]) -> str:
    if market["payout_status"] == 2:
        return "disputed"
    named = {number: name for name, number in STATUSES.items()}
    return named.get(market["status"], "open")


@ROUTES.page("/market/(?P<number>[^/]+)")
async def market(visit: Visit) -> PageAnswer:
    number = visit.part("number", 0x7FFF_FFFF_FFFF_FFFF)
    skipped, funds, levers = (visit.number(each, MOST_SKIPPED) or 0 for each in ("skip", "funds", "levers"))
    full, points, rows, liquidity, dispute, votes, leverage, lent = await visit.node.ask(
        NodeCall(API, "get_market_full", (number,)),
        NodeCall(API, "get_market_kline", (number, 0, POINTS)),
        NodeCall(API, "get_market_bets", (number, skipped, OF_A_PAGE)),
        NodeCall(API, "get_market_liquidity", (number, funds, OF_A_PAGE)),
        NodeCall(API, "get_dispute", (number,)),
        NodeCall(API, "get_dispute_votes", (number,)),
        NodeCall(API, "get_market_leverage_positions", (number, levers, OF_A_PAGE)),
        NodeCall(API, "get_market_lazy_allocation", (number,)),
    )
    record = existing(full, "fault.market", number)
    rows = needed(rows)
    outcomes = outcomes_of(record)
    facts = {
        "market": record["market"],
        "number": number,
        "state": state_of(record["market"]),
        "payout": PAYOUTS[record["market"]["payout_status"] % len(PAYOUTS)],
        "outcomes": outcomes,
        "labels": [each["label"] for each in outcomes],
        "picture": _picture(points, [each["label"] for each in outcomes]),
        "bets": rows,
        "bet_states": BETS,
        "liquidity": needed(liquidity),
        "leverage": needed(leverage),
        "beside_funds": visit.beside("funds", liquidity, OF_A_PAGE),
        "beside_levers": visit.beside("levers", leverage, OF_A_PAGE),
        "lent": optional(lent),
        "dispute": optional(dispute),
        "dispute_states": DISPUTES,
        "votes": optional(votes),
        **beside(visit, "skip", skipped, OF_A_PAGE, has_more=len(rows) == OF_A_PAGE),
    }
    return PageView("market.html", facts)


def outcomes_of(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    market, sums = record["market"], record["weight_sums"]["outcomes"]
    prices = prices_of(market, record["outcomes"])
    return [
        {
            "index": each["outcome_index"],
            "label": each["label"],
            "bets": each["bets_sum"],
            "weight": each["weight_sum"],
            "price": prices[place] if place < len(prices) else None,
            "is_right": market["status"] == 3 and market["resolved_outcome"] == each["outcome_index"],
        }
        for place, each in enumerate(sums)
    ]


def prices_of(market: Mapping[str, Any], outcomes: Sequence[Mapping[str, Any]]) -> list[int]:
    """The chance of each outcome by the bets, in hundredths of a percent; for display only."""
    if market["market_type"] == 0:
        a, b = int(market["reserve_a"]), int(market["reserve_b"])
        first = a * HUNDRED_PERCENT // (a + b) if a + b else HALF
        return [first, HUNDRED_PERCENT - first]
    depth = int(market["lmsr_b"])
    quantities = [int(each["q"]) for each in outcomes]
    if not depth or not quantities:
        return []
    top = max(quantities)
    powers = [exp((each - top) / depth) for each in quantities]
    return [round(each * HUNDRED_PERCENT / sum(powers)) for each in powers]


def _picture(points: Any, labels: Sequence[str]) -> Picture | None:  # noqa: ANN401 - JSON
    if isinstance(points, ErrorAnswer) or len(points) < 2:
        return None
    return picture_of([(each["timestamp"], each["weights"]) for each in points], len(labels))


@ROUTES.page("/disputes")
async def disputes(visit: Visit) -> PageAnswer:
    facts = await operations_of(visit, [each for each in TYPES if "dispute" in each])
    found = await _open_disputes(visit) if visit.cursor() == "newest" else []
    return PageView("disputes.html", {**facts, "open": found})


async def _open_disputes(visit: Visit) -> list[dict[str, Any]]:
    """The open disputes of every oracle, from the state: the history may have begun later than some."""
    found: list[dict[str, Any]] = []
    for skipped in range(0, MOST_ORACLES, ORACLES_AT_ONCE):
        oracles = await visit.one(API, "list_oracles", skipped, ORACLES_AT_ONCE)
        asked = (NodeCall(API, "list_oracle_disputes", (each["owner"], 0, ORACLES_AT_ONCE)) for each in oracles)
        for each in await visit.ask(*asked):
            found += each
        if len(oracles) < ORACLES_AT_ONCE:
            break
    return sorted(found, key=lambda each: str(each["voting_end_time"]))


@ROUTES.page("/oracles")
async def oracles(visit: Visit) -> PageAnswer:
    skipped = visit.number("skip", 100_000) or 0
    rows = await visit.one(API, "list_oracles", skipped, OF_A_PAGE)
    links = beside(visit, "skip", skipped, OF_A_PAGE, has_more=len(rows) == OF_A_PAGE)
    return PageView("oracles.html", {"rows": rows, **links})
