"""What is bet on the sides of a binary market: sums that its fees and payouts are computed from.

Spec 08, sections 5.1, 5.4 and 9.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerd.chain.ledger.arithmetic import share

if TYPE_CHECKING:
    from ledgerd.state.objects.markets import PmMarket


def count_stake(market: PmMarket, side: int, amount: int) -> None:
    """A stake comes, or goes, in a market that is being edited; any side but 0 counts as 1."""
    if side == 0:
        market.a_bets_sum = share(market.a_bets_sum + amount)
    else:
        market.b_bets_sum = share(market.b_bets_sum + amount)
    market.bets_sum = share(market.bets_sum + amount)
