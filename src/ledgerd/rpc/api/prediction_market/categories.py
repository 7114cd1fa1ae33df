"""Markets by what their creators said of them: categories, tags, jurisdictions (spec 11, sections 6.4 and 6.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, compress, islice
from typing import Annotated, NamedTuple

import msgspec

from ledgerd.codec.json.text import integer_text, text_bytes
from ledgerd.codec.types.numbers import Int8, Int16, Int64, ShareAmount, UInt8, UInt32
from ledgerd.projections.tables import market_records
from ledgerd.rpc.api.prediction_market.declared import NEWEST, OLDEST, PREDICTION_MARKET_API, require_page
from ledgerd.rpc.api.prediction_market.shared import sorting
from ledgerd.rpc.api.prediction_market.shared.cards import (
    PRINTED_TOGETHER,
    MarketMetadata,
    MarketPiece,
    as_list,
    market_pieces,
    metadata_printer,
    metadata_text,
)
from ledgerd.rpc.api.prediction_market.shared.id_lists import Ids, cut, id_list
from ledgerd.rpc.api.prediction_market.shared.metadata_filter import MetadataFilter
from ledgerd.rpc.api.prediction_market.shared.remembered import of_this_head
from ledgerd.rpc.api.prediction_market.shared.risk import hidden_markets
from ledgerd.rpc.api.shared.kinds import Printed, existing
from ledgerd.rpc.call.counts import exactly, from_to
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.markets.markets import MARKET_BY_STATUS, PM_MARKETS, market_sums
from ledgerd.state.tables.keys import CUT_BYTES
from ledgerd.state.views.view import View

HOT_TAGS = 20
ANY_STATUS = -1
LAST = (1 << 63) - 1
LEAST_STATUS, LARGEST_STATUS = -128, 127
"""The statuses that a market could have, by the width of the field."""
READ_AT_ONCE = 4_096
"""Ids of a status, between two looks whether another list is shorter."""


class CategoryRow(market_records.PmMarketMeta):
    """The metadata of a market, its lists as lists, and its status, if it is still there."""

    tags: tuple[str, ...] = ()  # type: ignore[assignment]  # a list here
    banned_jurisdictions: tuple[str, ...] = ()  # type: ignore[assignment]  # a list here
    volume: ShareAmount | None = None
    status: Int8 | None = None
    payout_status: UInt8 | None = None
    resolved_outcome: Int16 | None = None
    metadata: MarketMetadata | None = None


CategoryRows = Annotated[str, Printed(tuple[CategoryRow, ...])]


class SubcategoryCount(msgspec.Struct, frozen=True):
    """How many markets have a subcategory."""

    subcategory: str
    count: UInt32


class CategoryCount(msgspec.Struct, frozen=True):
    """How many markets have a category."""

    category: str
    count: UInt32
    subcategories: tuple[SubcategoryCount, ...]


class TagCount(msgspec.Struct, frozen=True):
    """How many markets have a tag."""

    tag: str
    count: UInt32


class Categories(msgspec.Struct, frozen=True):
    """Categories and tags, those with the most markets first."""

    categories: tuple[CategoryCount, ...]
    hot_tags: tuple[TagCount, ...]


@PREDICTION_MARKET_API.method(args=exactly(1, "_S"), examples=[[0]])
def get_market_meta(view: ApiView, market: Int64) -> market_records.PmMarketMeta:
    """What the creator of a market said of it, as it is stored: lists are joined with commas."""
    return existing(
        view.projections.lookup(market_records.META_BY_MARKET, market), "itr != idx.end(): No metadata for market"
    )


class _Wanted(NamedTuple):
    """Which markets of a category are asked for."""

    texts: MetadataFilter
    show_risky: bool
    status: int

    @property
    def is_plain(self) -> bool:
        return self.show_risky and self.status == ANY_STATUS and not self.texts.reads_labels


@PREDICTION_MARKET_API.method(
    args=from_to(3, 10), examples=[["sport", 0, 10], ["sport", 0, 10, "US", "", "dota 2", "volume", False, True, 1]]
)
def list_markets_by_category(  # noqa: PLR0913, PLR0917 - the arguments of the reference
    view: ApiView,
    category: str,
    from_: UInt32,
    limit: UInt32,
    jurisdiction: str = "",
    subcategory: str = "",
    tag: str = "",
    sort: str = NEWEST,
    hide_children: bool = True,
    show_risky: bool = False,
    status: Int8 = ANY_STATUS,
) -> CategoryRows:
    """The markets of a category, without those that a jurisdiction bans, of a subcategory, with a tag, of a status.

    In the order `newest`, `oldest`, `volume` or `expiration`. Children and risky markets have to be asked for.
    """
    require_page(limit, from_)
    texts = MetadataFilter(category, jurisdiction, subcategory, tag, hide_children)
    wanted = _Wanted(texts, show_risky, status)
    ids = id_list(view, wanted, lambda: _kept(view, wanted))
    if sort in sorting.SORTED and len(ids) <= sorting.MOST_SORTED:
        ordered = id_list(view, (wanted, sort), lambda: _sorted(view, ids, sort))
        found = cut(ordered, newest=False, first=from_, limit=limit)
    else:
        found = cut(ids, newest=sort != OLDEST, first=from_, limit=limit)
    return _rows_text(view, found, is_loaded=sort in sorting.SORTED or status != ANY_STATUS)


def _kept(view: ApiView, wanted: _Wanted) -> Iterable[int]:
    if wanted.is_plain and len(wanted.texts.category_bytes) < CUT_BYTES:
        return _of_category(view.projections, wanted.texts)
    if _size_of(view.projections, wanted.texts.category) > sorting.MOST_LOOKED_UP:
        return _examined(view, wanted)
    is_wanted = _condition(view, wanted)
    ids = _of_category(view.projections, wanted.texts)
    return (each for each in ids if view.projections.peek(market_records.PM_MARKET_META, each, is_wanted))


def _of_category(kept: View, wanted: MetadataFilter) -> Iterable[int]:
    own = kept.ids_under(market_records.META_BY_CATEGORY, wanted.category, False)
    if wanted.hide_children:
        return own
    children = kept.ids_under(market_records.META_BY_CATEGORY, wanted.category, True)
    return sorted(chain(own, children))


def _size_of(kept: View, category: str) -> int:
    """The number of markets in a category, about; without a category, that of all."""
    if not category:
        return kept.count(market_records.PM_MARKET_META)
    labels = kept.under(market_records.LABEL_BY_NAME, market_records.CATEGORY, "", category)
    return max((label.count for label in labels), default=0)


def _condition(view: ApiView, wanted: _Wanted) -> Callable[[bytes], bool]:
    """Whether metadata, as its bytes, is of a market that is asked for (spec 11, section 6.4)."""
    chosen = _with_status(view, wanted.status)
    hidden = frozenset[int]() if wanted.show_risky else hidden_markets(view)
    fits = wanted.texts.condition()

    def is_wanted(raw: bytes) -> bool:
        market = market_records.meta_market(raw)
        return market not in hidden and (market in chosen.listed) == chosen.is_wanted and fits(raw)

    return is_wanted


class _WithStatus(NamedTuple):
    """The markets of a status, or those of any other if they are fewer."""

    listed: frozenset[int]
    is_wanted: bool


def _with_status(view: ApiView, status: int) -> _WithStatus:
    if status == ANY_STATUS:
        return _WithStatus(frozenset(), is_wanted=False)
    return of_this_head(view, ("standing", status), lambda: _fewer(view.state, status))


def _fewer(state: View, status: int) -> _WithStatus:
    """The smaller of two sets: the markets with the status, and those with another one. Both are read by turns until
    one ends.
    """
    own = state.ids_under(MARKET_BY_STATUS, status)
    before = state.scan_ids(MARKET_BY_STATUS, upper=(status - 1,)) if status > LEAST_STATUS else ()
    behind = state.scan_ids(MARKET_BY_STATUS, lower=(status + 1,)) if status < LARGEST_STATUS else ()
    sides = ((own, list[int](), True), (chain(before, behind), list[int](), False))
    while True:
        for ids, read, is_wanted in sides:
            count = len(read)
            read.extend(islice(ids, READ_AT_ONCE))
            if len(read) < count + READ_AT_ONCE:
                return _WithStatus(frozenset(read), is_wanted=is_wanted)


def _examined(view: ApiView, wanted: _Wanted) -> Iterator[int]:
    """The markets that are asked for, found by reading the whole table."""
    chosen = _with_status(view, wanted.status)
    hidden = frozenset[int]() if wanted.show_risky else hidden_markets(view)
    among = chosen.listed - hidden if chosen.is_wanted else None
    left_out = hidden | chosen.listed
    rows = filter(wanted.texts.condition(), view.projections.scan_bytes(market_records.PM_MARKET_META))
    while some := list(islice(rows, sorting.READ_TOGETHER)):
        ids, markets = market_records.meta_numbers(some)
        if among is not None:
            yield from compress(ids, map(among.__contains__, markets))
        elif left_out:
            yield from [each for each, market in zip(ids, markets, strict=True) if market not in left_out]
        else:
            yield from ids


def _sorted(view: ApiView, ids: Ids, sort: str) -> list[int]:
    """Markets by what was bet, the most first, or by the end of betting; those whose market is gone come last."""
    state, markets = view.state, dict(zip(ids, sorting.markets_of(view.projections, ids), strict=True))

    def key(meta_id: int) -> int:
        sums = state.peek(PM_MARKETS, markets[meta_id], market_sums)
        if sort == sorting.VOLUME:
            return 0 if sums is None else -sums.bets_sum
        return LAST if sums is None else sums.betting_expiration

    return sorted(ids, key=key)


class _RowPiece(NamedTuple):
    """The stored part of a market as it is printed, around the part that changes."""

    market: int
    begin: str
    end: str


def _row_piece(meta: market_records.PmMarketMeta) -> _RowPiece:
    begin = metadata_printer(*market_records.PmMarketMeta.__struct_fields__)(meta)[:-1]
    return _RowPiece(meta.market, begin, f',"metadata":{metadata_text(meta)}}}')


def _rows_text(view: ApiView, ids: Iterable[int], *, is_loaded: bool) -> str:
    """Metadata with how its market stands; with what was bet on it too, if the markets were loaded."""
    kept, rest, texts = view.projections, iter(ids), list[str]()
    while some := list(islice(rest, PRINTED_TOGETHER)):
        rows = [
            row for row in kept.derived_all(_row_piece, market_records.PM_MARKET_META.by_id, some) if row is not None
        ]
        markets = market_pieces(view.state, [row.market for row in rows])
        added = [_row_text(row, market, is_loaded=is_loaded) for row, market in zip(rows, markets, strict=True)]
        view.grow(sum(map(len, added)))
        texts += added
    return as_list(texts)


def _row_text(row: _RowPiece, market: MarketPiece | None, *, is_loaded: bool) -> str:
    volume = f',"volume":{integer_text(0 if market is None else market.bets_sum)}' if is_loaded else ""
    status = ""
    if market is not None:
        status = (
            f',"status":{market.status},"payout_status":{market.payout_status},'
            f'"resolved_outcome":{market.resolved_outcome}'
        )
    return f"{row.begin}{volume}{status}{row.end}"


@PREDICTION_MARKET_API.method(args=exactly(0, "_S"), examples=[[]])
def get_market_categories(view: ApiView) -> Categories:
    """All categories with their subcategories, and the twenty tags with the most markets.

    Of each market, the first 32 tags are counted.
    """
    kept = view.projections
    counts = kept.under(market_records.LABEL_BY_COUNT, market_records.CATEGORY)
    categories = tuple(
        CategoryCount(each.name, each.count, _subcategories(kept, each.name)) for each in _by_count(counts)
    )
    tags = islice(kept.under(market_records.LABEL_BY_COUNT, market_records.TAG), HOT_TAGS)
    return Categories(categories, tuple(TagCount(each.name, each.count) for each in tags))


def _subcategories(kept: View, category: str) -> tuple[SubcategoryCount, ...]:
    key = (market_records.SUBCATEGORY, category)
    found = [each for each in kept.under(market_records.LABEL_BY_NAME, *key) if each.category == category]
    found.sort(key=lambda each: text_bytes(each.name))
    return tuple(SubcategoryCount(each.name, each.count) for each in found)


def _by_count(labels: Iterable[market_records.PmLabelCount]) -> list[market_records.PmLabelCount]:
    """The index has long names with the same beginning in the order of their ids."""
    return sorted(labels, key=lambda label: (-label.count, text_bytes(label.name)))


@PREDICTION_MARKET_API.method(args=exactly(1, "_S"), examples=[["sport"]])
def get_category_tag_counts(view: ApiView, category: str) -> Categories:
    """All tags of the markets of a category, those with the most markets first; of each market, the first 32."""
    key = (market_records.TAG_OF_CATEGORY, category)
    rows = view.projections.under(market_records.LABEL_BY_COUNT, *key)
    found = (each for each in rows if each.category == category)
    return Categories((), tuple(TagCount(each.name, each.count) for each in _by_count(found)))
