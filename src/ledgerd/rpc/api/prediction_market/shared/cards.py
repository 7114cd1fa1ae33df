"""Cards: a market with what its creator wrote of it, as most methods show it (spec 11, section 4.8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import islice
from typing import Annotated, NamedTuple

import msgspec

from ledgerd.codec import record_kind
from ledgerd.codec.json.text import quote
from ledgerd.codec.source import Source
from ledgerd.codec.types.records import RecordKind
from ledgerd.codec.types.strings import Text
from ledgerd.projections.tables.market_records import META_BY_MARKET, PmMarketMeta
from ledgerd.rpc.api.shared.kinds import Printed, existing
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.markets.markets import PM_MARKETS, PmMarket
from ledgerd.state.views.view import View


class MarketMetadata(msgspec.Struct, frozen=True):
    """What the creator of a market wrote of it; nothing if nothing is known."""

    title: str | None
    image: str | None
    category: str | None
    subcategory: str | None
    tags: tuple[str, ...] | None
    banned_jurisdictions: tuple[str, ...] | None
    condition_id: str | None
    description: str | None
    event: str | None
    event_title: str | None


class MarketCard(PmMarket):
    """A market with its metadata."""

    title: str = ""
    image: str = ""
    category: str = ""
    metadata: MarketMetadata = MarketMetadata(*[None] * 10)


Card = Annotated[str, Printed(MarketCard)]
"""A card in JSON, put together from pieces that are remembered, and never made as an object."""

Cards = Annotated[str, Printed(tuple[MarketCard, ...])]


def as_list(texts: list[str]) -> str:
    """A list of what is printed already, put together at once: it may be long."""
    if not texts:
        return "[]"
    texts[0] = f"[{texts[0]}"
    texts[-1] = f"{texts[-1]}]"
    return ",".join(texts)


class _JoinedParts(Text):
    """A list that is stored as a text, with commas between its parts; empty parts are left out."""

    def text(self, source: Source, value: str) -> str:
        return f"{source.bind(_list_of_parts)}({value})"


def _list_of_parts(joined: str) -> str:
    return f"[{','.join([quote(part) for part in joined.split(',') if part])}]"


@cache
def metadata_printer(*names: str) -> Callable[[PmMarketMeta], str]:
    stored = {field.attribute: field for field in record_kind(PmMarketMeta).fields}
    for name in ("tags", "banned_jurisdictions"):
        stored[name] = stored[name]._replace(kind=_JoinedParts())
    return RecordKind(PmMarketMeta, lambda: [stored[name] for name in names]).printer


def metadata_text(meta: PmMarketMeta) -> str:
    return metadata_printer(*MarketMetadata.__struct_fields__)(meta)


class MarketPiece(NamedTuple):
    """A market's part of a card, and what others read of it."""

    text: str
    bets_sum: int
    status: int
    payout_status: int
    resolved_outcome: int


@cache
def _market_printer() -> Callable[[PmMarket], str]:
    return record_kind(PmMarket).printer


def _market_piece(market: PmMarket) -> MarketPiece:
    return MarketPiece(
        _market_printer()(market)[:-1],
        market.bets_sum,
        market.status,
        market.payout_status,
        market.resolved_outcome,
    )


def _meta_piece(meta: PmMarketMeta) -> str:
    head = metadata_printer("title", "image", "category")(meta)
    return f',{head[1:-1]},"metadata":{metadata_text(meta)}}}'


PRINTED_TOGETHER = 100
"""Markets, between two looks at how long the answer has become."""

NO_MARKET = "m != nullptr: Market not found"
_NO_METADATA = ',"title":"","image":"","category":"","metadata":{}}'


def market_pieces(state: View, markets: Sequence[int]) -> list[MarketPiece | None]:
    return state.derived_all(_market_piece, PM_MARKETS.by_id, markets)


def card_text(view: ApiView, market: int) -> str | None:
    piece = view.state.derived(_market_piece, PM_MARKETS.by_id, market)
    if piece is None:
        return None
    return piece.text + (view.projections.derived(_meta_piece, META_BY_MARKET, market) or _NO_METADATA)


def cards_text(view: ApiView, markets: Iterable[int]) -> str:
    state, rest, texts = view.state, iter(markets), list[str]()
    while some := list(islice(rest, PRINTED_TOGETHER)):
        pieces = market_pieces(state, some)
        metadata = view.projections.derived_all(_meta_piece, META_BY_MARKET, some)
        cards = [
            piece.text + (meta or _NO_METADATA)
            for piece, meta in zip(pieces, metadata, strict=True)
            if piece is not None
        ]
        view.grow(sum(map(len, cards)))
        texts += cards
    return as_list(texts)


def require_market(view: ApiView, market: int) -> PmMarket:
    return existing(view.state.find(PM_MARKETS, market), NO_MARKET)
