"""What is bet on the open markets of each oracle, kept by what each block changes (spec 11, section 4.2)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ledgerd.state.objects.market_records import (
    OPEN_BOOK_BY_ORACLE,
    PM_OPEN_BOOKS,
    PM_RECORDS_SINCE,
    PmOpenBook,
    PmRecordsSince,
)
from ledgerd.state.objects.markets import ACTIVE, PM_MARKETS, PmMarket

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledgerd.chain.ledger.ledger import Ledger
    from ledgerd.protocol.names import AccountName

LAPSED = "market records lapsed"
"""The named value of the state: the head at which nobody kept these records any more."""


def count_open_bets(ledger: Ledger) -> None:
    """At the end of a block: take its changes of markets in; or, if it is the first one, all markets."""
    store = ledger.store
    since, lapsed = store.find(PM_RECORDS_SINCE, 0), store.meta(LAPSED)
    if since is None or (lapsed is not None and since.block <= int(lapsed)):
        begin_records(ledger, ledger.head_number)
        return
    changes: dict[AccountName, int] = {}
    for before, after in store.last_changes(PM_MARKETS):
        was = before.bets_sum if before is not None and before.status == ACTIVE else 0
        now = after.bets_sum if after is not None and after.status == ACTIVE else 0
        if was != now:
            oracle = (after or before or PmMarket()).oracle
            changes[oracle] = changes.get(oracle, 0) + now - was
    if changes:
        _take_in(ledger, changes)


def begin_records(ledger: Ledger, block: int) -> None:
    """Count all markets, and note from which block on they are followed."""
    for book in list(ledger.store.scan(PM_OPEN_BOOKS)):
        ledger.store.remove(book)
    sums: dict[AccountName, int] = defaultdict(int)
    for market in ledger.store.scan(PM_MARKETS):
        if market.status == ACTIVE:
            sums[market.oracle] += market.bets_sum
    _take_in(ledger, sums)
    since = ledger.store.find(PM_RECORDS_SINCE, 0) or ledger.store.create(PM_RECORDS_SINCE, PmRecordsSince())
    with ledger.editing(since):
        since.block = block


def _take_in(ledger: Ledger, changes: Mapping[AccountName, int]) -> None:
    for oracle, change in changes.items():
        if not change:
            continue
        book = ledger.store.lookup(OPEN_BOOK_BY_ORACLE, oracle)
        if book is None:
            ledger.store.create(PM_OPEN_BOOKS, PmOpenBook(oracle=oracle, bets_sum=change))
        elif book.bets_sum + change == 0:
            ledger.store.remove(book)
        else:
            with ledger.editing(book):
                book.bets_sum += change
