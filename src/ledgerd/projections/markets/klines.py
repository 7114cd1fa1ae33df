"""Price points: what was bet on a market, and on each of its outcomes, after each change (spec 11, section 3.5).

A block writes all its points as one row. Every few blocks these rows are moved to the chunks of their markets: a market
with many bets is written once for all of them, and a block of bets on hundreds of markets writes next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ledgerd.chain.interface.observer import Samplers
from ledgerd.chain.ledger.events import Sample
from ledgerd.chain.ledger.ledger import Ledger, Sampler
from ledgerd.projections.tables import market_records
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.markets.bets import INSTANT, PmCancelBet, PmPlaceBet
from ledgerd.protocol.operations.markets.leverage import PmLeverageOpen
from ledgerd.protocol.operations.markets.markets import BINARY
from ledgerd.protocol.operations.markets.virtual_markets import PmBatchSettle, PmLeverageLiquidate, PmLeverageResolve
from ledgerd.state.objects.markets.bets import PM_BETS
from ledgerd.state.objects.markets.markets import OUTCOME_BY_MARKET, PM_MARKETS, PmMarket
from ledgerd.state.store import Store

placed_layout_of = cache(market_records.placed_layout)
_pack_binary = market_records.placed_layout(2).pack


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
"""The operations that make a point, with the number that the point stores for each, and the market concerned."""

VIRTUAL = (PmLeverageLiquidate, PmBatchSettle, PmLeverageResolve)


def point_samplers(*, skips_virtual: bool = False) -> Samplers:
    """Make a point after each of these operations; the virtual ones may be left out."""
    return {
        kind: (PointSampler(reason, market_of),)
        for reason, (kind, market_of) in enumerate(REASONS)
        if not (skips_virtual and kind in VIRTUAL)
    }


class PointSampler(Sampler):
    """The bets on a market after an operation, as the bytes of a point."""

    def __init__(self, reason: int, market_of: Callable[[Ledger, Any], int | None]) -> None:
        self._reason = reason
        self._market_of = market_of

    def after(self, ledger: Ledger, operation: Operation, _before: None) -> bytes | None:
        market_id = self._market_of(ledger, operation)
        market = None if market_id is None else ledger.store.find(PM_MARKETS, market_id)
        return None if market is None else _point(ledger, market, self._reason)


def _point(ledger: Ledger, market: PmMarket, reason: int) -> bytes:
    block, now = ledger.cursor.block, ledger.now
    if market.market_type == BINARY:
        return _pack_binary(market.id, 2, block, now, reason, market.bets_sum, market.a_bets_sum, market.b_bets_sum)
    weights = _weights(ledger, market)
    count = len(weights)
    return placed_layout_of(count).pack(market.id, count, block, now, reason, market.bets_sum, *weights)


def _weights(ledger: Ledger, market: PmMarket) -> list[int]:
    outcomes = (ledger.store.lookup(OUTCOME_BY_MARKET, market.id, index) for index in range(market.outcome_count))
    return [0 if outcome is None else outcome.bets_sum for outcome in outcomes]


def write_points(kept: Store, block: int, samples: Sequence[Sample]) -> None:
    points = b"".join([each.found for each in samples if type(each.found) is bytes])
    if points:
        kept.create(market_records.PM_RECENT_POINTS, market_records.PmRecentPoints(block=block, points=points))


def move_points(kept: Store) -> None:
    """Move the points of the last blocks to the chunks of their markets."""
    recent = list(kept.scan(market_records.PM_RECENT_POINTS))
    points: dict[tuple[int, int], list[bytes]] = {}
    for block in recent:
        for market, outcomes, point in block:
            points.setdefault((market, outcomes), []).append(point)
        kept.remove(block)
    for (market, outcomes), added in points.items():
        _append(kept, market, outcomes, added)


def _append(kept: Store, market: int, outcomes: int, points: list[bytes]) -> None:
    chunk = kept.lookup(market_records.KLINE_BY_MARKET, market, market_records.NEWEST)
    if chunk is not None:
        room = market_records.POINTS_A_CHUNK - len(chunk.points) // chunk.point_size
        if room > 0:
            with kept.editing(chunk):
                chunk.points += b"".join(points[:room])
            points = points[room:]
    while points:
        first = 0
        if chunk is not None:
            first = chunk.end
            with kept.editing(chunk):
                chunk.number = first
        added, points = b"".join(points[: market_records.POINTS_A_CHUNK]), points[market_records.POINTS_A_CHUNK :]
        chunk = kept.create(
            market_records.PM_KLINE_CHUNKS,
            market_records.PmKlineChunk(market=market, first=first, outcomes=outcomes, points=added),
        )
