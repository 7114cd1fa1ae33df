"""A stream of one market: what a recorded chain did in it comes once, with the price points of its blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from websockets.asyncio.client import ClientConnection, connect

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.histories import History, OperationPlace, Wanted
from ledgerd.history.embedded.log_bytes import LogBytes
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.settings import HistorySettings
from ledgerd.projections.following import follow
from ledgerd.projections.markets.places import named_rows
from ledgerd.projections.markets.records import MarketRecords
from ledgerd.projections.reading import ProjectionReader
from ledgerd.projections.tables.market_records import META_BY_MARKET, PM_KLINE_CHUNKS, PM_PLACED_MARKETS
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import tag_of
from ledgerd.rpc.api.history import stream as history_stream
from ledgerd.rpc.api.history.history_api import HISTORY_API
from ledgerd.rpc.api.history.market_stream import MarketStream, market_of
from ledgerd.rpc.api.history.stream import Subscriptions
from ledgerd.rpc.api.prediction_market.klines import points_of_blocks
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node
from ledgerd.rpc.http.service import Service
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.markets.bets import BET_BY_MARKET, PM_BETS, PmBet, bet_weight
from ledgerd.state.objects.markets.markets import PM_MARKETS
from ledgerd.state.views.overlay import Overlay
from ledgerd.state.views.reader import StateReader
from ledgerd.state.views.view import View
from tests.chain.recorded_chains import advance, open_chain
from tests.history.histories import HISTORY_FOLDER, followed
from tests.rpc.loopback import play, serving
from tests.rpc.sample_api import Main

NAME, HEIGHT = "open-pm2", 300
EVENTS = {"pm_place_bet", "pm_batch_settle", "pm_resolve_market", "pm_dispute_create", "pm_dispute_vote", "pm_payout"}


class Past(NamedTuple):
    """A chain that was followed, open for reading."""

    history: EmbeddedHistory
    reader: StateReader
    kept: ProjectionReader

    def stream(self, market: int, first: int = 1) -> MarketStream:
        node = Node(TESTNET, self.reader.snapshot, Main(), projections=self.kept.snapshot)
        return MarketStream(self.history, node, market, first, reversible=True)

    def told(self, market: int, first: int = 1) -> list[dict[str, Any]]:
        """Every message of a stream from a block on."""
        stream, found, has_more = self.stream(market, first), list[dict[str, Any]](), True
        while has_more:
            message, has_more = stream.advance()
            if message:
                found.append(json.loads(message))
        return found


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Past]:
    folder: Path = tmp_path_factory.mktemp("past")
    with open_chain(NAME, folder) as chain, followed(chain, folder):
        follow(chain, [MarketRecords()])
        advance(chain, NAME, HEIGHT)
    state = folder / STATE_FOLDER
    history = EmbeddedHistory.open(folder / HISTORY_FOLDER, state, HistorySettings())
    with history, StateReader.open(state, STORED_TABLES) as reader, ProjectionReader(state) as kept:
        yield Past(history, reader, kept)


def busiest(past: Past) -> int:
    with past.kept.snapshot() as kept:
        return max(kept.scan(PM_KLINE_CHUNKS), key=lambda chunk: chunk.end).market


def test_the_points_of_a_market_come_once_and_in_their_order(past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_stream, "EXAMINED_AT_ONCE", 20)
    market = busiest(past)
    points = [point for message in past.told(market) for point in message["prices"]]
    with past.kept.snapshot() as kept:
        wanted = [json.loads(each) for each in points_of_blocks(kept, market, 0, 1 << 31)]
    assert points == wanted
    assert len(points) > 20


def test_a_market_is_told_of_its_bets_also_of_those_that_name_only_the_bet(past: Past) -> None:
    market = busiest(past)
    operations = [each["op"] for message in past.told(market) for each in message["operations"]]
    names = {name for name, _ in operations}
    assert {"pm_place_bet", "pm_cancel_bet"} <= names
    assert all(body.get("market_id", market) == market for _, body in operations)
    points = [point for message in past.told(market) for point in message["prices"]]
    bets = [body for name, body in operations if name == "pm_place_bet" and body["mode"] == 0]
    assert len(bets) == sum(point["reason"] == 0 for point in points)
    cancelled = [body for name, body in operations if name == "pm_cancel_bet"]
    assert len(cancelled) == sum(point["reason"] == 1 for point in points)


def test_every_market_is_told_of_its_bets_resolution_dispute_and_payouts(past: Past) -> None:
    """What the history has of each market, beside the stream that is asked."""
    wanted: dict[int, list[Any]] = {}
    with past.history.reading() as view:
        for block in range(1, HEIGHT + 1):
            for each in map(json.loads, view.operations_of(block)):
                name, body = each["op"]
                if name.startswith("pm_") and "market_id" in body:
                    wanted.setdefault(body["market_id"], []).append(each)
    assert {each["op"][0] for operations in wanted.values() for each in operations} >= EVENTS
    for market, operations in wanted.items():
        told = [each for message in past.told(market) for each in message["operations"]]
        assert [each for each in told if "market_id" in each["op"][1]] == operations


def test_who_was_cut_off_goes_on_behind_the_last_block(past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_stream, "EXAMINED_AT_ONCE", 20)
    market = busiest(past)
    whole = past.told(market)
    assert len(whole) > 5
    for place, message in enumerate(whole[:-1]):
        again = past.told(market, message["last_block"] + 1)
        for kind in ("operations", "prices"):
            assert [each for part in again for each in part[kind]] == [
                each for part in whole[place + 1 :] for each in part[kind]
            ]


def test_the_state_is_not_overtaken(past: Past) -> None:
    stream = past.stream(busiest(past))
    assert stream.opening("name").startswith('{"subscription":"name","next_block":1,')
    assert past.told(busiest(past), HEIGHT + 1) == []


def test_a_market_is_told_of_its_own_opening(past: Past) -> None:
    market = busiest(past)
    opened = [
        body
        for message in past.told(market)
        for name, body in (each["op"] for each in message["operations"])
        if name == "pm_create_market"
    ]
    with past.reader.snapshot() as state:
        row = state.get(PM_MARKETS, market)
    assert [(each["creator"], each["oracle"], each["url"]) for each in opened] == [(row.creator, row.oracle, row.url)]


def test_over_a_websocket_a_market_is_told_of_blocks_that_are_taken_back(tmp_path: Path) -> None:
    """The last reversible blocks are undone while a client listens, and then come again."""
    main, name = Main(), "open-main15"
    with open_chain(name, tmp_path) as chain, followed(chain, tmp_path) as store:
        kept = follow(chain, [MarketRecords()])
        advance(chain, name, 495)
        state = chain.parts.store
        market = max(kept.store.scan(PM_PLACED_MARKETS), key=lambda placed: placed.block)
        [*_, (*_, wanted)] = market
        history = EmbeddedHistory(store.environment, LogBytes(tmp_path / STATE_FOLDER), HistorySettings())

        @contextmanager
        def reading() -> Iterator[View]:
            yield state

        services: dict[type, object] = {History: history, Subscriptions: Subscriptions(history)}
        node = Node(chain.network, reading, main, services, lambda: nullcontext(kept.store))
        limits = Limits()
        dispatcher = Dispatcher([HISTORY_API], node, lambda: 0.0, cache=AnswerCache(0), limits=limits)

        async def told_to(client: ClientConnection, block: int) -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = []
            while not found or found[-1].get("last_block") != block:
                found.append(json.loads(await client.recv())["result"])
            return found

        async def scene() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
            async with (
                serving(Service(dispatcher, limits)) as server,
                connect(f"ws://127.0.0.1:{server.port}", max_size=None, compression=None, ping_interval=None) as client,
            ):
                params = ["history_api", "subscribe_market", [wanted, 1, True]]
                await client.send(json.dumps({"jsonrpc": "2.0", "method": "call", "params": params, "id": 1}))
                before = await told_to(client, 495)
                while chain.head_number >= market.block:
                    chain.pop_block()
                main.publish(b"")
                taken_back = json.loads(await client.recv())["result"]
                assert taken_back == {"undone_from": market.block}
                advance(chain, name, 495)
                main.publish(b"")
                return before, await told_to(client, 495)

        before, after = play(scene)
    for kind in ("operations", "prices"):
        first = [each for message in before for each in message.get(kind, ())]
        again = [each for message in after for each in message[kind]]
        assert again == first[len(first) - len(again) :]
        assert bool(again) or kind == "prices"


def test_what_names_only_a_row_is_told_also_when_that_is_gone(past: Past) -> None:
    found: list[tuple[Operation, OperationPlace]] = []

    def picks(operation: Operation, place: OperationPlace) -> bool:
        found.append((operation, place))
        return False

    tags = frozenset(map(tag_of, named_rows()))
    with past.reader.snapshot() as state, past.kept.snapshot() as kept, past.history.reading() as view:
        view.find_operations(1, HEIGHT, Wanted(tags=tags, picks=picks), 1 << 31)
        overlay = Overlay(STORED_TABLES)
        named = [market_of(state, kept, *each) for each in found]
        for _, table in named_rows().values():
            overlay.add(state.revision, [(table.number, each, None) for each in state.scan_ids(table)])
        emptied = overlay.over(state)
        assert [market_of(emptied, kept, *each) for each in found] == named
        assert len({type(operation) for operation, _ in found}) > 2
        assert {market_of(emptied, kept, operation, place._replace(block=0)) for operation, place in found} == {None}


def of_bet(bet: PmBet) -> tuple[int, int]:
    return bet.id, bet.weight


def test_values_that_are_derived_together_are_those_of_each(past: Past) -> None:
    """By ids and by another index; from the file, and with what waiting transactions have changed over it."""
    with past.reader.snapshot() as state, past.kept.snapshot() as kept:
        bets, markets = [*state.scan_ids(PM_BETS), 1 << 40], [*state.scan_ids(PM_MARKETS), 1 << 40]
        overlay = Overlay(STORED_TABLES)
        overlay.add(state.revision, [(table.number, 0, None) for table in (PM_BETS, PM_MARKETS)])
        for view in (state, overlay.over(state)):
            for _ in range(2):
                assert view.derived_all(of_bet, PM_BETS.by_id, bets) == [
                    view.derived(of_bet, PM_BETS.by_id, each) for each in bets
                ]
                assert view.derived_all(repr, PM_MARKETS.by_id, markets) == [
                    view.derived(repr, PM_MARKETS.by_id, each) for each in markets
                ]
        assert kept.derived_all(repr, META_BY_MARKET, markets) == [
            kept.derived(repr, META_BY_MARKET, each) for each in markets
        ]
        assert overlay.over(state).derived_all(of_bet, PM_BETS.by_id, [0, 1 << 40]) == [None, None]
        assert len(list(filter(None, state.derived_all(of_bet, PM_BETS.by_id, bets)))) == len(bets) - 1 > 5
        assert any(kept.derived_all(repr, META_BY_MARKET, markets))


def test_rows_that_are_read_together_are_those_of_the_index_in_its_order(past: Past) -> None:
    """From the file, and with what waiting transactions have changed over it."""
    market = busiest(past)
    bounds: dict[str, Any] = {"lower": (market,), "upper": (market,)}
    with past.reader.snapshot() as state:
        bets = list(state.scan(BET_BY_MARKET, **bounds))
        assert list(state.peek_all(BET_BY_MARKET, PM_BETS.codec.decode, **bounds)) == bets
        assert [each.weight for each in state.peek_all(BET_BY_MARKET, bet_weight, **bounds)] == [
            each.weight for each in bets
        ]
        overlay = Overlay(STORED_TABLES)
        overlay.add(state.revision, [(PM_BETS.number, bets[0].id, None)])
        changed = overlay.over(state)
        assert list(changed.peek_all(BET_BY_MARKET, PM_BETS.codec.decode, **bounds)) == bets[1:]
        assert len(bets) > 5
