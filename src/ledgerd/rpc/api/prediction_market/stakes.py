"""What accounts have in markets: bets, liquidity, hidden bets, claims (spec 11, sections 4.6, 4.7 and 6)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import msgspec

from ledgerd.codec.types.numbers import Int8, Int16, Int64, ShareAmount, UInt8, UInt32
from ledgerd.pricing.parimutuel import FeeRates, Winner, expected_payout
from ledgerd.pricing.widths import int64
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api.prediction_market.declared import NEWEST, OLDEST, PREDICTION_MARKET_API, require_limit_explained
from ledgerd.rpc.api.prediction_market.shared.cards import require_market
from ledgerd.rpc.api.prediction_market.shared.id_lists import rows_page
from ledgerd.rpc.api.prediction_market.shared.remembered import of_this_head
from ledgerd.rpc.call.counts import exactly, from_to
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.markets.bets import ACTIVE as ACTIVE_BET
from ledgerd.state.objects.markets.bets import BET_BY_ACCOUNT, BET_BY_MARKET, PM_BETS, PmBet, bet_weight
from ledgerd.state.objects.markets.bets import RESOLVED as RESOLVED_BET
from ledgerd.state.objects.markets.commitments import COMMIT_BY_ACCOUNT, COMMITTED, PmCommit
from ledgerd.state.objects.markets.liquidity import LIQUIDITY_BY_MARKET, PM_LIQUIDITY, PmLiquidity
from ledgerd.state.objects.markets.markets import OUTCOME_BY_MARKET, PM_MARKETS, RESOLVED, PmMarket, PmOutcome
from ledgerd.state.objects.markets.settlements import DEFERRED_CLAIM_BY_MARKET, PmDeferredClaim

BINARY = 0
BINARY_LABELS = ("A", "B")


class Position(msgspec.Struct, frozen=True):
    """A bet with what it may bring."""

    bet: PmBet
    expected_payout: ShareAmount
    market_status: Int8
    resolved_outcome: Int16


class OutcomeSums(msgspec.Struct, frozen=True):
    """What is bet on an outcome."""

    outcome_index: UInt8
    label: str
    bets_sum: ShareAmount
    weight_sum: Int64


class WeightSums(msgspec.Struct, frozen=True):
    """What is bet on each outcome of a market."""

    market_type: UInt8
    bets_sum: ShareAmount
    outcomes: tuple[OutcomeSums, ...]


class Side(NamedTuple):
    """What is bet on one side of a market, and how much of its winnings that is worth."""

    amount: int = 0
    weight: int = 0


@PREDICTION_MARKET_API.method(args=exactly(1, "_S"), examples=[[0]])
def get_market_outcomes(view: ApiView, market: Int64) -> tuple[PmOutcome, ...]:
    """The outcomes of a market."""
    return outcomes_of(view, market)


def outcomes_of(view: ApiView, market: int) -> tuple[PmOutcome, ...]:
    return tuple(view.state.under(OUTCOME_BY_MARKET, market))


@PREDICTION_MARKET_API.method(args=exactly(1, "_S"), examples=[[0]])
def get_market_weight_sums(view: ApiView, market: Int64) -> WeightSums:
    """What is bet on each outcome, and what it weighs: prices are derived from these."""
    return weight_sums_of(view, require_market(view, market))


def weight_sums_of(view: ApiView, market: PmMarket) -> WeightSums:
    labels = {each.outcome_index: each.label for each in outcomes_of(view, market.id)}
    sides = _sides(view, market)
    outcomes = []
    for index in range(market.outcome_count):
        label = labels.get(index, "")
        if not label and market.market_type == BINARY:
            label = BINARY_LABELS[min(index, 1)]
        side = sides.get(index, Side())
        outcomes.append(OutcomeSums(index, label, side.amount, side.weight))
    return WeightSums(market.market_type, market.bets_sum, tuple(outcomes))


def _sides(view: ApiView, market: PmMarket) -> dict[int, Side]:
    return of_this_head(view, ("sides", market.id), lambda: _sum_sides(view, market))


def _sum_sides(view: ApiView, market: PmMarket) -> dict[int, Side]:
    amounts: dict[int, int] = {}
    weights: dict[int, int] = {}
    bets = view.state.peek_all(BET_BY_MARKET, bet_weight, lower=(market.id,), upper=(market.id,))
    is_binary = market.market_type == BINARY
    for binary_side, outcome, amount, weight, status in bets:
        if status in {ACTIVE_BET, RESOLVED_BET}:
            side = binary_side if is_binary else outcome
            amounts[side] = amounts.get(side, 0) + amount
            weights[side] = weights.get(side, 0) + weight
    return {side: Side(amount, weights[side]) for side, amount in amounts.items()}


@PREDICTION_MARKET_API.method(args=from_to(3, 4), examples=[[0, 0, 10], [0, 0, 10, "oldest"]])
def get_market_bets(
    view: ApiView, market: Int64, from_: UInt32, limit: UInt32, order: str = NEWEST
) -> tuple[PmBet, ...]:
    """The bets on a market, the newest first unless `oldest` is asked for."""
    return rows_page(view, PM_BETS, BET_BY_MARKET, (market,), from_, limit, newest=order != OLDEST)


@PREDICTION_MARKET_API.method(args=from_to(3, 4), examples=[["alice", 0, 10]])
def get_account_positions(
    view: ApiView, account: AccountName, from_: UInt32, limit: UInt32, order: str = NEWEST
) -> tuple[Position, ...]:
    """The bets of an account with what each may bring, the newest first unless `oldest` is asked for."""
    bets = rows_page(view, PM_BETS, BET_BY_ACCOUNT, (account,), from_, limit, newest=order != OLDEST)
    return positions_of(view, bets)


def positions_of(view: ApiView, bets: Iterable[PmBet]) -> tuple[Position, ...]:
    markets: dict[int, PmMarket | None] = {}
    found = []
    for bet in bets:
        if bet.market not in markets:
            markets[bet.market] = view.state.find(PM_MARKETS, bet.market)
        market = markets[bet.market]
        if market is None:
            found.append(Position(bet, 0, 0, -1))
        else:
            found.append(Position(bet, _expected_payout(view, bet, market), market.status, market.resolved_outcome))
    return tuple(found)


def _expected_payout(view: ApiView, bet: PmBet, market: PmMarket) -> int:
    """The payout of a bet if its side won, or its payout if that is known (spec 11, section 4.6)."""
    if bet.status == RESOLVED_BET:
        return bet.resolved_amount
    if bet.status != ACTIVE_BET:
        return 0
    side = bet.side if market.market_type == BINARY else bet.outcome_index
    if market.status == RESOLVED and 0 <= market.resolved_outcome != side:
        return 0
    own = _sides(view, market).get(side, Side())
    return expected_payout(
        Winner(bet.amount, bet.weight, bet.time_penalty),
        max(int64(market.bets_sum - own.amount), 0),
        own.weight,
        FeeRates(
            market.oracle_fee_percent,
            market.creator_fee_percent,
            market.liquidity_fee_percent,
            market.oracle_fixed_fee,
        ),
        market.forfeit_pool,
    )


@PREDICTION_MARKET_API.method(args=from_to(3, 3), examples=[[0, 0, 10]])
def get_market_liquidity(view: ApiView, market: Int64, from_: UInt32, limit: UInt32) -> tuple[PmLiquidity, ...]:
    """What stands behind a market, the oldest first; the provider without a name is the lazy pool."""
    return rows_page(view, PM_LIQUIDITY, LIQUIDITY_BY_MARKET, (market,), from_, limit)


@PREDICTION_MARKET_API.method(args=from_to(1, 3), examples=[[0], [0, 0, 10]])
def get_deferred_claims(
    view: ApiView, market: Int64, from_: UInt32 = 0, limit: UInt32 = 100
) -> tuple[PmDeferredClaim, ...]:
    """What those who left a market early get of its end, from a claim's id on."""
    require_limit_explained(limit)
    claims = view.state.scan(DEFERRED_CLAIM_BY_MARKET, lower=(market, from_), upper=(market,))
    return tuple(islice(claims, limit))


@PREDICTION_MARKET_API.method(args=from_to(1, 2), examples=[["alice"], ["alice", False]])
def get_account_commits(view: ApiView, account: AccountName, open_only: bool = True) -> tuple[PmCommit, ...]:
    """The hidden bets of an account; with those that were shown or forfeited, if asked for."""
    commits = view.state.under(COMMIT_BY_ACCOUNT, account)
    return tuple(each for each in commits if not open_only or each.status == COMMITTED)
