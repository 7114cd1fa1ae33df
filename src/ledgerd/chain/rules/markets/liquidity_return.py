"""Giving all liquidity of a market back, as if there had been no market (spec 08, section 3.11)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.lazy_pool import return_to_pool, settle_allocation
from ledgerd.chain.rules.markets.liquidation import BY_VOID, force_close
from ledgerd.chain.rules.markets.market import LIQUIDITY, move_balance
from ledgerd.state.objects.markets.liquidity import ACTIVE, CLOSED, LIQUIDITY_BY_MARKET
from ledgerd.state.objects.markets.markets import PmMarket
from ledgerd.state.objects.markets.settlements import DEFERRED_CLAIM_BY_MARKET


def return_liquidity(ledger: Ledger, market: PmMarket) -> None:
    """Close what stands, drop all claims unpaid, pay providers. The market's own numbers stay as they are."""
    force_close(ledger, market, BY_VOID)
    for claim in ledger.store.under(DEFERRED_CLAIM_BY_MARKET, market.id):
        ledger.store.remove(claim)
    for row in ledger.store.under(LIQUIDITY_BY_MARKET, market.id):
        if row.status != ACTIVE:
            continue
        if row.provider:
            move_balance(ledger, ledger.account(row.provider), row.amount, LIQUIDITY, -row.amount)
        else:
            return_to_pool(ledger, row.amount, 0)
        with ledger.editing(row):
            row.status = CLOSED
    settle_allocation(ledger, market)
