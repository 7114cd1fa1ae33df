"""Which markets have positions to be closed because betting is over, so that no block looks at all positions.

The reference walks every position that stands, in each block, and asks its market (spec 09, section 5.5). Here each
market with positions has a row with the time from which the answer is yes.
"""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.state.objects.leverage_ends import (
    AT_ONCE,
    LEVERAGE_END_BY_MARKET,
    LEVERAGE_END_BY_TIME,
    LEVERAGE_ENDS,
    NEVER,
    LeverageEnd,
)
from ledgerd.state.objects.markets import PmMarket


def expect_end(ledger: Ledger, market: PmMarket) -> None:
    """A position opens: it stands until betting ends, where it ends by itself."""
    if ledger.store.lookup(LEVERAGE_END_BY_MARKET, market.id) is None:
        ledger.store.create(LEVERAGE_ENDS, LeverageEnd(market=market.id, time=market.betting_expiration or NEVER))


def bring_end(ledger: Ledger, market: PmMarket) -> None:
    """A market was resolved, by whomever: what positions it has do not stand any longer."""
    end = ledger.store.lookup(LEVERAGE_END_BY_MARKET, market.id)
    if end is not None:
        with ledger.editing(end):
            end.time = AT_ONCE


def ends_due(ledger: Ledger) -> list[LeverageEnd]:
    """The markets whose positions are to be closed."""
    return list(ledger.store.scan(LEVERAGE_END_BY_TIME, upper=(ledger.now,)))


def forget_end(ledger: Ledger, market_id: int) -> None:
    """A market has no positions that stand, and gets none any more."""
    end = ledger.store.lookup(LEVERAGE_END_BY_MARKET, market_id)
    if end is not None:
        ledger.store.remove(end)
