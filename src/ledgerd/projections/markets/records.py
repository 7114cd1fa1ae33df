"""All that `prediction_market_api` needs beside the ledger, as one projection."""

from __future__ import annotations

from collections.abc import Sequence

from ledgerd.chain.interface.observer import Samplers, merged
from ledgerd.chain.ledger.events import BlockApplied, Sample
from ledgerd.projections.markets.klines import move_points, point_samplers, write_points
from ledgerd.projections.markets.labels import count_labels
from ledgerd.projections.markets.metadata import (
    KEPT_DAYS,
    MetadataSampler,
    NewMetadata,
    are_records_old,
    remove_old_records,
    write_metadata,
)
from ledgerd.projections.markets.open_books import count_all_open_bets, count_open_bets
from ledgerd.projections.markets.places import place_samplers, write_places
from ledgerd.projections.projection import Projection
from ledgerd.projections.tables import market_records
from ledgerd.protocol.operations.markets.markets import PmCreateMarket
from ledgerd.state.objects.markets.markets import PM_MARKETS
from ledgerd.state.store import Store
from ledgerd.state.views.view import View


class MarketRecords(Projection):
    """Metadata, price points, labels, open books, and the markets of operations that do not name them."""

    name = "markets"
    tables = frozenset({PM_MARKETS})

    def __init__(self, kept_days: int = KEPT_DAYS, *, skips_virtual: bool = False) -> None:
        """Metadata and points are kept so many days after the disputes of each market; 0 stands for ever."""
        self._kept_days = kept_days
        metadata: Samplers = {PmCreateMarket: (MetadataSampler(kept_days),)}
        self.samplers = merged((point_samplers(skips_virtual=skips_virtual), place_samplers(), metadata))

    def begin(self, state: View, kept: Store, head: int) -> None:
        """Work out what is kept beside the metadata that is there; from the next block on all of it is kept."""
        for label in list(kept.scan(market_records.PM_LABEL_COUNTS)):
            kept.remove(label)
        for meta in kept.scan(market_records.PM_MARKET_META):
            count_labels(kept, meta, 1)
        count_all_open_bets(kept, state)
        since = kept.find(market_records.PM_RECORDS_SINCE, 0) or kept.create(
            market_records.PM_RECORDS_SINCE, market_records.PmRecordsSince()
        )
        with kept.editing(since):
            since.block = head + 1

    def apply(self, event: BlockApplied, samples: Sequence[Sample], kept: Store) -> None:
        block, now = event.block.number, event.block.timestamp
        if samples:
            for sample in samples:
                if isinstance(sample.found, NewMetadata):
                    write_metadata(kept, sample.found)
            write_points(kept, block, samples)
            write_places(kept, event, samples)
        if event.changes:
            count_open_bets(kept, event.changes.get(PM_MARKETS, ()))
        is_due = self._kept_days > 0 and are_records_old(kept, now)
        if is_due or block % market_records.POINTS_MOVED_AFTER == 0:
            move_points(kept)
        if is_due:
            remove_old_records(kept, now)
