"""Oracles with their record, bans of creators, and the properties of all markets (spec 11, sections 4.3 to 4.5)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.codec.types.numbers import UInt32
from ledgerd.pricing.widths import truncated_quotient
from ledgerd.protocol.properties import ChainPropertiesHf14
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api.prediction_market.declared import PREDICTION_MARKET_API
from ledgerd.rpc.api.prediction_market.shared.id_lists import rows_page
from ledgerd.rpc.api.prediction_market.shared.remembered import head_time, of_this_head
from ledgerd.rpc.api.prediction_market.shared.risk import medians
from ledgerd.rpc.api.shared.kinds import existing
from ledgerd.rpc.call.counts import exactly, from_to
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.markets.disputes import CREATOR_BAN_BY_ACCOUNT, PmCreatorBan
from ledgerd.state.objects.markets.markets import ACTIVE, MARKET_BY_ORACLE_STATUS, PM_MARKETS, market_sums
from ledgerd.state.objects.markets.oracles import ORACLE_BY_OWNER, PM_ORACLES, PmOracle

BEGINNERS_SCORE = 6_000
EXPERIENCED = 20
"""Markets resolved; who has fewer is taken for a beginner in part."""
STAMP_COST, MOST_STAMPS, STAMP_HALVING = 300, 4, 864_000
"""What a penalty stamp takes from the score of an oracle, how many of them count, and the seconds until they count
half.
"""
MOST_HALVINGS = 16
"""How often what stamps take is halved."""
BAN_COST = 1_500

TIME_BOUNDS = (3_600, 21_600, 86_400, 259_200, 604_800, 1_209_600, 2_592_000, 2_592_000)


class OracleRecord(msgspec.Struct, frozen=True):
    """An oracle, and how well it does."""

    oracle: PmOracle
    reliability_score: UInt32
    markets_awaiting_resolution: UInt32
    oldest_unresolved_age: UInt32
    resolution_time_p50: UInt32
    resolution_time_p95: UInt32


@PREDICTION_MARKET_API.method(args=exactly(1, "_S"), examples=[["alice"]])
def get_oracle(view: ApiView, owner: AccountName) -> OracleRecord:
    """An oracle, and how well it does: 10,000 is as reliable as one can be."""
    oracle = existing(view.state.lookup(ORACLE_BY_OWNER, owner), "itr != idx.end(): Oracle not found")
    return oracle_record(view, oracle)


@PREDICTION_MARKET_API.method(args=from_to(2, 2), examples=[[0, 10]])
def list_oracles(view: ApiView, from_: UInt32, limit: UInt32) -> tuple[PmOracle, ...]:
    """Oracles by their names, as they are stored."""
    return rows_page(view, PM_ORACLES, ORACLE_BY_OWNER, (), from_, limit)


def oracle_record(view: ApiView, oracle: PmOracle) -> OracleRecord:
    waiting, oldest = of_this_head(view, ("late", oracle.owner), lambda: _late_markets(view, oracle.owner))
    hist = oracle.resolution_time_hist
    score = reliability_score(oracle, head_time(view))
    return OracleRecord(oracle, score, waiting, oldest, percentile(hist, 50), percentile(hist, 95))


def _late_markets(view: ApiView, oracle: AccountName) -> tuple[int, int]:
    now, count, oldest = head_time(view), 0, 0
    for market in view.state.ids_under(MARKET_BY_ORACLE_STATUS, oracle, ACTIVE):
        sums = view.state.peek(PM_MARKETS, market, market_sums)
        end = 0 if sums is None else sums.betting_expiration
        if 0 < end <= now:
            count += 1
            oldest = max(oldest, now - end)
    return count, oldest


def _share(part: int, whole: int) -> int:
    return truncated_quotient(part * HUNDRED_PERCENT, whole) if whole else HUNDRED_PERCENT


def reliability_score(oracle: PmOracle, now: int) -> int:
    """The reliability of an oracle so far (spec 11, section 4.3)."""
    resolved, received = oracle.markets_resolved, oracle.disputes_received
    accuracy = _share(resolved, resolved + oracle.missed_count)
    disputes = _share(oracle.disputes_won, oracle.disputes_won + oracle.disputes_lost)
    responses = _share(received - min(oracle.dispute_responses_missed, received), received)
    timely = _share(resolved - min(oracle.resolved_late_count, resolved), resolved)
    score = (accuracy * 40 + disputes * 30 + responses * 15 + timely * 15) // 100
    if oracle.penalty_stamps > 0:
        age = max(now - oracle.last_penalty_stamp_time, 0)
        score -= min(oracle.penalty_stamps, MOST_STAMPS) * STAMP_COST >> min(age // STAMP_HALVING, MOST_HALVINGS)
    score -= oracle.bans_received * BAN_COST
    if resolved < EXPERIENCED:
        score = truncated_quotient(score * resolved + BEGINNERS_SCORE * (EXPERIENCED - resolved), EXPERIENCED)
    return max(0, min(score, HUNDRED_PERCENT))


def percentile(counts: Sequence[int], percent: int) -> int:
    """The time within which so many of a hundred decisions were taken, as the bound of its class."""
    total = sum(counts)
    if not total:
        return 0
    wanted, reached = max((total * percent + 99) // 100, 1), 0
    for count, bound in zip(counts, TIME_BOUNDS, strict=True):
        reached += count
        if reached >= wanted:
            return bound
    return TIME_BOUNDS[-1]


@PREDICTION_MARKET_API.method(args=exactly(1, "_S"), examples=[["alice"]])
def get_creator_ban(view: ApiView, account: AccountName) -> PmCreatorBan:
    """Until when an account may open no markets."""
    ban = view.state.lookup(CREATOR_BAN_BY_ACCOUNT, account)
    return existing(ban, "itr != idx.end(): No creator ban for account")


@PREDICTION_MARKET_API.method(args=exactly(0, "_S"), examples=[[]])
def get_pm_chain_properties(view: ApiView) -> ChainPropertiesHf14:
    """The properties that the scheduled validators agree on, those of markets among them."""
    return medians(view)
