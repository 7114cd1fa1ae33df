"""A stream of what happens in one market: its operations, and its price points, block by block."""

from __future__ import annotations

from functools import cache

from ledgerd.chain.log.histories import History, HistoryView, OperationPlace, Wanted
from ledgerd.codec.types.numbers import Int64
from ledgerd.projections.markets.places import market_field, named_rows
from ledgerd.projections.reading import are_of_one_commit
from ledgerd.projections.tables.market_records import PLACED_BY_BLOCK, PmPlacedMarkets
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import tag_of
from ledgerd.protocol.operations.markets.markets import PmCreateMarket
from ledgerd.rpc.api.history.stream import HistoryStream, StreamMessage
from ledgerd.rpc.api.prediction_market.klines import Kline, points_of_blocks
from ledgerd.rpc.call.view import Node
from ledgerd.state.objects.transactions import REVERSIBLE_BY_NUMBER
from ledgerd.state.views.empty import EmptyView
from ledgerd.state.views.view import View


@cache
def market_tags() -> frozenset[int]:
    naming = [each for each in OPERATIONS if market_field(each)]
    concerning: tuple[type[Operation], ...] = (*naming, *named_rows(), PmCreateMarket)
    return frozenset(map(tag_of, concerning))


class MarketMessage(StreamMessage, frozen=True):
    """One message: the name of the subscription, or blocks that were taken back, or what happened in blocks."""

    prices: tuple[Kline, ...] | None


def _placed(row: PmPlacedMarkets) -> dict[tuple[int, int, int], int]:
    return {(transaction, place, virtual): market for transaction, place, virtual, market in row}


def market_of(state: View, kept: View, operation: Operation, place: OperationPlace) -> int | None:
    """The market that an operation concerns; none if that was not recorded, and the row that it names is gone.

    A row goes with its market, long after it was paid out.
    """
    field = market_field(type(operation))
    if field is not None:
        named: int = getattr(operation, field)
        return named
    recorded = (kept.derived(_placed, PLACED_BY_BLOCK, place.block) or {}).get(place[1:])
    if recorded is not None or type(operation) not in named_rows():
        return recorded
    naming, table = named_rows()[type(operation)]
    row = state.find(table, getattr(operation, naming))
    return None if row is None else row.market


class MarketStream(HistoryStream):
    """The position of one subscriber to a market."""

    def __init__(self, history: History, node: Node, market: Int64, next_block: int, *, reversible: bool) -> None:
        super().__init__(history, Wanted(tags=market_tags(), picks=self._picks), next_block, reversible=reversible)
        self._node = node
        self._market = market
        self._state: View = EmptyView()
        self._kept: View = EmptyView()

    def advance(self) -> tuple[str, bool]:
        """Look at some more blocks, beside the state as it is now."""
        with self._node.reading() as self._state, self._node.projections() as self._kept:
            return super().advance()

    def opening(self, name: str) -> str:
        with self._node.reading() as self._state, self._node.projections() as self._kept:
            return super().opening(name)

    def _picks(self, operation: Operation, place: OperationPlace) -> bool:
        return market_of(self._state, self._kept, operation, place) == self._market

    def _last(self, view: HistoryView) -> int:
        """The history is written ahead of the state, whose price points belong to the same message."""
        return min(super()._last(view), self._state.revision)

    def _is_ready(self, view: HistoryView) -> bool:
        """Whether the state and its projections have the blocks of the history: when a branch is left, they have those
        of before a little longer, whose price points must not be told with what happened in others.
        """
        if not are_of_one_commit(self._state, self._kept):
            return False
        head = self._state.revision
        own = self._state.lookup(REVERSIBLE_BY_NUMBER, head)
        return own is None or own.packed.startswith(view.mark_of(head))

    def _more(self, first: int, last: int) -> str:
        """The price points of the blocks; none if the plugin does not run, or they were removed."""
        return f',"prices":[{",".join(points_of_blocks(self._kept, self._market, first, last))}]'
