"""Which market an operation concerned that does not name it. It is sampled when that happens, as the row that the
operation names goes with its market.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from ledgerd.chain.interface.observer import Samplers
from ledgerd.chain.ledger.events import BlockApplied, Sample
from ledgerd.chain.ledger.ledger import Ledger, Sampler
from ledgerd.projections.tables.market_records import PM_PLACED_MARKETS, PlacedMarket, PmPlacedMarkets
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.markets.markets import PmCreateMarket
from ledgerd.protocol.operations.roles import IdOf, field_marked, fields_marked
from ledgerd.state.objects.markets.bets import PM_BETS
from ledgerd.state.objects.markets.commitments import PM_COMMITS
from ledgerd.state.objects.markets.leverage import PM_LEVERAGE_POSITIONS
from ledgerd.state.objects.markets.liquidity import PM_LIQUIDITY
from ledgerd.state.objects.markets.markets import PM_MARKETS
from ledgerd.state.store import Store
from ledgerd.state.tables.tables import Table


class ConcernedMarket(NamedTuple):
    """The market that an operation concerned."""

    market: int


class RowSampler(Sampler):
    """The market of a row that an operation names: it may remove the row."""

    def __init__(self, field: str, table: Table[Any]) -> None:
        self._field = field
        self._table = table

    def before(self, ledger: Ledger, operation: Operation) -> ConcernedMarket | None:
        row = ledger.store.find(self._table, getattr(operation, self._field))
        return None if row is None else ConcernedMarket(row.market)

    def after(self, _ledger: Ledger, _operation: Operation, before: ConcernedMarket | None) -> ConcernedMarket | None:
        return before


class NewMarketSampler(Sampler):
    """The market that an operation opens."""

    def before(self, ledger: Ledger, _operation: PmCreateMarket) -> ConcernedMarket:
        return ConcernedMarket(ledger.store.next_id(PM_MARKETS))

    def after(self, _ledger: Ledger, _operation: PmCreateMarket, before: ConcernedMarket) -> ConcernedMarket:
        return before


ROWS: Mapping[IdOf, Table[Any]] = {
    IdOf.COMMIT: PM_COMMITS,
    IdOf.BET: PM_BETS,
    IdOf.LIQUIDITY: PM_LIQUIDITY,
    IdOf.POSITION: PM_LEVERAGE_POSITIONS,
}
"""The tables whose rows belong to a market."""


@cache
def market_field(kind: type[Operation]) -> str | None:
    """The field with the market that an operation names."""
    field = field_marked(kind, IdOf.MARKET)
    return None if field is None else field.attribute


@cache
def named_rows() -> Mapping[type[Operation], tuple[str, Table[Any]]]:
    """The field and the table of the operations that name only a row of a market."""
    return {
        kind: (field.attribute, ROWS[mark])
        for kind in OPERATIONS
        if market_field(kind) is None
        for field in fields_marked(kind, *ROWS)
        for mark in field.marks
        if isinstance(mark, IdOf)
    }


def place_samplers() -> Samplers:
    rows: Samplers = {kind: (RowSampler(*named),) for kind, named in named_rows().items()}
    return {**rows, PmCreateMarket: (NewMarketSampler(),)}


def write_places(kept: Store, event: BlockApplied, samples: Sequence[Sample]) -> None:
    packed = b""
    for sample in samples:
        if isinstance(sample.found, ConcernedMarket):
            stands = event.operations[sample.place]
            packed += PlacedMarket(
                stands.transaction_in_block,
                stands.operation_in_transaction,
                stands.virtual_operation,
                sample.found.market,
            ).packed
    if packed:
        kept.create(PM_PLACED_MARKETS, PmPlacedMarkets(block=event.block.number, places=packed))
