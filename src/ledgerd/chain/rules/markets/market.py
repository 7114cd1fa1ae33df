"""What operations ask of a market first (spec 08, section 1), and the sums that they change: stakes, claims of those
who left early, and what accounts have in markets, which is for display (section 3.2).
"""

from __future__ import annotations

from typing import Literal

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.constants import MAX_PM_DEFERRED_CLAIMS_PER_MARKET
from ledgerd.protocol.errors import require
from ledgerd.protocol.types.assets import fits_int64
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import Account
from ledgerd.state.objects.markets.markets import ACTIVE, BEING_PAID, PM_MARKETS, PmMarket
from ledgerd.state.objects.markets.settlements import PM_DEFERRED_CLAIMS, PmDeferredClaim


def require_markets_enabled(ledger: Ledger) -> None:
    """The first check of every operation of markets (spec 08, section 1.3: `GATE`)."""
    require(ledger.hardfork(14), "db.has_hardfork(CHAIN_HARDFORK_14): PM not enabled")


def market_of(ledger: Ledger, market_id: int) -> PmMarket:
    """A market that must exist (spec 08, section 3.1)."""
    return ledger.store.get(PM_MARKETS, market_id)


def require_active(market: PmMarket) -> None:
    require(market.status == ACTIVE, "mkt.status == 1: Market not active")


def is_betting_open(ledger: Ledger, market: PmMarket) -> bool:
    """Whether bets are taken by the clock; without an end they always are (spec 08, section 1.5)."""
    return market.betting_expiration == 0 or ledger.now < market.betting_expiration


def require_betting_open(ledger: Ledger, market: PmMarket, text: str) -> None:
    """The same as a rule; what it says differs between operations."""
    require(
        is_betting_open(ledger, market),
        f"mkt.betting_expiration == time_point_sec() || now < mkt.betting_expiration: {text}",
    )


def require_not_being_refunded(market: PmMarket) -> None:
    """No refund is under way, which may take several blocks (spec 08, section 1.5)."""
    require(market.payout_status != BEING_PAID, "mkt.payout_status != 4: Market is being refunded")


def count_stake(market: PmMarket, side: int, amount: int) -> None:
    """A stake on a side of a binary market; any side but 0 counts as 1 (spec 08, sections 5.1, 5.4 and 9.3)."""
    if side == 0:
        market.a_bets_sum = fits_int64(market.a_bets_sum + amount)
    else:
        market.b_bets_sum = fits_int64(market.b_bets_sum + amount)
    market.bets_sum = fits_int64(market.bets_sum + amount)


Frozen = Literal["pm_liquidity_committed", "pm_bets_staked", "pm_leverage_collateral"]

LIQUIDITY: Frozen = "pm_liquidity_committed"
STAKES: Frozen = "pm_bets_staked"
COLLATERAL: Frozen = "pm_leverage_collateral"


def change_frozen(account: Account, counter: Frozen, change: int) -> None:
    """Count up or down, never below zero; for an account that is being edited."""
    if change:
        setattr(account, counter, max(0, fits_int64(getattr(account, counter) + change)))


def adjust_frozen(ledger: Ledger, name: AccountName, counter: Frozen, change: int) -> None:
    """The same by name; an account that is not there is passed over."""
    account = ledger.find_account(name) if change else None
    if account is not None:
        with ledger.editing(account):
            change_frozen(account, counter, change)


def move_balance(ledger: Ledger, account: Account, tokens: int, counter: Frozen, change: int) -> None:
    """Change the balance and a counter in one edit, the balance first."""
    with ledger.editing(account):
        account.balance = fits_int64(account.balance + tokens)
        change_frozen(account, counter, change)


def defer_claim(ledger: Ledger, market: PmMarket, account: AccountName, kind: int, outcome: int, amount: int) -> None:
    """Take a claim in, unless it is of nothing; beyond the most that a market may have it is lost."""
    if amount <= 0 or market.deferred_claim_count >= MAX_PM_DEFERRED_CLAIMS_PER_MARKET:
        return
    claim = PmDeferredClaim(
        market=market.id,
        account=account,
        kind=kind,
        outcome_index=outcome & 0xFF,
        claim_amount=amount,
        exit_time=ledger.now,
    )
    ledger.store.create(PM_DEFERRED_CLAIMS, claim)
    ledger.remember(market)
    market.deferred_claim_count += 1
