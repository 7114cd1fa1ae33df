"""Which market an operation concerned that does not name it: noted when it happens, for the row that it names goes with
its market, and a new market has no id before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ledgerd.protocol.operations.bets import PmCancelBet, PmTransferPosition
from ledgerd.protocol.operations.commitments import PmRevealBet
from ledgerd.protocol.operations.leverage import PmLeverageClose, PmLeverageConvert
from ledgerd.protocol.operations.liquidity import PmWithdrawLiquidity
from ledgerd.protocol.operations.markets import PmCreateMarket
from ledgerd.state.objects.bets import PM_BETS
from ledgerd.state.objects.commitments import PM_COMMITS
from ledgerd.state.objects.leverage import PM_LEVERAGE_POSITIONS
from ledgerd.state.objects.liquidity import PM_LIQUIDITY
from ledgerd.state.objects.market_records import PM_PLACED_MARKETS, PlacedMarket, PmPlacedMarkets
from ledgerd.state.objects.markets import PM_MARKETS

if TYPE_CHECKING:
    from ledgerd.chain.ledger.ledger import Follower, Followers, Ledger
    from ledgerd.protocol.operations import Operation
    from ledgerd.state.tables import Table

NAMED_ROWS: tuple[tuple[type[Operation], str, Table[Any]], ...] = (
    (PmRevealBet, "commit_id", PM_COMMITS),
    (PmCancelBet, "bet_id", PM_BETS),
    (PmTransferPosition, "bet_id", PM_BETS),
    (PmWithdrawLiquidity, "liquidity_id", PM_LIQUIDITY),
    (PmLeverageClose, "position_id", PM_LEVERAGE_POSITIONS),
    (PmLeverageConvert, "position_id", PM_LEVERAGE_POSITIONS),
)
"""The operations that name only a row of a market."""


def place_followers() -> Followers:
    """Note the markets of these operations, and of those that open one."""
    followers = {kind: _follower(field, table) for kind, field, table in NAMED_ROWS}
    return {**followers, PmCreateMarket: _new_market}


def _follower(field: str, table: Table[Any]) -> Follower:
    @contextmanager
    def follow(ledger: Ledger, operation: Operation) -> Iterator[None]:
        row = ledger.store.find(table, getattr(operation, field))
        note = _noting(ledger, None if row is None else row.market)
        yield
        note()

    return follow


@contextmanager
def _new_market(ledger: Ledger, _operation: PmCreateMarket) -> Iterator[None]:
    note = _noting(ledger, ledger.store.next_id(PM_MARKETS))
    yield
    note()


def _noting(ledger: Ledger, market: int | None) -> Callable[[], None]:
    """Takes down where the operation stands that was reported just now."""
    reported = ledger.operations[-1]

    def note() -> None:
        if market is not None:
            numbers = (reported.transaction_in_block, reported.operation_in_transaction, reported.virtual_operation)
            ledger.noted.append(PlacedMarket(*numbers, market))

    return note


def write_places(ledger: Ledger) -> None:
    """At the end of a block: store where such operations stand in it."""
    places = [note for note in ledger.noted if isinstance(note, PlacedMarket)]
    if places:
        packed = b"".join([each.packed for each in places])
        ledger.store.create(PM_PLACED_MARKETS, PmPlacedMarkets(block=ledger.head_number, places=packed))
