"""Markets in the order of what was bet on them, or of when their betting ends (spec 11, section 4.9)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress, islice
from typing import Any

from ledgerd.projections.tables.market_records import PM_MARKET_META, meta_market, meta_numbers
from ledgerd.rpc.api.prediction_market.shared.id_lists import Ids, id_list
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.markets.markets import PM_MARKETS, MarketSums, market_sums
from ledgerd.state.tables.tables import Index, Key
from ledgerd.state.views.view import View

VOLUME, EXPIRATION = "volume", "expiration"
SORTED = (VOLUME, EXPIRATION)

MOST_SORTED = 32_768
"""A longer list is in the order of the newest first."""

NEVER = 1 << 63
MOST_LOOKED_UP = 5_000
"""Rows that are looked up one by one; where there are more, the whole table is gone through."""

READ_TOGETHER = 1_024
"""Rows of the whole table."""

GONE = MarketSums()


def sorted_ids(view: ApiView, index: Index[Any], key: Key, order: str) -> Ids | None:
    """All markets under a key in an order; none if there are too many of them."""

    def found() -> Iterable[int]:
        ids = list(islice(view.state.ids_under(index, *key), MOST_SORTED + 1))
        return in_order(view, ids, order) if len(ids) <= MOST_SORTED else ()

    ids = id_list(view, (index.title, key, order), found)
    return ids or None


def markets_of(kept: View, metas: Sequence[int]) -> list[int]:
    """The markets that metadata is of, by ids in ascending order; all of them must be there."""
    if len(metas) <= MOST_LOOKED_UP:
        return [kept.peek(PM_MARKET_META, each, meta_market) or 0 for each in metas]
    rows, wanted, found = kept.scan_bytes(PM_MARKET_META), frozenset(metas), list[int]()
    while some := list(islice(rows, READ_TOGETHER)):
        ids, markets = meta_numbers(some)
        found += compress(markets, map(wanted.__contains__, ids))
    return found


def in_order(view: ApiView, markets: list[int], order: str) -> list[int]:
    """Markets by an order; those that are equal in it stay as they are."""
    sums = {market: view.state.peek(PM_MARKETS, market, market_sums) or GONE for market in markets}
    if order == VOLUME:
        return sorted(markets, key=lambda market: -sums[market].bets_sum)
    return sorted(markets, key=lambda market: sums[market].betting_expiration or NEVER)
