"""All that `prediction_market_api` needs beside the ledger, as one projection."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ledgerd.chain.interface.observer import Samplers, merged
from ledgerd.chain.ledger.events import BlockApplied, Change, Sample
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
from ledgerd.projections.markets.places import place_samplers, write_places
from ledgerd.projections.projection import Projection
from ledgerd.projections.tables import market_records
from ledgerd.protocol.operations.markets.markets import PmCreateMarket
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.markets.markets import ACTIVE, PM_MARKETS, PmMarket
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


def count_open_bets(kept: Store, changed: Iterable[Change]) -> None:
    """Keep the sums of bets on the open markets of each oracle, by what each block changes (spec 11, section 4.2)."""
    changes: dict[AccountName, int] = defaultdict(int)
    for before, after in changed:
        was, now = _open_bets(before), _open_bets(after)
        if was != now:
            changes[(after or before).oracle] += now - was
    _apply_changes(kept, changes)


def count_all_open_bets(kept: Store, state: View) -> None:
    for book in list(kept.scan(market_records.PM_OPEN_BOOKS)):
        kept.remove(book)
    sums: dict[AccountName, int] = defaultdict(int)
    for market in state.scan(PM_MARKETS):
        sums[market.oracle] += _open_bets(market)
    _apply_changes(kept, sums)


def _open_bets(market: PmMarket | None) -> int:
    return market.bets_sum if market is not None and market.status == ACTIVE else 0


def _apply_changes(kept: Store, changes: Mapping[AccountName, int]) -> None:
    for oracle, change in changes.items():
        if not change:
            continue
        book = kept.lookup(market_records.OPEN_BOOK_BY_ORACLE, oracle)
        if book is None:
            kept.create(market_records.PM_OPEN_BOOKS, market_records.PmOpenBook(oracle=oracle, bets_sum=change))
        elif book.bets_sum + change == 0:
            kept.remove(book)
        else:
            with kept.editing(book):
                book.bets_sum += change
