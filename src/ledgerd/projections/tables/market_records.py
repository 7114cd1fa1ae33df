"""What `prediction_market_api` knows of markets beside the ledger: their metadata, and how their bets came to be.

Ours, not consensus: kept by `projections.markets` where it is wanted (spec 11, section 3).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ledgerd.codec.partial import columns_reader, fields_reader, span_reader
from ledgerd.codec.types.numbers import ShareAmount, UInt8, UInt32
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.tables.keys import BOOL, CUT_TEXT, NAME_TEXT, OBJECT_ID, OWN_ID, TIME, UINT8, UINT32, descending
from ledgerd.state.tables.tables import Entity, ObjectId, Table, unique


class PmMarketMeta(Entity):
    """The metadata that the creator of a market gave; lists are joined with commas."""

    market: ObjectId = 0
    category: str = ""
    subcategory: str = ""
    tags: str = ""
    banned_jurisdictions: str = ""
    title: str = ""
    image: str = ""
    condition_id: str = ""
    description: str = ""
    event: str = ""
    event_title: str = ""
    child: bool = False
    expiry: Time = 0


class MetaLabels(NamedTuple):
    """The labels by which lists of markets are chosen."""

    category: bytes
    subcategory: bytes
    tags: bytes
    banned_jurisdictions: bytes


meta_labels: Callable[[bytes], MetaLabels] = fields_reader(PmMarketMeta, MetaLabels._fields, MetaLabels._make)
"""The same from the bytes of metadata: most lists look at many more markets than they show."""

meta_span: Callable[[bytes], bytes] = span_reader(PmMarketMeta, "category", "banned_jurisdictions")
"""All of them in one, to be compared: many markets have the same."""

meta_is_child: Callable[[bytes], bool] = fields_reader(PmMarketMeta, ("child",))
"""Whether its market is shown below another one."""

meta_market: Callable[[bytes], int] = fields_reader(PmMarketMeta, ("market",))
"""The market, from the bytes of its metadata."""

meta_numbers: Callable[[Sequence[bytes]], tuple[Sequence[int], ...]] = columns_reader(PmMarketMeta, ("id", "market"))
"""The ids of metadata and the markets, from the bytes of much of it at once."""

PM_MARKET_META = Table(PmMarketMeta, number=105)
META_BY_MARKET = unique(PM_MARKET_META, "by_meta_market", lambda meta: (meta.market,), (OBJECT_ID,))
META_BY_CATEGORY = unique(
    PM_MARKET_META,
    "by_meta_category",
    lambda meta: (meta.category, meta.child, meta.id),
    (CUT_TEXT, BOOL, OWN_ID),
)
META_BY_EVENT = unique(PM_MARKET_META, "by_meta_event", lambda meta: (meta.event, meta.id), (CUT_TEXT, OWN_ID))
"""Indexes by the beginning of a text. They also find longer texts that begin the same: readers compare the whole text.
"""
META_BY_EXPIRY = unique(PM_MARKET_META, "by_meta_expiry", lambda meta: (meta.expiry, meta.id), (TIME, OWN_ID))

POINTS_A_CHUNK = 32
"""Points in one row: a page of 500 points reads few rows, and adding a point rewrites little."""

NEWEST = 0xFFFFFFFF
"""The number of a chunk that takes more points."""


class KlinePoint(NamedTuple):
    """The bets on a market and on each of its outcomes, after something changed them."""

    block: int
    timestamp: int
    reason: int
    bets_sum: int
    weights: Sequence[int]


_HEAD = struct.Struct("<IIBq")


class PmKlineChunk(Entity):
    """Some points of a market, one behind the other; each has as many weights as the market has outcomes."""

    market: ObjectId = 0
    number: UInt32 = NEWEST
    first: UInt32 = 0
    """The number of its first point, counted from the market's first."""
    outcomes: UInt32 = 0
    points: bytes = b""

    @property
    def point_size(self) -> int:
        return _HEAD.size + 8 * self.outcomes

    @property
    def end(self) -> int:
        return self.first + len(self.points) // self.point_size

    @property
    def last_block(self) -> int:
        block: int = _HEAD.unpack_from(self.points, len(self.points) - self.point_size)[0]
        return block

    def __iter__(self) -> Iterator[KlinePoint]:
        return points_of(self.outcomes, self.points)


