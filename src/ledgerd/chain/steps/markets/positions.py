"""Positions with a loan: the price of the loan, and the end of betting (spec 09, sections 5.4 and 5.5)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets import liquidation
from ledgerd.chain.rules.markets.market import market_of
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.state.objects.markets.leverage import ACTIVE, LEVERAGE_BY_FUNDING_DUE

FIRST_DUE = 1
"""Positions that pay nothing for their loan are due at time 0, which never comes."""


def charge_funding(ledger: Ledger, budget: MarketBudget) -> None:
    """Charge what is due; what then is worth no more than it owes is closed."""
    due = ledger.store.scan(LEVERAGE_BY_FUNDING_DUE, lower=(ACTIVE, FIRST_DUE), upper=(ACTIVE, ledger.now))
    for position in due:
        if budget.turns <= 0:
            return
        liquidation.accrue_funding(ledger, position)
        market = market_of(ledger, position.market)
        if liquidation.value_of(position, market) <= liquidation.obligation_of(position):
            liquidation.liquidate(ledger, position, market, liquidation.BY_FUNDING)
        budget.use_turn()


def close_after_betting(ledger: Ledger, budget: MarketBudget) -> None:
    """In the order in which funding is due. The reference inspects every position; here, only markets that have
    ended.
    """
    if budget.turns <= 0:
        return
    ends = liquidation.ends_due(ledger)
    over = {end.market: market_of(ledger, end.market) for end in ends}
    positions = [position for market in over.values() for position in liquidation.active_positions(ledger, market)]
    positions.sort(key=lambda position: (position.funding_due_time, position.id))
    left = {position.market for position in positions[budget.turns :]}
    for position in positions[: budget.turns]:
        liquidation.liquidate(ledger, position, over[position.market], liquidation.BY_END)
        budget.use_turn()
    for end in ends:
        if end.market not in left:
            ledger.store.remove(end)
