"""What those get who provided a settled market's liquidity (spec 09, section 6.3)."""

from __future__ import annotations

from ledgerd.chain.ledger.discrepancies import note
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.frozen import LIQUIDITY, move_balance
from ledgerd.chain.rules.markets.lazy_pool import return_to_pool, settle_allocation
from ledgerd.pricing.liquidity import Provided, bonus_shares, charges
from ledgerd.protocol.assets import fits_int64, tokens
from ledgerd.protocol.operations.virtual_markets import PmLpPayout
from ledgerd.state.objects.discrepancies import Sum
from ledgerd.state.objects.liquidity import ACTIVE, CLOSED, LIQUIDITY_BY_MARKET, PmLiquidity
from ledgerd.state.objects.markets import PmMarket


def pay_providers(ledger: Ledger, market: PmMarket, bonus: int, uncovered: int) -> None:
    """Share the bonus by amount and time, and what is missing by amount.

    Quirk: without any provider nobody gets the bonus, and nothing else happens either.
    """
    rows = ledger.store.scan(LIQUIDITY_BY_MARKET, lower=(market.id,), upper=(market.id,))
    active = [row for row in rows if row.status == ACTIVE]
    if not active:
        note(ledger, Sum.TOKENS, uncovered - bonus)
        return
    incomes = bonus_shares([Provided(row.amount, ledger.now - row.deposit_time) for row in active], bonus)
    charged = charges([row.amount for row in active], uncovered)
    with ledger.editing(market):
        market.liquidity_fee_earned = bonus
    for row, income, charge in zip(active, incomes, charged, strict=True):
        _pay(ledger, row, income, charge)
    settle_allocation(ledger, market)


def _pay(ledger: Ledger, row: PmLiquidity, income: int, charge: int) -> None:
    """Quirk: what the pool is charged stays in its allocated balance for ever."""
    principal = max(0, row.amount - charge)
    if row.provider:
        paid = fits_int64(principal + income)
        move_balance(ledger, ledger.account(row.provider), max(0, paid), LIQUIDITY, -row.amount)
        ledger.emit(PmLpPayout(row.provider, row.market, tokens(principal), tokens(income), tokens(charge)))
    else:
        return_to_pool(ledger, principal, income)
    with ledger.editing(row):
        row.earned_fee = fits_int64(row.earned_fee + income)
        row.status = CLOSED
