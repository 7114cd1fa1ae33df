"""What operations ask of a market first: that there are any, that it is active, takes bets (spec 08, section 1).

And the sums of what is bet on its sides.
"""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.assets import fits_int64
from ledgerd.protocol.errors import require
from ledgerd.state.objects.markets import ACTIVE, BEING_PAID, PM_MARKETS, PmMarket


def require_markets_enabled(ledger: Ledger) -> None:
    """The first check of every operation of markets (spec 08, section 1.3: `GATE`)."""
    require(ledger.hardfork(14), "db.has_hardfork(CHAIN_HARDFORK_14): PM not enabled")


def market_of(ledger: Ledger, market_id: int) -> PmMarket:
    """A market that must exist (spec 08, section 3.1)."""
    return ledger.store.get(PM_MARKETS, market_id)


def require_active(market: PmMarket) -> None:
    """Its oracle has taken it on, and has not said how it ended."""
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
    """A stake on a side comes, or goes, in a binary market that is being edited; any side but 0 counts as 1.

    Spec 08, sections 5.1, 5.4 and 9.3.
    """
    if side == 0:
        market.a_bets_sum = fits_int64(market.a_bets_sum + amount)
    else:
        market.b_bets_sum = fits_int64(market.b_bets_sum + amount)
    market.bets_sum = fits_int64(market.bets_sum + amount)
