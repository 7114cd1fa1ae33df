"""How the bets on a market came to be, point by point (spec 11, sections 3.5 and 6)."""

from __future__ import annotations

from typing import Annotated

import msgspec

from ledgerd.codec.json_text import integer_text
from ledgerd.codec.numbers import Int64, ShareAmount, UInt8, UInt32
from ledgerd.rpc.api.kinds import Printed
from ledgerd.rpc.api.prediction_market.declared import PREDICTION_MARKET_API, require_told_limit
from ledgerd.rpc.call.counts import from_to
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.market_records import KLINE_BY_MARKET, PM_KLINE_CHUNKS, PmKlineChunk
from ledgerd.state.view import View


class Kline(msgspec.Struct, frozen=True):
    """What was bet on a market, and on each of its outcomes, after something changed it."""

    seq: UInt32
    timestamp: UInt32
    reason: UInt8
    bets_sum: ShareAmount
    weights: tuple[ShareAmount, ...]


Klines = Annotated[str, Printed(tuple[Kline, ...])]


def printed_points(chunk: PmKlineChunk) -> tuple[str, ...]:
    """The points of a chunk in JSON."""
    return tuple(
        f'{{"seq":{seq},"timestamp":{point.timestamp},"reason":{point.reason},'
        f'"bets_sum":{integer_text(point.bets_sum)},"weights":[{",".join(map(integer_text, point.weights))}]}}'
        for seq, point in enumerate(chunk, chunk.first)
    )


def _located(chunk: PmKlineChunk) -> tuple[int, tuple[str, ...]]:
    """The number of a chunk's first point, and all of them printed."""
    return chunk.first, printed_points(chunk)


def points_between(state: View, market: int, first: int, end: int) -> list[str]:
    """The points of a market by their numbers, printed; those that were removed are left out."""
    found: list[str] = []
    for object_id in state.scan_ids(KLINE_BY_MARKET, lower=(market,), upper=(market,), reverse=True):
        located = state.derived(_located, PM_KLINE_CHUNKS.by_id, object_id)
        if located is None:
            continue
        begin, texts = located
        found[:0] = texts[max(0, first - begin) : max(0, end - begin)]
        if begin <= first:
            break
    return found


def points_of_blocks(state: View, market: int, first: int, last: int) -> list[str]:
    """The points that a range of blocks has made, printed."""
    found: list[str] = []
    for chunk in state.scan(KLINE_BY_MARKET, lower=(market,), upper=(market,), reverse=True):
        texts = printed_points(chunk)
        found[:0] = [text for point, text in zip(chunk, texts, strict=True) if first <= point.block <= last]
        if next(iter(chunk)).block < first:
            break
    return found


@PREDICTION_MARKET_API.method(args=from_to(1, 3), examples=[[0], [0, 0, 10]])
def get_market_kline(view: ApiView, market: Int64, from_: UInt32 = 0, limit: UInt32 = 1000) -> Klines:
    """The newest points of a market but `from`, so many at most, the oldest first.

    The reason of a point: 0 bet, 1 cancelled bet, 2 liquidation, 3 settled batch, 4 bet with a loan, 5 end of a loan.
    """
    require_told_limit(limit)
    newest = view.state.first(KLINE_BY_MARKET, lower=(market,), upper=(market,), reverse=True)
    count = 0 if newest is None else newest.end
    end = count - from_
    if end <= 0:
        return "[]"
    points = points_between(view.state, market, max(0, end - limit), end)
    return f"[{','.join(points)}]"