def points_of(outcomes: int, packed: bytes) -> Iterator[KlinePoint]:
    for block, timestamp, reason, bets_sum, *weights in point_layout(outcomes).iter_unpack(packed):
        yield KlinePoint(block, timestamp, reason, bets_sum, weights)


def point_layout(outcomes: int) -> struct.Struct:
    return struct.Struct(f"{_HEAD.format}{outcomes}q")


PM_KLINE_CHUNKS = Table(PmKlineChunk, number=106)
KLINE_BY_MARKET = unique(
    PM_KLINE_CHUNKS, "by_market_number", lambda chunk: (chunk.market, chunk.number), (OBJECT_ID, UINT32)
)

_OF_MARKET = struct.Struct("<qB")


class PmRecentPoints(Entity):
    """The points of one block, of all markets, before they are moved to the chunks of these: one write for all."""

    block: UInt32 = 0
    points: bytes = b""
    """The points, each after its market and the number of that market's outcomes."""

    def __iter__(self) -> Iterator[tuple[int, int, bytes]]:
        place, points = 0, self.points
        while place < len(points):
            market, outcomes = _OF_MARKET.unpack_from(points, place)
            first = place + _OF_MARKET.size
            place = first + _HEAD.size + 8 * outcomes
            yield market, outcomes, points[first:place]


def placed_layout(outcomes: int) -> struct.Struct:
    """The bytes of a point among those of a block."""
    return struct.Struct(f"{_OF_MARKET.format}{_HEAD.format[1:]}{outcomes}q")


PM_RECENT_POINTS = Table(PmRecentPoints, number=110)
POINTS_MOVED_AFTER = 16
"""Blocks: so many hold their points themselves at most."""

CATEGORY = 0
SUBCATEGORY = 1
TAG = 2
TAG_OF_CATEGORY = 3
"""Labels: of all markets, or, subcategories and the last ones, of those of a category."""


class PmLabelCount(Entity):
    """The number of markets that have a label."""

    kind: UInt8 = CATEGORY
    category: str = ""
    name: str = ""
    count: UInt32 = 0


PM_LABEL_COUNTS = Table(PmLabelCount, number=107)
LABEL_BY_NAME = unique(
    PM_LABEL_COUNTS,
    "by_label_name",
    lambda label: (label.kind, label.category, label.name, label.id),
    (UINT8, CUT_TEXT, CUT_TEXT, OWN_ID),
)
LABEL_BY_COUNT = unique(
    PM_LABEL_COUNTS,
    "by_label_count",
    lambda label: (label.kind, label.category, label.count, label.name, label.id),
    (UINT8, CUT_TEXT, descending(UINT32), CUT_TEXT, OWN_ID),
)


class PmOpenBook(Entity):
    """The sum of bets on all markets of an oracle that take bets."""

    oracle: AccountName = NO_NAME
    bets_sum: ShareAmount = 0


PM_OPEN_BOOKS = Table(PmOpenBook, number=108)
OPEN_BOOK_BY_ORACLE = unique(PM_OPEN_BOOKS, "by_book_oracle", lambda book: (book.oracle,), (NAME_TEXT,))


class PmRecordsSince(Entity):
    """The block from which on all of this has been kept without a gap. There is one row."""

    block: UInt32 = 0


PM_RECORDS_SINCE = Table(PmRecordsSince, number=109)


_PLACE = struct.Struct("<HHIq")


class PlacedMarket(NamedTuple):
    """The market of an operation that does not name it, and where in its block this stands."""

    transaction_in_block: int
    operation_in_transaction: int
    virtual_operation: int
    market: int

    @property
    def packed(self) -> bytes:
        return _PLACE.pack(*self)


class PmPlacedMarkets(Entity):
    """The operations of one block that do not name their market, with the market of each."""

    block: UInt32 = 0
    places: bytes = b""

    def __iter__(self) -> Iterator[PlacedMarket]:
        return (PlacedMarket(*each) for each in _PLACE.iter_unpack(self.places))


PM_PLACED_MARKETS = Table(PmPlacedMarkets, number=111)
PLACED_BY_BLOCK = unique(PM_PLACED_MARKETS, "by_placed_block", lambda placed: (placed.block,), (UINT32,))
