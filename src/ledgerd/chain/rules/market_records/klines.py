"""Price points: what was bet on a market, and on each of its outcomes, after each change (spec 11, section 3.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from ledgerd.protocol.operations.bets import INSTANT, PmCancelBet, PmPlaceBet
from ledgerd.protocol.operations.leverage import PmLeverageOpen
from ledgerd.protocol.operations.virtual_markets import PmBatchSettle, PmLeverageLiquidate, PmLeverageResolve
from ledgerd.state.objects.bets import PM_BETS
from ledgerd.state.objects.market_records import (
    KLINE_BY_MARKET,
    NEWEST,
    PM_KLINE_CHUNKS,
    POINTS_A_CHUNK,
    PmKlineChunk,
    point_layout,
)
from ledgerd.state.objects.markets import OUTCOME_BY_MARKET, PM_MARKETS

if TYPE_CHECKING:
    from ledgerd.chain.ledger.ledger import Follower, Followers, Ledger
    from ledgerd.protocol.operations import Operation
    from ledgerd.state.objects.markets import PmMarket

BINARY = 0

layout_of = cache(point_layout)


def _named(_ledger: Ledger, operation: Any) -> int | None:  # noqa: ANN401 - of all kinds that name their market
    market: int = operation.market_id
    return market


def _of_instant_bet(_ledger: Ledger, operation: PmPlaceBet) -> int | None:
    return operation.market_id if operation.mode == INSTANT else None


def _of_cancelled_bet(ledger: Ledger, operation: PmCancelBet) -> int | None:
    bet = ledger.store.find(PM_BETS, operation.bet_id)
    return None if bet is None else bet.market


REASONS: tuple[tuple[type[Operation], Callable[[Ledger, Any], int | None]], ...] = (
    (PmPlaceBet, _of_instant_bet),
    (PmCancelBet, _of_cancelled_bet),
    (PmLeverageLiquidate, _named),
    (PmBatchSettle, _named),
    (PmLeverageOpen, _named),
    (PmLeverageResolve, _named),
)
"""What makes a point, by the number that stands in it, and of which market."""

VIRTUAL = (PmLeverageLiquidate, PmBatchSettle, PmLeverageResolve)


def kline_followers(*, skips_virtual: bool = False) -> Followers:
    """Add a point after each of these operations; the virtual ones may be left out."""
    return {
        kind: _follower(reason, market_of)
        for reason, (kind, market_of) in enumerate(REASONS)
        if not (skips_virtual and kind in VIRTUAL)
    }


def _follower(reason: int, market_of: Callable[[Ledger, Any], int | None]) -> Follower:
    @contextmanager
    def follow(ledger: Ledger, operation: Operation) -> Iterator[None]:
        yield
        market_id = market_of(ledger, operation)
        market = None if market_id is None else ledger.store.find(PM_MARKETS, market_id)
        if market is not None:
            _append(ledger, market, reason)

    return follow


def _append(ledger: Ledger, market: PmMarket, reason: int) -> None:
    weights = _weights(ledger, market)
    point = layout_of(len(weights)).pack(ledger.cursor.block, ledger.now, reason, market.bets_sum, *weights)
    chunk = ledger.store.lookup(KLINE_BY_MARKET, market.id, NEWEST)
    if chunk is not None and len(chunk.points) < POINTS_A_CHUNK * len(point):
        with ledger.editing(chunk):
            chunk.points += point
        return
    first = 0
    if chunk is not None:
        first = chunk.end
        with ledger.editing(chunk):
            chunk.number = first
    ledger.store.create(
        PM_KLINE_CHUNKS, PmKlineChunk(market=market.id, first=first, outcomes=len(weights), points=point)
    )


def _weights(ledger: Ledger, market: PmMarket) -> list[int]:
    """What was bet on each outcome."""
    if market.market_type == BINARY:
        return [market.a_bets_sum, market.b_bets_sum]
    outcomes = (ledger.store.lookup(OUTCOME_BY_MARKET, market.id, index) for index in range(market.outcome_count))
    return [0 if outcome is None else outcome.bets_sum for outcome in outcomes]
