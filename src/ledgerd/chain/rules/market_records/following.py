"""All that has to be followed for `prediction_market_api`, in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledgerd.chain.rules.market_records.klines import kline_noters, move_points, write_points
from ledgerd.chain.rules.market_records.labels import count_labels
from ledgerd.chain.rules.market_records.metadata import (
    KEPT_DAYS,
    are_records_old,
    new_market_noter,
    remove_old_records,
)
from ledgerd.chain.rules.market_records.open_books import begin_records, count_open_bets
from ledgerd.chain.rules.market_records.places import place_followers, write_places
from ledgerd.protocol.operations.markets import PmCreateMarket
from ledgerd.state.objects.market_records import PM_LABEL_COUNTS, PM_MARKET_META, POINTS_MOVED_AFTER

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledgerd.chain.ledger.ledger import Followers, Ledger, Noters


def begin_after_import(ledger: Ledger) -> None:
    """Work out what is kept beside imported metadata; from the next block on all of it is followed."""
    for label in list(ledger.store.scan(PM_LABEL_COUNTS)):
        ledger.store.remove(label)
    for meta in ledger.store.scan(PM_MARKET_META):
        count_labels(ledger, meta, 1)
    begin_records(ledger, ledger.head_number + 1)


class Following(NamedTuple):
    """What to follow in blocks, and what to do at the end of each of them."""

    followers: Followers
    noters: Noters
    after_block: Callable[[Ledger], None]


def market_records(kept_days: int = KEPT_DAYS, *, skips_virtual: bool = False) -> Following:
    """Keep metadata and price points for so many days after the disputes of each market; 0 for ever."""
    noters = dict(kline_noters(skips_virtual=skips_virtual))
    noters[PmCreateMarket] = new_market_noter(kept_days)

    def after_block(ledger: Ledger) -> None:
        if ledger.noted:
            write_points(ledger)
            write_places(ledger)
        count_open_bets(ledger)
        is_due = kept_days > 0 and are_records_old(ledger)
        if is_due or ledger.head_number % POINTS_MOVED_AFTER == 0:
            move_points(ledger)
        if is_due:
            remove_old_records(ledger)

    return Following(place_followers(), noters, after_block)
