"""A stream of a market while the chain goes over to another branch: what it told is taken back, and it goes on."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.history.embedded.log_bytes import LogBytes
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.settings import HistorySettings
from ledgerd.projections.following import follow, projections_of
from ledgerd.projections.markets.records import MarketRecords
from ledgerd.projections.tables.market_records import POINTS_MOVED_AFTER
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.operations.markets.bets import PmPlaceBet
from ledgerd.protocol.types.assets import tokens
from ledgerd.rpc.api.history.market_stream import MarketStream
from ledgerd.rpc.call.view import Node
from ledgerd.state.views.empty import EmptyView
from tests.chain.crowded_markets import open_markets
from tests.chain.networks import VIZ, Network, start_seven
from tests.history.histories import followed
from tests.rpc.sample_api import Main

Told = list[dict[str, Any]]
MARKET, OTHER = 0, 1


def node_of(folder: Path) -> Network:
    """A node that keeps records of two markets; all of these stand at the same block."""
    node = start_seven(folder)
    open_markets(node, 2, 2)
    follow(node.chain, [MarketRecords()])
    return node


def branch(node: Network, stakes: list[int], skipped: int = 0) -> list[Block]:
    """Blocks with a bet on each of the markets; the first one leaves slots out."""
    blocks = []
    for place, stake in enumerate(stakes):
        for market in (MARKET, OTHER):
            node.send(PmPlaceBet(VIZ, market, 0, -1, tokens(stake + market), 0, 0, ()))
        blocks += node.produce(skipped=0 if place else skipped)
    return blocks


class Client:
    """A subscriber to a market: a history, and the state and its projections that are read beside it."""

    def __init__(self, history: EmbeddedHistory, chain: Chain, first: int) -> None:
        self.state = chain.parts.store
        kept = projections_of(chain) or EmptyView()
        node = Node(chain.network, lambda: nullcontext(self.state), Main(), projections=lambda: nullcontext(kept))
        self._stream = MarketStream(history, node, MARKET, first, reversible=True)

    def told(self) -> Told:
        """All that the stream has to say now."""
        found, has_more = Told(), True
        while has_more:
            message, has_more = self._stream.advance()
            if message:
                found.append(json.loads(message))
        return found


def stakes_of(messages: Told) -> list[int]:
    bets = [body for message in messages for name, body in (each["op"] for each in message["operations"])]
    assert all(body["market_id"] == MARKET for body in bets)
    return [int(body["amount"].partition(" ")[0].replace(".", "")) for body in bets]


def sums_of(messages: Told) -> list[int]:
    return [point["bets_sum"] for message in messages for point in message["prices"]]


def test_what_a_branch_told_is_taken_back_and_the_next_one_told_with_its_own_prices(tmp_path: Path) -> None:
    node, other, stayed = (node_of(tmp_path / name) for name in ("node", "other", "stayed"))
    first = node.chain.head_number + 1
    with followed(node.chain, node.folder) as store:
        history = EmbeddedHistory(store.environment, LogBytes(node.folder / STATE_FOLDER), HistorySettings())
        client = Client(history, node.chain, first)
        left = branch(node, [1_000, 2_000])
        stayed.follow(left)
        before = client.told()
        assert (stakes_of(before), sums_of(before)) == ([1_000, 2_000], [1_000, 3_000])
        assert before[-1]["irreversible_block"] < first

        node.follow(branch(other, [5_000, 6_000, 7_000, 8_000], skipped=1))
        assert node.chain.head_id == other.chain.head_id
        # The history is written before the state: until that has followed, nothing is told but what is taken back.
        client.state = stayed.chain.parts.store
        assert client.told() == [{"undone_from": first}]
        client.state = node.chain.parts.store
        after = client.told()

        assert stakes_of(after) == [5_000, 6_000, 7_000, 8_000]
        assert sums_of(after) == [5_000, 11_000, 18_000, 26_000]
        assert [point["seq"] for message in after for point in message["prices"]] == [0, 1, 2, 3]
        # Who comes back with the block that the message named is told the same, and from any later block the rest.
        assert Client(history, node.chain, first).told() == after
        for behind in range(1, 4):
            rest = Client(history, node.chain, first + behind).told()
            assert stakes_of(rest) == stakes_of(after)[behind:]
            assert sums_of(rest) == sums_of(after)[behind:]
        assert Client(history, node.chain, first + 4).told() == []
    for each in (node, other, stayed):
        each.chain.close()


def test_the_branch_may_be_left_after_its_points_were_moved_to_their_market(tmp_path: Path) -> None:
    node, other = (node_of(tmp_path / name) for name in ("node", "other"))
    for each in (node, other):
        while (each.chain.head_number + 2) % POINTS_MOVED_AFTER:
            each.produce()
    first = node.chain.head_number + 1
    with followed(node.chain, node.folder) as store:
        history = EmbeddedHistory(store.environment, LogBytes(node.folder / STATE_FOLDER), HistorySettings())
        client = Client(history, node.chain, first)
        branch(node, [1_000, 2_000, 3_000])
        assert sums_of(client.told()) == [1_000, 3_000, 6_000]
        node.follow(branch(other, [4_000, 5_000, 6_000, 7_000, 8_000], skipped=1))
        taken_back, *after = client.told()
    assert taken_back == {"undone_from": first}
    assert stakes_of(after) == [4_000, 5_000, 6_000, 7_000, 8_000]
    assert sums_of(after) == [4_000, 9_000, 15_000, 22_000, 30_000]
    for each in (node, other):
        each.chain.close()
