"""How the bets on a market came to be, point by point (spec 11, sections 3.5 and 6)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Annotated

import msgspec

from ledgerd.codec.json.text import integer_text
from ledgerd.codec.types.numbers import Int64, ShareAmount, UInt8, UInt32
from ledgerd.projections.tables import market_records
from ledgerd.rpc.api.prediction_market.declared import PREDICTION_MARKET_API, require_limit_explained
from ledgerd.rpc.api.shared.kinds import Printed
from ledgerd.rpc.call.counts import from_to
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.views.view import View


class Kline(msgspec.Struct, frozen=True):
    """What was bet on a market, and on each of its outcomes, after something changed it."""

    seq: UInt32
    timestamp: UInt32
    reason: UInt8
    bets_sum: ShareAmount
    weights: tuple[ShareAmount, ...]


Klines = Annotated[str, Printed(tuple[Kline, ...])]


def _printed(first: int, points: Iterable[market_records.KlinePoint]) -> tuple[str, ...]:
    return tuple(
        f'{{"seq":{seq},"timestamp":{point.timestamp},"reason":{point.reason},'
        f'"bets_sum":{integer_text(point.bets_sum)},"weights":[{",".join(map(integer_text, point.weights))}]}}'
        for seq, point in enumerate(points, first)
    )


def _located(chunk: market_records.PmKlineChunk) -> tuple[int, tuple[str, ...]]:
    return chunk.first, _printed(chunk.first, chunk)


def _by_market(block: market_records.PmRecentPoints) -> dict[int, tuple[market_records.KlinePoint, ...]]:
    found: dict[int, list[market_records.KlinePoint]] = {}
    for market, outcomes, packed in block:
        found.setdefault(market, []).extend(market_records.points_of(outcomes, packed))
    return {market: tuple(points) for market, points in found.items()}


def _recent(kept: View, market: int) -> list[market_records.KlinePoint]:
    """The points of the last blocks, which are in no chunk yet."""
    found: list[market_records.KlinePoint] = []
    for object_id in kept.scan_ids(market_records.PM_RECENT_POINTS):
        found += (kept.derived(_by_market, market_records.PM_RECENT_POINTS.by_id, object_id) or {}).get(market, ())
    return found


def _points_in_chunks(kept: View, market: int) -> int:
    """The number of points of a market that are in chunks; those of the last blocks are not yet."""
    newest = kept.first(market_records.KLINE_BY_MARKET, lower=(market,), upper=(market,), reverse=True)
    return 0 if newest is None else newest.end


def points_between(
    kept: View, market: int, first: int, end: int, moved: int, recent: list[market_records.KlinePoint]
) -> list[str]:
    """The points of a market with numbers from `first` to `end`, printed; those that were removed are left out.

    The first `moved` ones are in chunks, `recent` are the others.
    """
    begin = max(moved, first)
    found = list(_printed(begin, recent[begin - moved : max(0, end - moved)]))
    if first >= moved:
        return found
    for object_id in kept.ids_under(market_records.KLINE_BY_MARKET, market, reverse=True):
        located = kept.derived(_located, market_records.PM_KLINE_CHUNKS.by_id, object_id)
        if located is None:
            continue
        begin, texts = located
        found[:0] = texts[max(0, first - begin) : max(0, end - begin)]
        if begin <= first:
            break
    return found


def points_of_blocks(kept: View, market: int, first: int, last: int) -> list[str]:
    """The points that a range of blocks has made, printed. Few others are read, however many there are."""

    def last_block(chunk_id: int) -> int:
        return kept.get(market_records.PM_KLINE_CHUNKS, chunk_id).last_block

    found: list[str] = []
    chunks = list(kept.ids_under(market_records.KLINE_BY_MARKET, market))
    for chunk_id in chunks[bisect_left(chunks, first, key=last_block) :]:
        chunk = kept.get(market_records.PM_KLINE_CHUNKS, chunk_id)
        if next(iter(chunk)).block > last:
            break
        found += _between(list(chunk), chunk.first, first, last)
    return found + _between(_recent(kept, market), _points_in_chunks(kept, market), first, last)


def _between(points: list[market_records.KlinePoint], number: int, first: int, last: int) -> list[str]:
    texts = zip(points, _printed(number, points), strict=True)
    return [text for point, text in texts if first <= point.block <= last]


@PREDICTION_MARKET_API.method(args=from_to(1, 3), examples=[[0], [0, 0, 10]])
def get_market_kline(view: ApiView, market: Int64, from_: UInt32 = 0, limit: UInt32 = 1000) -> Klines:
    """The newest points of a market without the newest `from`, at most `limit` of them, the oldest first.

    The reason of a point: 0 bet, 1 cancelled bet, 2 liquidation, 3 settled batch, 4 bet with a loan, 5 end of a loan.
    """
    require_limit_explained(limit)
    kept = view.projections
    moved, recent = _points_in_chunks(kept, market), _recent(kept, market)
    end = moved + len(recent) - from_
    if end <= 0:
        return "[]"
    points = points_between(kept, market, max(0, end - limit), end, moved, recent)
    return f"[{','.join(points)}]"
