"""A stream of what happens in one market: its operations, and its price points, block by block."""

from __future__ import annotations

from functools import cache

from ledgerd.chain.log.histories import History, HistoryView, OperationPlace, Wanted
from ledgerd.codec.numbers import Int64
from ledgerd.projections.markets.places import market_field, named_rows
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import tag_of
from ledgerd.protocol.operations.markets import PmCreateMarket
from ledgerd.rpc.api.history.stream import HistoryStream, StreamMessage
from ledgerd.rpc.api.prediction_market.klines import Kline, points_of_blocks
from ledgerd.rpc.call.view import OpenView
from ledgerd.state.objects.market_records import PLACED_BY_BLOCK, PmPlacedMarkets
from ledgerd.state.objects.transactions import REVERSIBLE_BY_NUMBER
from ledgerd.state.view import View


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


def market_of(state: View, operation: Operation, place: OperationPlace) -> int | None:
    """None where that was not recorded, and the row that it names is gone, long after its market was paid out."""
    field = market_field(type(operation))
    if field is not None:
        named: int = getattr(operation, field)
        return named
    recorded = (state.derived(_placed, PLACED_BY_BLOCK, place.block) or {}).get(place[1:])
    if recorded is not None or type(operation) not in named_rows():
        return recorded
    naming, table = named_rows()[type(operation)]
    row = state.find(table, getattr(operation, naming))
    return None if row is None else row.market


class MarketStream(HistoryStream):
    """Where one subscriber to a market is."""

    def __init__(
        self, history: History, reading: OpenView, market: Int64, next_block: int, *, reversible: bool
    ) -> None:
        super().__init__(history, Wanted(tags=market_tags(), picks=self._picks), next_block, reversible=reversible)
        self._reading = reading
        self._market = market
        self._state: View | None = None

    def advance(self) -> tuple[str, bool]:
        with self._reading() as self._state:
            return super().advance()

    def opening(self, name: str) -> str:
        with self._reading() as self._state:
            return super().opening(name)

    def _picks(self, operation: Operation, place: OperationPlace) -> bool:
        return self._state is not None and market_of(self._state, operation, place) == self._market

    def _last(self, view: HistoryView) -> int:
        """The history is written ahead of the state, whose price points belong to the same message."""
        return min(super()._last(view), self._state.revision if self._state is not None else 0)

    def _is_ready(self, view: HistoryView) -> bool:
        """Whether the state has the blocks of the history: when a branch is left, it has those of before a little
        longer, whose price points must not be told with what happened in others.
        """
        if self._state is None:
            return False
        head = self._state.revision
        own = self._state.lookup(REVERSIBLE_BY_NUMBER, head)
        return own is None or own.packed.startswith(view.mark_of(head))

    def _more(self, first: int, last: int) -> str:
        points = [] if self._state is None else points_of_blocks(self._state, self._market, first, last)
        return f',"prices":[{",".join(points)}]'
