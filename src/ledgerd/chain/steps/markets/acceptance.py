"""Markets that their oracle has not taken on in time (spec 09, section 5.3)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.liquidity_return import return_liquidity
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.protocol.assets import tokens
from ledgerd.protocol.operations.virtual_markets import PmMarketExpired
from ledgerd.state.objects.markets import DELETED, MARKET_BY_ACCEPT_DEADLINE, PAID, WAITING


def drop_unaccepted(ledger: Ledger, budget: MarketBudget) -> None:
    """The liquidity goes back; what the oracle has counted stays."""
    due = ledger.store.scan(MARKET_BY_ACCEPT_DEADLINE, lower=(WAITING,), upper=(WAITING, ledger.now))
    for market in due:
        if budget.turns <= 0:
            return
        refunded = market.liquidity_sum
        return_liquidity(ledger, market)
        with ledger.editing(market):
            market.status = DELETED
            market.payout_status = PAID
            market.finalized_time = ledger.now
        ledger.emit(PmMarketExpired(market.oracle, market.creator, market.id, tokens(refunded)))
        budget.take_turn()
