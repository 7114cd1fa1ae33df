"""What a client sees through a node."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from random import Random

from ledgerd.chain.chain import Chain
from ledgerd.protocol.operations.markets.bets import PmRevealBet
from ledgerd.protocol.types.names import AccountName
from ledgerd.state import Table
from ledgerd.state.objects.markets import bets, markets
from ledgerd.state.objects.markets.bets import PM_BETS, PmBet
from ledgerd.state.objects.markets.markets import MARKET_BY_STATUS, PM_MARKETS, PmMarket
from ledgerd.state.tables.tables import E
from tests.chain.networks import OTHERS


class Sight:
    """What a client sees through a node, what it alone knows, and its dice."""

    def __init__(self, chain: Chain, random: Random, secrets: dict[bytes, PmRevealBet]) -> None:
        self.store = chain.parts.store
        self.median = chain.parts.ledger.median
        self.now = chain.head_time
        self.random = random
        self.secrets = secrets
        """What the hidden bets of all clients stand for, by their hashes; of which commitment is seen in the state."""

    def some(self, table: Table[E], wanted: Callable[[E], bool] = lambda _: True) -> E | None:
        """One of the objects that will do."""
        found = [each for each in self.store.scan(table) if wanted(each)]
        return self.random.choice(found) if found else None

    def player(self, *but: str) -> AccountName:
        """One of those who bet, but none of these."""
        return self.random.choice([name for name in OTHERS if name not in but])

    @cached_property
    def takes_bets(self) -> frozenset[int]:
        """The markets that take bets."""
        active = self.store.scan(MARKET_BY_STATUS, lower=(markets.ACTIVE,), upper=(markets.ACTIVE,))
        return frozenset(market.id for market in active if market.betting_expiration > self.now)

    def open_market(self, wanted: Callable[[PmMarket], bool] = lambda _: True) -> PmMarket | None:
        """One that takes bets."""
        return self.some(PM_MARKETS, lambda market: market.id in self.takes_bets and wanted(market))

    def standing_bet(self) -> PmBet | None:
        """One in a market that takes bets."""
        return self.some(PM_BETS, lambda each: each.status == bets.ACTIVE and each.market in self.takes_bets)

    def place(self, market: PmMarket) -> int:
        """One of the market's outcomes."""
        return self.random.randrange(market.outcome_count)
