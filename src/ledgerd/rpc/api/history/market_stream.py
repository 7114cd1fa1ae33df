"""A stream of what happens in one market: its operations, and its price points, block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerd.chain.log.histories import History, HistoryView, OperationPlace, Wanted
from ledgerd.codec.numbers import Int64
from ledgerd.projections.markets.places import NAMED_ROWS
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import name_of, tag_of
from ledgerd.protocol.operations.markets import PmCreateMarket
from ledgerd.rpc.api.history.stream import HistoryStream, StreamMessage
from ledgerd.rpc.api.prediction_market.klines import Kline, points_of_blocks
from ledgerd.state.objects.market_records import PLACED_BY_BLOCK, PmPlacedMarkets
from ledgerd.state.objects.reversible import REVERSIBLE_BY_NUMBER

if TYPE_CHECKING:
    from ledgerd.rpc.call.view import OpenView
    from ledgerd.state.view import View

MARKET_ID = "market_id"
NAMING = tuple(each for each in OPERATIONS if MARKET_ID in each.__struct_fields__ and name_of(each).startswith("pm_"))
CONCERNING: tuple[type[Operation], ...] = (*NAMING, *NAMED_ROWS, PmCreateMarket)
MARKET_TAGS = frozenset(tag_of(each) for each in CONCERNING)


class MarketMessage(StreamMessage, frozen=True):
    """One message of a subscription to a market."""

    prices: tuple[Kline, ...] | None


def _placed(row: PmPlacedMarkets) -> dict[tuple[int, int, int], int]:
    return {(transaction, place, virtual): market for transaction, place, virtual, market in row}


def market_of(state: View, operation: Operation, place: OperationPlace) -> int | None:
    """The market that an operation concerns; none where that was not recorded, and the row that it names is gone.

    A row goes with its market, long after it was paid out.
    """
    named: int | None = getattr(operation, MARKET_ID, None)
    if named is not None:
        return named
    recorded = (state.derived(_placed, PLACED_BY_BLOCK, place.block) or {}).get(place[1:])
    if recorded is not None or type(operation) not in NAMED_ROWS:
        return recorded
    field, table = NAMED_ROWS[type(operation)]
    row = state.find(table, getattr(operation, field))
    return None if row is None else row.market


class MarketStream(HistoryStream):
    """Where one subscriber to a market is."""

    def __init__(
        self, history: History, reading: OpenView, market: Int64, next_block: int, *, reversible: bool
    ) -> None:
        super().__init__(history, Wanted(tags=MARKET_TAGS, picks=self._picks), next_block, reversible=reversible)
        self._reading = reading
        self._market = market
        self._state: View | None = None

    def advance(self) -> tuple[str, bool]:
        """Look at some more blocks, beside the state as it is now."""
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

    def _may_tell(self, view: HistoryView) -> bool:
        """Whether the state has the blocks of the history: when a branch is left, it has those of before a little
        longer, whose price points must not be told with what happened in others.
        """
        if self._state is None:
            return False
        head = self._state.revision
        own = self._state.lookup(REVERSIBLE_BY_NUMBER, head)
        return own is None or own.packed.startswith(view.mark_of(head))

    def _more(self, first: int, last: int) -> str:
        """The price points of the blocks; none where the plugin does not run, or they were removed."""
        points = [] if self._state is None else points_of_blocks(self._state, self._market, first, last)
        return f',"prices":[{",".join(points)}]'
