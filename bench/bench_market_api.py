"""What the methods of `prediction_market_api` cost beside 130,000 markets.

Over HTTP, sixteen connections and one worker: `first` means that no market of the answer was printed before, `again`
that none has changed since, `same` that the bytes of the answer are kept. The processor time of each request is shown
beside the rate: it needs no idle machine. `longest` is the longest that a request alone holds a worker, with nothing
remembered: through the dispatcher, without the network and the cache of answers.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import thread_time
from typing import Any

from bench.bench_api import request
from bench.bench_chain import verdict
from bench.market_clients import Figures, one_worker
from bench.market_plan import Scale
from bench.market_rows import write_state
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.projections.kept import KeptProjections
from ledgerd.projections.markets.records import MarketRecords
from ledgerd.projections.reading import ProjectionReader
from ledgerd.projections.tables.market_records import (
    NEWEST,
    PM_KLINE_CHUNKS,
    PM_MARKET_META,
    POINTS_A_CHUNK,
    PmKlineChunk,
    PmMarketMeta,
    point_layout,
)
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.rpc.api.prediction_market import PREDICTION_MARKET_API
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node
from ledgerd.rpc.link.link import Link
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.markets.markets import PM_MARKETS
from ledgerd.state.store import Store
from ledgerd.state.views.reader import StateReader

API = "prediction_market_api"
CATEGORIES = 20
POINTS = 1_600
PAGE = 100
FAR = 100_000
HELD_SECONDS = 0.250
FIRST, AGAIN, SAME, ONE, KLINE = 200, 1_000, 3_000, 5_000, 1_000
"""Requests a second."""
EVERYTHING = 1_000
SINGLE = 4_000
"""Markets that are asked for one by one."""


def add_records(folder: Path) -> None:
    """What is kept of all markets: metadata, most of it of one category, and the points of the first market."""
    state = folder / STATE_FOLDER
    with Store.open(state, STORED_TABLES) as store, KeptProjections(state) as kept:
        for market in store.scan_ids(PM_MARKETS):
            meta = PmMarketMeta(
                market=market, title=f"Will it rain on day {market}?", tags="weather,rain", event="rain"
            )
            meta.category = "weather" if market % CATEGORIES else f"c{market % (CATEGORIES * CATEGORIES)}"
            meta.description, meta.expiry = "By noon, at the gauge of the town hall.", 0xFFFFFFFF
            kept.store.create(PM_MARKET_META, meta)
        first = next(store.scan(PM_MARKETS))
        outcomes = first.outcome_count
        point = point_layout(outcomes).pack(1, 1_800_000_000, 0, 10**9, *[10**8] * outcomes)
        for number in range(0, POINTS, POINTS_A_CHUNK):
            is_last = number + POINTS_A_CHUNK >= POINTS
            chunk = PmKlineChunk(market=first.id, number=NEWEST if is_last else number, first=number)
            chunk.outcomes, chunk.points = outcomes, point * POINTS_A_CHUNK
            kept.store.create(PM_KLINE_CHUNKS, chunk)
        MarketRecords().begin(store, kept.store, store.revision)
        kept.commit()


@contextmanager
def dispatcher_of(folder: Path) -> Iterator[Dispatcher]:
    """What answers from a folder, with nothing remembered yet."""
    state = folder / STATE_FOLDER
    with StateReader.open(state, STORED_TABLES) as reader, ProjectionReader(state) as kept:
        node = Node(TESTNET, reader.snapshot, Link(), projections=kept.snapshot)
        yield Dispatcher([PREDICTION_MARKET_API], node, lambda: 0.0, cache=AnswerCache(0), limits=Limits())


def body_of(method: str, *arguments: object) -> bytes:
    """A request for a method."""
    return request(API, method, *arguments)


def pages(first: int, *, show_risky: bool, count: int) -> list[bytes]:
    """Requests for pages that have no market in common."""
    return [body_of("list_markets", 1, first + page * PAGE, PAGE, show_risky) for page in range(count)]


def show(title: str, found: Figures, wanted: int) -> None:
    """A rate, whether it is enough, and what each request costs."""
    worker, clients = found.worker_seconds * 1e6, found.client_seconds * 1e6
    told = f"{worker:6.0f} us of the worker ({1e6 / worker:,.0f}/s of one processor), {clients:5.0f} us of the clients"
    print(f"  {title:44} {found.rate:7,.0f}/s ({verdict(found.rate, wanted, at_most=False)}), {told}")


async def show_lists(folder: Path) -> None:
    """Pages of open markets, never printed and printed before, and the same bytes again."""
    for show_risky in (False, True):
        for first, count in ((0, 300), (FAR, 280)):
            title = f"list_markets of 100 from {first}{', all' if show_risky else ', covered'}"
            bodies = pages(first, show_risky=show_risky, count=count)
            async with one_worker(folder) as worker:
                await worker.asked(bodies[:1])
                show(f"{title}, first", await worker.asked(bodies[1:]), FIRST)
                show(f"{title}, again", await worker.asked(bodies[1:33] * 60), AGAIN)
            async with one_worker(folder, cached_answers=1_000) as worker:
                await worker.asked(bodies[:16])
                show(f"{title}, same", await worker.asked(bodies[:16] * 400), SAME)


async def show_single(folder: Path, market: int) -> None:
    """What is asked of one market."""
    async with one_worker(folder) as worker:
        for method in ("get_market", "get_market_weight_sums"):
            bodies = [body_of(method, market + number * 31) for number in range(SINGLE)]
            await worker.asked(bodies[:1])
            show(f"{method}, first", await worker.asked(bodies[1:]), ONE)
            show(f"{method}, again", await worker.asked(bodies * 3), ONE)
        kline = body_of("get_market_kline", market, 3, 500)
        await worker.asked([kline])
        show("get_market_kline of 500", await worker.asked([kline] * 4_000), KLINE)


def largest(market: int, account: str, oracle: str) -> list[tuple[Any, ...]]:
    """Each method at its largest answer, and those with pages at their end too."""
    last = 1_000_000
    listed: list[tuple[Any, ...]] = []
    for first in (0, 129_000, last):
        listed += [
            ("list_markets", 1, first, EVERYTHING, risky, order)
            for risky in (False, True)
            for order in ("oldest", "newest", "expiration")
        ]
        for order in ("newest", "volume", "expiration"):
            listed += [
                ("list_markets_by_oracle", oracle, first, EVERYTHING, order),
                ("list_markets_by_oracle_status", oracle, 1, first, EVERYTHING, order),
                ("list_markets_by_creator", account, first, EVERYTHING, order),
                ("list_markets_by_category", "weather", first, EVERYTHING, "", "", "", order, True, True),
                ("list_markets_by_category", "weather", first, EVERYTHING, "US", "", "rain", order, False, False, 1),
                ("list_markets_by_category", "", first, EVERYTHING, "US", "", "rain", order, False, False, 1),
            ]
        listed += [
            ("list_markets_awaiting_resolution", oracle, first, EVERYTHING),
            ("list_markets_in_dispute_window", oracle, first, EVERYTHING),
            ("list_oracle_disputes", oracle, first, EVERYTHING),
            ("list_markets_by_event", "rain", first, EVERYTHING, True),
            ("list_markets_by_event", "rain", first, EVERYTHING, False),
            ("get_market_bets", market, first, EVERYTHING),
            ("get_account_positions", account, first, EVERYTHING),
            ("get_market_liquidity", market, first, EVERYTHING),
            ("get_account_leverage_positions", account, first, EVERYTHING),
            ("get_market_leverage_positions", market, first, EVERYTHING),
            ("list_oracles", first, EVERYTHING),
            ("get_lazy_allocations", first, EVERYTHING),
            ("get_deferred_claims", market, first, EVERYTHING),
            ("get_market_kline", market, first, EVERYTHING),
        ]
    of_market = ("get_market", "get_market_outcomes", "get_market_weight_sums", "get_dispute", "get_dispute_votes")
    listed += [(method, market) for method in (*of_market, "get_market_meta", "get_market_lazy_allocation")]
    listed += [(method, account) for method in ("get_creator_ban", "get_lazy_deposit", "get_lazy_withdraw_requests")]
    return [
        *listed,
        ("get_oracle", oracle),
        ("get_lazy_pool",),
        ("get_pm_chain_properties",),
        ("get_market_categories",),
        ("get_category_tag_counts", "weather"),
        ("get_account_commits", account, False),
        ("get_leverage_quote", market, 0, 100_000),
        ("get_leverage_close_preview", 0),
        ("get_leverage_convert_preview", 0),
        ("get_market_full", market, account),
    ]


def show_longest(folder: Path, cases: list[tuple[Any, ...]]) -> None:
    """Each request alone, with nothing remembered: how long it holds the worker."""
    found: list[tuple[float, str]] = []
    for method, *arguments in cases:
        with dispatcher_of(folder) as dispatcher:
            body = body_of(method, *arguments)
            began = thread_time()
            dispatcher.answer(body)
            found.append((thread_time() - began, f"{method} {arguments}"))
    print(f"  longest: {verdict(max(found)[0], HELD_SECONDS, 's')}; each alone, with nothing remembered:")
    for spent, title in sorted(found, reverse=True)[:12]:
        print(f"    {spent * 1e3:6.0f} ms  {title}")


def measure(folder: Path) -> None:
    """Print every figure of a state that is there."""
    with StateReader.open(folder / STATE_FOLDER, STORED_TABLES) as reader, reader.snapshot() as state:
        market = next(state.scan(PM_MARKETS))
    asyncio.run(show_lists(folder))
    asyncio.run(show_single(folder, market.id))
    show_longest(folder, largest(market.id, market.creator, market.oracle))


def main() -> None:
    """Write the state and print every figure."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "big"
        write_state(folder, Scale())
        add_records(folder)
        measure(folder)


if __name__ == "__main__":
    main()
