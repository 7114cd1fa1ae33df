"""Many markets, written past the rules: what bets cost is looked at with them."""

from __future__ import annotations

from ledgerd.pricing.constant_product import opening_reserves
from ledgerd.pricing.lmsr import depth_of_liquidity
from ledgerd.state.objects.markets.markets import ACTIVE, PM_MARKETS, PM_OUTCOMES, PmMarket, PmOutcome
from tests.chain.networks import VIZ, Network

LIQUIDITY = 10_000_000


def open_markets(net: Network, outcomes: int, count: int) -> None:
    """Markets of an equal shape, as if they had been opened long ago."""
    store = net.chain.parts.store
    for _ in range(count):
        market = PmMarket(
            creator=VIZ,
            oracle=VIZ,
            outcome_count=outcomes,
            status=ACTIVE,
            created_time=net.chain.head_time,
            betting_expiration=net.chain.head_time + 100_000,
            result_expiration=net.chain.head_time + 200_000,
            liquidity_sum=LIQUIDITY,
            time_penalty_value=50_000,
        )
        if outcomes == 2:
            market.reserve_a, market.reserve_b, market.k = opening_reserves(LIQUIDITY)
        else:
            market.market_type, market.lmsr_b = 1, depth_of_liquidity(LIQUIDITY, outcomes)
        store.create(PM_MARKETS, market)
        for place in range(outcomes):
            store.create(PM_OUTCOMES, PmOutcome(market=market.id, outcome_index=place, label=f"outcome {place}"))
    store.commit()
