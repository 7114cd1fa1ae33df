"""Cases that the specification works out (spec 11, section 10), and lists of markets on small ledgers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.codec.json.text import text_bytes
from ledgerd.projections.markets.metadata import NewMetadata, expiry_of, write_metadata
from ledgerd.projections.markets.records import MarketRecords
from ledgerd.projections.tables.market_records import (
    NEWEST,
    PM_KLINE_CHUNKS,
    PM_MARKET_META,
    POINTS_A_CHUNK,
    PmKlineChunk,
    PmMarketMeta,
    meta_is_child,
    meta_labels,
    meta_market,
    point_layout,
)
from ledgerd.rpc.api.prediction_market import markets
from ledgerd.rpc.api.prediction_market.klines import points_of_blocks
from ledgerd.rpc.api.prediction_market.oracles import percentile, reliability_score
from ledgerd.rpc.api.prediction_market.shared import sorting
from ledgerd.rpc.api.prediction_market.shared.sorting import MOST_LOOKED_UP
from ledgerd.state.objects.markets.disputes import PM_DISPUTES, PmDispute, dispute_numbers
from ledgerd.state.objects.markets.markets import PM_MARKETS, PmMarket, market_oracle, market_sums
from ledgerd.state.objects.markets.oracles import PM_ORACLES, PmOracle
from ledgerd.state.tables.tables import Table
from tests.chain.ledgers import ALICE, CAROL, NOW, change, kept_beside
from tests.chain.market_scenes import create_bet, create_market, create_oracle, market_ledger
from tests.rpc.api.serving import answers_of

API = "prediction_market_api"


@pytest.mark.parametrize(
    ("record", "age", "score"),
    [
        ((0, 0, 0, 0, 0, 0, 0, 0, 0), 0, 6000),
        ((50, 2, 3, 1, 4, 1, 5, 7, 0), 900_000, 7971),
        ((10, 0, 0, 1, 1, 1, 0, 1, 1), 0, 4850),
        ((1, 9, 0, 5, 5, 5, 1, 4, 6), 0, 5210),
    ],
)
def test_the_score_of_an_oracle_is_worked_out_step_by_step(record: tuple[int, ...], age: int, score: int) -> None:
    names = (
        "markets_resolved missed_count disputes_won disputes_lost disputes_received dispute_responses_missed "
        "resolved_late_count penalty_stamps bans_received"
    )
    oracle = PmOracle(last_penalty_stamp_time=NOW - age)
    for name, value in zip(names.split(), record, strict=True):
        setattr(oracle, name, value)
    assert reliability_score(oracle, NOW) == score


def test_times_of_decisions_are_told_by_the_bounds_of_their_classes() -> None:
    counts = (1, 2, 3, 4, 0, 0, 0, 1)
    assert (percentile(counts, 50), percentile(counts, 95), percentile((0,) * 8, 50)) == (86_400, 2_592_000, 0)


def test_a_bet_may_bring_what_the_losers_leave(tmp_path: Path) -> None:
    ledger = market_ledger(tmp_path)
    fees = {"oracle_fee_percent": 100, "creator_fee_percent": 50, "liquidity_fee_percent": 25}
    market = create_market(ledger, bets_sum=3_000_000, oracle_fixed_fee=10_000, forfeit_pool=777, **fees)
    create_bet(ledger, market, CAROL, 400_000, weight=800_000, time_penalty=50_000)
    create_bet(ledger, market, ALICE, 600_000, weight=1_160_784)
    with answers_of(ledger, tmp_path) as ask:
        (position,) = ask(API, "get_account_positions", CAROL, 0, 10)["result"]
        sums = ask(API, "get_market_weight_sums", market.id)["result"]
    assert position["expected_payout"] == 1_158_060
    assert [each["label"] for each in sums["outcomes"]] == ["A", "B"]
    assert sums["outcomes"][0]["weight_sum"] == 1_960_784


def add_points(ledger: Ledger, market: int, count: int) -> None:
    layout = point_layout(2)
    for first in range(0, count, POINTS_A_CHUNK):
        end = min(count, first + POINTS_A_CHUNK)
        points = b"".join(layout.pack(each // 3, NOW + each, 0, each, each, 0) for each in range(first, end))
        number = NEWEST if end == count else first
        chunk = PmKlineChunk(market=market, number=number, first=first, outcomes=2, points=points)
        kept_beside(ledger).create(PM_KLINE_CHUNKS, chunk)


def test_points_are_counted_from_the_newest_and_shown_from_the_oldest(tmp_path: Path) -> None:
    ledger = market_ledger(tmp_path)
    add_points(ledger, 5, 2_500)
    with answers_of(ledger, tmp_path) as ask:
        for first, limit, begin, end in (
            (0, 1000, 1500, 2500),
            (1000, 1000, 500, 1500),
            (2400, 1000, 0, 100),
            (2500, 10, 0, 0),
            (0, 0, 0, 0),
        ):
            points = ask(API, "get_market_kline", 5, first, limit)["result"]
            assert [each["seq"] for each in points] == list(range(begin, end))
            assert all(each["timestamp"] == NOW + each["seq"] for each in points)


@pytest.mark.parametrize(("first", "last"), [(0, 900), (0, 0), (10, 10), (10, 11), (799, 850), (834, 900), (42, 41)])
def test_the_points_of_some_blocks_are_found_among_many(
    tmp_path: Path, first: int, last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three points a block."""
    ledger, read = market_ledger(tmp_path), list[int]()
    add_points(ledger, 5, 2_500)
    kept = kept_beside(ledger)
    get = kept.get

    def noted(table: Table[PmKlineChunk], each: int) -> PmKlineChunk:
        read.append(each)
        return get(table, each)

    monkeypatch.setattr(kept, "get", noted)

    found = [json.loads(each)["seq"] for each in points_of_blocks(kept, 5, first, last)]

    assert found == [seq for seq in range(2_500) if first <= seq // 3 <= last]
    assert len(read) <= len(found) // POINTS_A_CHUNK + 12


@pytest.fixture(params=[MOST_LOOKED_UP, 0])
def listed(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Six markets: those of the oracle that has bet too little of its own are hidden.

    Looked up one by one, and as if there were too many for that.
    """
    for module in (markets, sorting):
        monkeypatch.setattr(module, "MOST_LOOKED_UP", request.param)
    ledger = market_ledger(tmp_path)
    create_oracle(ledger)
    create_oracle(ledger, ALICE)
    for place in range(6):
        oracle = "alice" if place % 3 == 2 else "oracle"
        end = 0 if place == 4 else NOW + 100 - place
        market = create_market(ledger, oracle=oracle, betting_expiration=end, bets_sum=3_000_000 * (place == 2) + place)
        said = f'{{"category":"c{place % 2}","tags":["T{place}","all"],"child":{str(place == 1).lower()},"event":"e"}}'
        write_metadata(kept_beside(ledger), NewMetadata(market.id, said, expiry_of(ledger, NOW, 5)))
    for account in ("alice", "oracle"):
        change(
            ledger, next(each for each in ledger.store.scan(PM_ORACLES) if each.owner == account), insurance=5 * 10**6
        )
    MarketRecords().begin(ledger.store, kept_beside(ledger), ledger.head_number)
    with answers_of(ledger, tmp_path) as ask:
        yield ask


def test_a_market_stands_where_its_order_has_it(listed: Any) -> None:
    def ids(method: str, *arguments: object) -> list[int]:
        return [each["id"] for each in listed(API, method, *arguments)["result"]]

    assert ids("list_markets", 1, 0, 10) == [0, 1, 3, 4]
    assert ids("list_markets", 1, 0, 10, False, "expiration") == [3, 1, 0]
    assert ids("list_markets", 1, 1, 2, False, "newest") == [3, 1]
    assert ids("list_markets", 1, 1, 2, True, "newest") == [4, 3]
    assert ids("list_markets", 1, 0, 10, True, "expiration") == [5, 3, 2, 1, 0]
    assert ids("list_markets", 1, 0, 10, True, "volume") == [0, 1, 2, 3, 4, 5]
    assert ids("list_markets_by_oracle", "alice", 0, 10, "volume") == [2, 5]
    assert ids("list_markets_by_oracle", "oracle", 0, 10, "expiration") == [3, 1, 0, 4]
    assert ids("list_markets_by_oracle", "oracle", 0, 10, "of some kind") == [4, 3, 1, 0]
    assert ids("list_markets_by_creator", "alice", 4, 10, "oldest") == [4, 5]
    assert ids("list_markets_awaiting_resolution", "oracle", 0, 10) == [4]
    assert ids("list_markets_awaiting_resolution", "alice", 0, 10) == []
    assert ids("list_markets_by_event", "e", 2, 2) == [3, 4]
    assert ids("list_markets_by_event", "e", 2, 2, True) == [2, 3]
    assert ids("list_markets_by_category", "c1", 0, 10) == [3]
    assert ids("list_markets_by_category", "c1", 0, 10, "", "", "t1", "newest", False) == [1]
    assert ids("list_markets_by_category", "c0", 0, 10, "", "", "", "expiration") == [4, 0]
    assert ids("list_markets_by_category", "c0", 0, 10, "", "", "", "volume", True, True) == [2, 4, 0]
    assert ids("list_markets_by_category", "c0", 0, 10, "", "", "all", "newest", True, True, 1) == [4, 2, 0]
    assert ids("list_markets_by_category", "c0", 0, 10, "", "", "all", "newest", True, False, 1) == [4, 0]
    assert ids("list_markets_by_category", "c0", 0, 10, "", "", "", "oldest", True, False, 3) == []
    found = listed(API, "get_market_categories")["result"]
    assert [(each["category"], each["count"]) for each in found["categories"]] == [("c0", 3), ("c1", 3)]
    assert found["hot_tags"][:2] == [{"tag": "all", "count": 6}, {"tag": "T0", "count": 1}]


@given(
    meta=st.builds(
        PmMarketMeta,
        id=st.integers(0, 2**40),
        market=st.integers(0, 2**62),
        category=st.text(max_size=300),
        subcategory=st.text(max_size=300),
        tags=st.text(max_size=300),
        banned_jurisdictions=st.text(max_size=300),
        title=st.text(max_size=9),
        child=st.booleans(),
        expiry=st.integers(0, 2**32 - 1),
    )
)
def test_what_lists_read_from_the_bytes_of_metadata_is_what_is_in_it(meta: PmMarketMeta) -> None:
    raw = PM_MARKET_META.codec.encode(meta)
    texts = [meta.category, meta.subcategory, meta.tags, meta.banned_jurisdictions]
    assert meta_labels(raw) == tuple(map(text_bytes, texts))
    assert (meta_market(raw), meta_is_child(raw)) == (meta.market, meta.child)


@given(st.text("ab", max_size=300), st.integers(-1, 3), st.integers(0, 2**32 - 1), st.integers(-(2**62), 2**62))
def test_what_lists_read_from_the_bytes_of_a_market_is_in_it(url: str, status: int, end: int, bets: int) -> None:
    market = PmMarket(id=3, creator=ALICE, oracle=CAROL, url=url, status=status, betting_expiration=end, bets_sum=bets)
    market.payout_status, market.k = 2, 2**100
    raw = PM_MARKETS.codec.encode(market)
    assert market_sums(raw) == (status, 2, end, bets)
    assert market_oracle(raw) == b"carol"
    dispute = PmDispute(id=bets & 0xFFFF, market=end, disputer=ALICE)
    assert dispute_numbers(PM_DISPUTES.codec.encode(dispute)) == (dispute.id, dispute.market)
