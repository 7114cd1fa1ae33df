"""Blocks in which nothing happens but the market step."""

from __future__ import annotations

from typing import Any, TypeVar

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.markets.frame import process_markets
from ledgerd.protocol.operations import Operation
from ledgerd.state.objects.markets.markets import RESOLVED, TO_BE_PAID, PmMarket
from tests.chain.ledgers import change, run
from tests.chain.market_scenes import create_market

O = TypeVar("O", bound=Operation)  # noqa: E741 - the usual name of the parameter of a kind of operation

LONG_AGO = 1_700_000_000
"""No dispute of that time is open any more."""


def this_block(ledger: Ledger) -> list[Operation]:
    """The market step of the block at the head, which is not the first after hardfork 14."""
    change(ledger, ledger.globals, pm_oracle_gauges_seeded=True)
    return run(ledger, process_markets)


def next_block(ledger: Ledger, seconds: int = 3) -> list[Operation]:
    """The same of the block after it."""
    change(ledger, ledger.globals, time=ledger.now + seconds, head_block_number=ledger.head_number + 1)
    return this_block(ledger)


def of_kind(operations: list[Operation], kind: type[O]) -> list[O]:
    return [each for each in operations if isinstance(each, kind)]


def resolved_market(ledger: Ledger, outcome: int, liquidity: int = 100_001, **fields: Any) -> PmMarket:
    """A binary market whose oracle said long ago how it ended."""
    settled: dict[str, Any] = {
        "status": RESOLVED,
        "payout_status": TO_BE_PAID,
        "resolved_outcome": outcome,
        "result_expiration": LONG_AGO,
        "betting_expiration": LONG_AGO - 1,
    }
    return create_market(ledger, liquidity, **{**settled, **fields})
