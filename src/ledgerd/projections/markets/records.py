"""All that `prediction_market_api` needs beside the ledger, as one projection."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ledgerd.chain.ledger.ledger import Projection, Sample, Sampler
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
from ledgerd.projections.markets.open_books import begin_records, count_open_bets
from ledgerd.projections.markets.places import place_samplers, write_places
from ledgerd.protocol.operations.markets import PmCreateMarket
from ledgerd.state.objects.market_records import PM_LABEL_COUNTS, PM_MARKET_META, POINTS_MOVED_AFTER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledgerd.chain.events import AppliedOperation
    from ledgerd.chain.ledger.ledger import Ledger
    from ledgerd.protocol.operations import Operation


def begin_after_import(ledger: Ledger) -> None:
    """Work out what is kept beside imported metadata; from the next block on all of it is kept."""
    for label in list(ledger.store.scan(PM_LABEL_COUNTS)):
        ledger.store.remove(label)
    for meta in ledger.store.scan(PM_MARKET_META):
        count_labels(ledger, meta, 1)
    begin_records(ledger, ledger.head_number + 1)


class MarketRecords(Projection):
    """Metadata, price points, labels, open books, and the markets of operations that do not name them."""

    def __init__(self, kept_days: int = KEPT_DAYS, *, skips_virtual: bool = False) -> None:
        """Metadata and points are kept so many days after the disputes of each market; 0 stands for ever."""
        self._kept_days = kept_days
        samplers = defaultdict[type["Operation"], list[Sampler]](list)
        for each in (point_samplers(skips_virtual=skips_virtual), place_samplers()):
            for kind, sampler in each.items():
                samplers[kind].append(sampler)
        samplers[PmCreateMarket].append(MetadataSampler(kept_days))
        self.samplers = {kind: tuple(wanted) for kind, wanted in samplers.items()}

    def write(self, ledger: Ledger, operations: Sequence[AppliedOperation], samples: Sequence[Sample]) -> None:
        if samples:
            for sample in samples:
                if isinstance(sample.found, NewMetadata):
                    write_metadata(ledger, sample.found)
            write_points(ledger, samples)
            write_places(ledger, operations, samples)
        count_open_bets(ledger)
        is_due = self._kept_days > 0 and are_records_old(ledger)
        if is_due or ledger.head_number % POINTS_MOVED_AFTER == 0:
            move_points(ledger)
        if is_due:
            remove_old_records(ledger)
