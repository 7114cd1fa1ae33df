"""A market that is deep enough for positions with a loan, and the one of spec 08, section 13.6."""

from __future__ import annotations

from typing import Any

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.markets.leverage import PmLeverageOpen
from ledgerd.protocol.types.assets import tokens
from ledgerd.state.objects.markets.leverage import (
    PM_LEVERAGE_POSITIONS,
    PmLeveragePosition,
)
from ledgerd.state.objects.markets.markets import PmMarket
from tests.chain.ledgers import BOB, NOW
from tests.chain.market_scenes import (
    create_market,
)

OPEN = PmLeverageOpen(
    account=BOB,
    market_id=0,
    outcome_index=0,
    collateral=tokens(500_000),
    loan=tokens(200_000),
    min_tokens=0,
    max_slippage_percent=0,
    extensions=(),
)
DAY = 86_400
K = 2_500_000_000_000_000
"""Of reserves of 50,000,000 each, as in spec 08, section 13.6."""

LENDABLE = 10**9
"""What the pool must have free to lend 200,000 at a time."""


def create_deep_market(ledger: Ledger, **fields: Any) -> PmMarket:
    return create_market(ledger, 100_000_000, **{"betting_expiration": NOW + DAY + 1, **fields})


def position_of(ledger: Ledger, position_id: int = 0) -> PmLeveragePosition:
    return ledger.store.get(PM_LEVERAGE_POSITIONS, position_id)
