"""Taking tokens of the lazy pool out of a market before it ends (spec 09, section 7.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerd.chain.ledger.arithmetic import share
from ledgerd.chain.rules.markets.curve import priced
from ledgerd.chain.rules.markets.lazy_pool import return_to_pool
from ledgerd.pricing.constant_product import reserves_without
from ledgerd.pricing.liquidity import depth_removed
from ledgerd.protocol.operations.markets import MULTI
from ledgerd.state.objects.liquidity import ACTIVE, CLOSED, LIQUIDITY_BY_MARKET, PmLiquidity

if TYPE_CHECKING:
    from ledgerd.chain.ledger.ledger import Ledger
    from ledgerd.state.objects.markets import PmMarket


def recall(ledger: Ledger, market: PmMarket, amount: int) -> int:
    """Take an amount out, or what there is of it; returns what was taken."""
    row = _row_of_pool(ledger, market) if amount > 0 else None
    if row is None:
        return 0
    taken = min(amount, row.amount)
    depth = depth_removed(row.b_share, taken, row.amount) if market.market_type == MULTI else 0
    liquidity = market.liquidity_sum
    with ledger.editing(market, row):
        market.liquidity_sum = share(liquidity - taken)
        if market.market_type == MULTI:
            market.lmsr_b = share(market.lmsr_b - depth)
        elif liquidity > 0:
            reserves = priced(reserves_without, market.reserve_a, market.reserve_b, liquidity, taken)
            market.reserve_a, market.reserve_b, market.k = reserves
        if taken == row.amount:
            row.status = CLOSED
        else:
            row.amount = share(row.amount - taken)
            row.b_share = share(row.b_share - depth)
    return_to_pool(ledger, taken, 0)
    return taken


def _row_of_pool(ledger: Ledger, market: PmMarket) -> PmLiquidity | None:
    rows = ledger.store.scan(LIQUIDITY_BY_MARKET, lower=(market.id,), upper=(market.id,))
    return next((row for row in rows if row.status == ACTIVE and not row.provider), None)
