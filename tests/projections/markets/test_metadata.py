"""How long metadata and price points are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.projections.markets.metadata import (
    REMOVED_A_BLOCK,
    NewMetadata,
    expiry_of,
    remove_old_records,
    write_metadata,
)
from ledgerd.projections.markets.records import MarketRecords
from ledgerd.projections.tables.market_records import (
    CATEGORY,
    KLINE_BY_MARKET,
    META_BY_MARKET,
    NEWEST,
    PM_KLINE_CHUNKS,
    PM_LABEL_COUNTS,
    POINTS_A_CHUNK,
    PmKlineChunk,
    point_layout,
)
from tests.chain.ledgers import NOW, fresh_ledger, kept_beside, project

POINT = point_layout(2).pack(1, NOW, 0, 30, 10, 20)
DAYS = 5 * 86_400


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return fresh_ledger(tmp_path, 15)


def describe(ledger: Ledger, market: int, text: str, result_expiration: int, kept_days: int) -> None:
    write_metadata(kept_beside(ledger), NewMetadata(market, text, expiry_of(ledger, result_expiration, kept_days)))


def add_points(ledger: Ledger, market: int, count: int) -> None:
    for first in range(0, count, POINTS_A_CHUNK):
        size = min(POINTS_A_CHUNK, count - first)
        number = first if first + size < count else NEWEST
        chunk = PmKlineChunk(market=market, number=number, first=first, outcomes=2, points=POINT * size)
        kept_beside(ledger).create(PM_KLINE_CHUNKS, chunk)


def points_left(ledger: Ledger, market: int) -> list[int]:
    chunks = kept_beside(ledger).scan(KLINE_BY_MARKET, lower=(market,), upper=(market,))
    return [number for chunk in chunks for number in range(chunk.first, chunk.end)]


def expire(ledger: Ledger, market: int) -> None:
    kept = kept_beside(ledger)
    meta = kept.at(META_BY_MARKET, market)
    with kept.editing(meta):
        meta.expiry = NOW


def begin_records(ledger: Ledger) -> None:
    MarketRecords().begin(ledger.store, kept_beside(ledger), ledger.head_number)


def test_metadata_is_kept_for_days_after_the_time_for_disputes(ledger: Ledger) -> None:
    describe(ledger, 7, '{"category":"c"}', 1_000, 5)
    assert kept_beside(ledger).at(META_BY_MARKET, 7).expiry == 1_000 + ledger.median.pm_dispute_grace_sec + DAYS


def test_what_is_stored_of_a_market_is_not_stored_again(ledger: Ledger) -> None:
    describe(ledger, 7, '{"category":"c"}', 1_000, 5)
    describe(ledger, 7, '{"category":"d"}', 1_000, 5)
    assert kept_beside(ledger).at(META_BY_MARKET, 7).category == "c"


def test_points_go_first_and_metadata_when_none_is_left(ledger: Ledger) -> None:
    for market, count in ((1, 150), (2, 100), (3, 0)):
        describe(ledger, market, '{"category":"c","tags":"t"}', 1_000, 5)
        add_points(ledger, market, count)
        expire(ledger, market)

    remove_old_records(kept_beside(ledger), NOW)

    # 150 points and the metadata of the first, 49 points of the second: a block's work.
    assert REMOVED_A_BLOCK == 200
    assert (points_left(ledger, 1), kept_beside(ledger).lookup(META_BY_MARKET, 1)) == ([], None)
    assert points_left(ledger, 2) == list(range(49, 100))
    assert kept_beside(ledger).lookup(META_BY_MARKET, 2) is not None

    remove_old_records(kept_beside(ledger), NOW)

    assert [kept_beside(ledger).lookup(META_BY_MARKET, market) for market in (2, 3)] == [None, None]
    assert list(kept_beside(ledger).scan(PM_LABEL_COUNTS)) == []


def test_metadata_stays_when_its_last_point_used_the_blocks_work_up(ledger: Ledger) -> None:
    describe(ledger, 1, "{}", 1_000, 5)
    add_points(ledger, 1, REMOVED_A_BLOCK)
    expire(ledger, 1)

    remove_old_records(kept_beside(ledger), NOW)

    assert points_left(ledger, 1) == []
    assert kept_beside(ledger).lookup(META_BY_MARKET, 1) is not None


def test_what_is_kept_for_ever_is_not_removed(ledger: Ledger) -> None:
    describe(ledger, 1, "{}", 1_000, 0)
    expire(ledger, 1)
    begin_records(ledger)
    project(ledger, MarketRecords(0))
    assert kept_beside(ledger).lookup(META_BY_MARKET, 1) is not None
    project(ledger, MarketRecords(1))
    assert kept_beside(ledger).lookup(META_BY_MARKET, 1) is None


def test_labels_of_imported_metadata_are_counted(ledger: Ledger) -> None:
    describe(ledger, 1, '{"category":"c"}', 1_000, 5)
    for label in list(kept_beside(ledger).scan(PM_LABEL_COUNTS)):
        kept_beside(ledger).remove(label)
    begin_records(ledger)
    assert [(each.kind, each.name, each.count) for each in kept_beside(ledger).scan(PM_LABEL_COUNTS)] == [
        (CATEGORY, "c", 1)
    ]
