"""Markets, one by one and in lists (spec 11, section 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ledgerd.codec.json.text import text_bytes
from ledgerd.codec.types.numbers import Int8, Int64, UInt32
from ledgerd.projections.tables.market_records import META_BY_EVENT
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api.prediction_market.declared import NEWEST, OLDEST, PREDICTION_MARKET_API, page, require_page
from ledgerd.rpc.api.prediction_market.shared.cards import NO_MARKET, Card, Cards, card_text, cards_text
from ledgerd.rpc.api.prediction_market.shared.id_lists import NEAR, cut, id_list, range_ids
from ledgerd.rpc.api.prediction_market.shared.remembered import head_time
from ledgerd.rpc.api.prediction_market.shared.risk import covered_markets, hidden_markets
from ledgerd.rpc.api.prediction_market.shared.sorting import EXPIRATION, MOST_LOOKED_UP, SORTED, markets_of, sorted_ids
from ledgerd.rpc.api.shared.kinds import existing
from ledgerd.rpc.call.counts import exactly, from_to
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.markets import markets
from ledgerd.state.objects.markets.disputes import DISPUTE_BY_MARKET
from ledgerd.state.tables.keys import CUT_BYTES
from ledgerd.state.tables.tables import Index, Key
from ledgerd.state.views.view import View


@PREDICTION_MARKET_API.method(args=exactly(1, "_S"), examples=[[0]])
def get_market(view: ApiView, market: Int64) -> Card:
    """A market, with what its creator said of it."""
    return existing(card_text(view, market), NO_MARKET)


@PREDICTION_MARKET_API.method(args=from_to(3, 5), examples=[[1, 0, 10], [1, 0, 10, True, "newest"]])
def list_markets(
    view: ApiView, status: Int8, from_: UInt32, limit: UInt32, show_risky: bool = False, order: str = OLDEST
) -> Cards:
    """The markets of a status: -1 deleted, 0 waiting for their oracle, 1 open, 2 closed, 3 resolved.

    The order is `oldest`, `newest`, or `expiration`: those whose betting ends soonest first, without those that have no
    end. Markets whose oracle has too little insurance are left out unless risky ones are asked for.
    """
    require_page(limit, from_)
    if order == EXPIRATION:
        return cards_text(view, page(_expiring(view, status, show_risky=show_risky, end=from_ + limit), from_, limit))
    newest = order == NEWEST
    if show_risky:
        return cards_text(
            view, range_ids(view, markets.MARKET_BY_STATUS, (status,), newest=newest, first=from_, limit=limit)
        )
    covered = id_list(view, ("covered", status), lambda: sorted(covered_markets(view, status)))
    return cards_text(view, cut(covered, newest=newest, first=from_, limit=limit))


def _expiring(view: ApiView, status: int, *, show_risky: bool, end: int) -> Iterable[int]:
    now = head_time(view)

    def found() -> Iterator[int]:
        return view.state.scan_ids(markets.MARKET_BY_BETTING_EXPIRATION, lower=(status, now), upper=(status,))

    if show_risky:
        return found() if end <= NEAR else id_list(view, ("expiring", status), found)

    def covered() -> Iterable[int]:
        hidden = hidden_markets(view)
        return [market for market in found() if market not in hidden]

    return id_list(view, ("expiring and covered", status), covered)


def _listed(view: ApiView, index: Index[markets.PmMarket], key: Key, order: str, first: int, limit: int) -> Cards:
    """A page of the markets under a key, in one of the orders that these lists have (spec 11, section 4.9)."""
    if order in SORTED:
        ids = sorted_ids(view, index, key, order)
        if ids is not None:
            return cards_text(view, cut(ids, newest=False, first=first, limit=limit))
    return cards_text(view, range_ids(view, index, key, newest=order != OLDEST, first=first, limit=limit))


@PREDICTION_MARKET_API.method(args=from_to(3, 4), examples=[["alice", 0, 10], ["alice", 0, 10, "volume"]])
def list_markets_by_oracle(
    view: ApiView, oracle: AccountName, from_: UInt32, limit: UInt32, order: str = NEWEST
) -> Cards:
    """All markets of an oracle; `newest`, `oldest`, `volume` (most bets first) or `expiration`."""
    require_page(limit, from_)
    return _listed(view, markets.MARKET_BY_ORACLE, (oracle,), order, from_, limit)


@PREDICTION_MARKET_API.method(args=from_to(4, 5), examples=[["alice", 1, 0, 10]])
def list_markets_by_oracle_status(
    view: ApiView, oracle: AccountName, status: Int8, from_: UInt32, limit: UInt32, order: str = NEWEST
) -> Cards:
    """The markets of an oracle that have a status, in the same orders."""
    require_page(limit, from_)
    return _listed(view, markets.MARKET_BY_ORACLE_STATUS, (oracle, status), order, from_, limit)


@PREDICTION_MARKET_API.method(args=from_to(3, 4), examples=[["alice", 0, 10]])
def list_markets_by_creator(
    view: ApiView, creator: AccountName, from_: UInt32, limit: UInt32, order: str = NEWEST
) -> Cards:
    """The markets that an account has opened, in the same orders."""
    require_page(limit, from_)
    return _listed(view, markets.MARKET_BY_CREATOR, (creator,), order, from_, limit)


@PREDICTION_MARKET_API.method(args=from_to(3, 3), examples=[["alice", 0, 10]])
def list_markets_awaiting_resolution(view: ApiView, oracle: AccountName, from_: UInt32, limit: UInt32) -> Cards:
    """The open markets of an oracle whose betting is over, the earliest first; those without an end among them.

    A limit of 0 gives one, as in the two methods that follow.
    """
    require_page(limit, from_)
    key = (oracle, markets.ACTIVE)

    def found() -> Iterable[int]:
        now, own = head_time(view), set(view.state.ids_under(markets.MARKET_BY_ORACLE_STATUS, *key))
        if len(own) > MOST_LOOKED_UP:
            due = view.state.scan_ids(
                markets.MARKET_BY_BETTING_EXPIRATION, lower=(markets.ACTIVE,), upper=(markets.ACTIVE, now)
            )
            return filter(own.__contains__, due)
        ends = sorted((_end_of_betting(view.state, market), market) for market in own)
        return [market for end, market in ends if end <= now]

    return cards_text(view, page(id_list(view, ("awaiting", oracle), found), from_, max(limit, 1)))


def _end_of_betting(state: View, market: int) -> int:
    return (state.peek(markets.PM_MARKETS, market, markets.market_sums) or markets.MarketSums()).betting_expiration


@PREDICTION_MARKET_API.method(args=from_to(3, 3), examples=[["alice", 0, 10]])
def list_markets_in_dispute_window(view: ApiView, oracle: AccountName, from_: UInt32, limit: UInt32) -> Cards:
    """The resolved markets of an oracle that somebody may still dispute."""
    require_page(limit, from_)

    def found() -> Iterator[int]:
        for market in view.state.ids_under(markets.MARKET_BY_ORACLE_STATUS, oracle, markets.RESOLVED):
            sums = view.state.peek(markets.PM_MARKETS, market, markets.market_sums)
            if sums is None or sums.payout_status != markets.TO_BE_PAID:
                continue
            if view.state.lookup(DISPUTE_BY_MARKET, market) is None:
                yield market

    return cards_text(view, page(id_list(view, ("disputable", oracle), found), from_, max(limit, 1)))


@PREDICTION_MARKET_API.method(args=from_to(3, 4), examples=[["a final", 0, 10]])
def list_markets_by_event(view: ApiView, event: str, from_: UInt32, limit: UInt32, show_risky: bool = False) -> Cards:
    """The markets of an event, the oldest first."""
    require_page(limit, from_)
    if not event:
        return "[]"
    kept, wanted = view.projections, text_bytes(event).partition(b"\0")[0]

    def found() -> Iterable[int]:
        if len(wanted) < CUT_BYTES:
            listed = markets_of(kept, list(kept.ids_under(META_BY_EVENT, event)))
        else:  # the index knows how long texts begin
            metas = kept.under(META_BY_EVENT, event)
            listed = [each.market for each in metas if text_bytes(each.event).partition(b"\0")[0] == wanted]
        if len(listed) <= MOST_LOOKED_UP:
            there = frozenset(each for each in listed if view.state.peek(markets.PM_MARKETS, each, len))
        else:
            there = frozenset(view.state.scan_ids(markets.PM_MARKETS))
        shown = there if show_risky else there - hidden_markets(view)
        return filter(shown.__contains__, listed)

    return cards_text(view, page(id_list(view, ("event", event, show_risky), found), from_, limit))
