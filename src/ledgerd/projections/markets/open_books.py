"""What is bet on the open markets of each oracle, kept by what each block changes (spec 11, section 4.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from ledgerd.chain.ledger.events import Change
from ledgerd.projections.tables import market_records
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.markets.markets import ACTIVE, PM_MARKETS, PmMarket
from ledgerd.state.store import Store
from ledgerd.state.views.view import View


def count_open_bets(kept: Store, changed: Iterable[Change]) -> None:
    """Take in what a block has changed of markets."""
    changes: dict[AccountName, int] = defaultdict(int)
    for before, after in changed:
        was, now = _open_bets(before), _open_bets(after)
        if was != now:
            changes[(after or before).oracle] += now - was
    _take_in(kept, changes)


def count_all_open_bets(kept: Store, state: View) -> None:
    for book in list(kept.scan(market_records.PM_OPEN_BOOKS)):
        kept.remove(book)
    sums: dict[AccountName, int] = defaultdict(int)
    for market in state.scan(PM_MARKETS):
        sums[market.oracle] += _open_bets(market)
    _take_in(kept, sums)


def _open_bets(market: PmMarket | None) -> int:
    return market.bets_sum if market is not None and market.status == ACTIVE else 0


def _take_in(kept: Store, changes: Mapping[AccountName, int]) -> None:
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
