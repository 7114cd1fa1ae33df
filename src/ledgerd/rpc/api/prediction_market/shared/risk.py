"""Which oracles have bet too little of their own: their markets are hidden unless asked for (spec 11, section 4.2)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ledgerd.projections.tables.market_records import OPEN_BOOK_BY_ORACLE
from ledgerd.protocol.properties import ChainPropertiesHf14
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api.prediction_market.shared.remembered import of_this_head
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.markets.markets import MARKET_BY_ORACLE, MARKET_BY_ORACLE_STATUS
from ledgerd.state.objects.markets.oracles import ORACLE_BY_OWNER, PmOracle
from ledgerd.state.objects.validators import VALIDATOR_SCHEDULES


def medians(view: ApiView) -> ChainPropertiesHf14:
    return of_this_head(view, "medians", lambda: view.state.get(VALIDATOR_SCHEDULES, 0).median_props)


def is_risky(view: ApiView, oracle: AccountName) -> bool:
    """Whether an oracle's insurance is below the minimum, or below its part of what is open with it."""
    return of_this_head(view, ("risky", oracle), lambda: _is_risky(view, oracle))


def _is_risky(view: ApiView, name: AccountName) -> bool:
    oracle = view.state.lookup(ORACLE_BY_OWNER, name)
    return oracle is None or is_below_floor(view, oracle)


def covered_markets(view: ApiView, status: int) -> Iterator[int]:
    covered = [oracle.owner for oracle in view.state.scan(ORACLE_BY_OWNER) if not is_below_floor(view, oracle)]
    keys = [(oracle, status) for oracle in covered]
    return chain.from_iterable(view.state.ids_under(MARKET_BY_ORACLE_STATUS, *key) for key in keys)


def hidden_markets(view: ApiView) -> frozenset[int]:
    return of_this_head(view, "hidden", lambda: frozenset(_hidden(view)))


def _hidden(view: ApiView) -> Iterator[int]:
    state = view.state
    market = state.first(MARKET_BY_ORACLE)
    while market is not None:
        key = (market.oracle,)
        if is_risky(view, market.oracle):
            yield from state.ids_under(MARKET_BY_ORACLE, *key)
        last = state.first(MARKET_BY_ORACLE, lower=key, upper=key, reverse=True)
        market = None if last is None else state.following(MARKET_BY_ORACLE, last)


def is_below_floor(view: ApiView, oracle: PmOracle) -> bool:
    properties = medians(view)
    if oracle.insurance < properties.pm_min_oracle_insurance.amount:
        return True
    book = view.projections.lookup(OPEN_BOOK_BY_ORACLE, oracle.owner)
    open_bets = 0 if book is None else book.bets_sum
    return oracle.insurance * 100 < open_bets * properties.pm_listing_min_coverage_percent
