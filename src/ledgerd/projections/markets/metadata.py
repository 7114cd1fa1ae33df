"""The metadata of markets as it is stored: made with its market, removed when its time is over (spec 11, section 3).

It is changed in the session of the block that it depends on, and so undone with it.
"""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.basics.durations import DAY
from ledgerd.chain.ledger.ledger import Ledger, Sampler
from ledgerd.projections.markets.labels import count_labels
from ledgerd.projections.markets.metadata_text import metadata_of
from ledgerd.projections.tables import market_records
from ledgerd.protocol.operations.markets.markets import PmCreateMarket
from ledgerd.state.objects.markets.markets import PM_MARKETS
from ledgerd.state.store import Store

KEPT_DAYS = 5
"""Days for which metadata is kept after the time for disputes, by default; 0 keeps it for ever."""

REMOVED_A_BLOCK = 200
"""Points and metadata together."""

_UINT32 = 0xFFFFFFFF


class NewMetadata(NamedTuple):
    """The metadata that the creator of a market gives."""

    market: int
    text: str
    expiry: int


class MetadataSampler(Sampler):
    """The metadata of a new market, which is kept for so many days after its disputes."""

    def __init__(self, kept_days: int) -> None:
        self._kept_days = kept_days

    def after(self, ledger: Ledger, operation: PmCreateMarket, _before: None) -> NewMetadata | None:
        market = ledger.store.find(PM_MARKETS, ledger.store.next_id(PM_MARKETS) - 1)
        if market is None or market.creator != operation.creator:
            return None
        expiry = expiry_of(ledger, market.result_expiration, self._kept_days)
        return NewMetadata(market.id, operation.metadata, expiry)


def expiry_of(ledger: Ledger, result_expiration: int, kept_days: int) -> int:
    """The time at which the metadata of a market is removed."""
    return (result_expiration + ledger.median.pm_dispute_grace_sec + kept_days * DAY) & _UINT32


def write_metadata(kept: Store, new: NewMetadata) -> None:
    """Store what is said of a market, unless something is stored already."""
    if kept.lookup(market_records.META_BY_MARKET, new.market) is not None:
        return
    meta = metadata_of(new.text)
    meta.market, meta.expiry = new.market, new.expiry
    kept.create(market_records.PM_MARKET_META, meta)
    count_labels(kept, meta, 1)


def are_records_old(kept: Store, now: int) -> bool:
    earliest = kept.front(market_records.META_BY_EXPIRY, 1, _expiry_of)
    return bool(earliest) and earliest[0] <= now


def remove_old_records(kept: Store, now: int) -> None:
    """At the end of a block, remove some of what has been kept long enough (spec 11, section 3.6).

    Points first, in their order; metadata when no point of its market is left.
    """
    budget = REMOVED_A_BLOCK
    for meta in kept.scan(market_records.META_BY_EXPIRY, upper=(now,)):
        for chunk in kept.under(market_records.KLINE_BY_MARKET, meta.market):
            budget -= _remove_points(kept, chunk, budget)
            if budget <= 0:
                return
        count_labels(kept, meta, -1)
        kept.remove(meta)
        budget -= 1
        if budget <= 0:
            return


def _expiry_of(meta: market_records.PmMarketMeta) -> int:
    return meta.expiry


def _remove_points(kept: Store, chunk: market_records.PmKlineChunk, most: int) -> int:
    """Remove so many points of a chunk at most, its first ones; returns how many it were."""
    count = chunk.end - chunk.first
    if count <= most:
        kept.remove(chunk)
        return count
    with kept.editing(chunk):
        chunk.points = chunk.points[most * chunk.point_size :]
        chunk.first += most
    return most
