"""A stream of what happens in one market: its operations, and its price points, block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from ledgerd.chain.log.histories import History, HistoryView, RecordedOperation, Wanted
from ledgerd.codec.numbers import Int64, UInt32
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import name_of, tag_of
from ledgerd.rpc.api.history.stream import HistoryStream
from ledgerd.rpc.api.prediction_market.klines import Kline, points_of_blocks
from ledgerd.state.objects.bets import PM_BETS
from ledgerd.state.objects.commitments import PM_COMMITS
from ledgerd.state.objects.leverage import PM_LEVERAGE_POSITIONS
from ledgerd.state.objects.liquidity import PM_LIQUIDITY

if TYPE_CHECKING:
    from ledgerd.rpc.call.view import OpenView
    from ledgerd.state.tables import Table
    from ledgerd.state.view import View

OF_A_ROW: dict[str, Table[Any]] = {
    "commit_id": PM_COMMITS,
    "bet_id": PM_BETS,
    "liquidity_id": PM_LIQUIDITY,
    "position_id": PM_LEVERAGE_POSITIONS,
}
"""What operations name that do not name their market. Such a row goes with its market, long after it was paid out."""

MARKET_ID = "market_id"
NAMING = tuple(each for each in OPERATIONS if {MARKET_ID, *OF_A_ROW} & set(each.__struct_fields__))
MARKET_TAGS = frozenset(tag_of(each) for each in NAMING if name_of(each).startswith("pm_"))


class MarketMessage(msgspec.Struct, frozen=True):
    """One message: the name of the subscription, or blocks that were taken back, or what happened in blocks."""

    subscription: str | None
    next_block: UInt32 | None
    oldest_block: UInt32 | None
    undone_from: UInt32 | None
    first_block: UInt32 | None
    last_block: UInt32 | None
    irreversible_block: UInt32 | None
    operations: tuple[RecordedOperation, ...] | None
    prices: tuple[Kline, ...] | None


def market_of(state: View, operation: Operation) -> int | None:
    """The market that an operation concerns; none where the row that it names is gone."""
    named: int | None = getattr(operation, MARKET_ID, None)
    if named is not None:
        return named
    for field, table in OF_A_ROW.items():
        row_id = getattr(operation, field, None)
        row = None if row_id is None else state.find(table, row_id)
        if row is not None:
            market: int = row.market
            return market
    return None


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

    def _picks(self, operation: Operation) -> bool:
        return self._state is not None and market_of(self._state, operation) == self._market

    def _last(self, view: HistoryView) -> int:
        """The history is written ahead of the state, whose price points belong to the same message."""
        return min(super()._last(view), self._state.revision if self._state is not None else 0)

    def _more(self, first: int, last: int) -> str:
        """The price points of the blocks; none where the plugin does not run, or they were removed."""
        points = [] if self._state is None else points_of_blocks(self._state, self._market, first, last)
        return f',"prices":[{",".join(points)}]'
