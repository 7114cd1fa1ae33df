"""Which markets there are in a large state, what is bet on them and by whom: numbers only, the same each time.

What the books of a market and of its accounts must say is summed up here, from bet to bet. `market_rows` writes it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

WORD = 1 << 32

MINUTE, DAY = 60, 86_400
MOST_OUTCOMES = 64
"""What a median allows if nobody asks for more."""


class Scale(NamedTuple):
    """How much there is of everything; the rest follows from these."""

    markets: int = 130_000
    """Open ones. There are a hundredth more, with something to be done for them in the blocks to come."""
    bets: int = 2_000_000
    accounts: int = 14_000

    @property
    def due(self) -> int:
        """Markets whose time has come."""
        return max(8, self.markets // 100)

    @property
    def oracles(self) -> int:
        """Accounts that are oracles, the first ones."""
        return max(3, self.accounts // 70)

    @property
    def depositors(self) -> int:
        """Accounts with shares of the lazy pool, the first ones too."""
        return max(3, self.accounts // 20)

    @property
    def commits(self) -> int:
        """Hidden bets that are to be shown within eleven minutes, or are forfeited."""
        return max(4, self.bets // 400)

    @property
    def queued(self) -> int:
        """How many bets, at most, wait for the end of their epoch; that of the state is soon."""
        return max(4, self.bets // 10_000)

    @property
    def positions(self) -> int:
        """Positions of leverage, each on a market of its own."""
        return max(2, self.markets // 20)


class Stage(Enum):
    """How far a market is."""

    OPEN = "takes bets"
    TO_BE_SETTLED = "resolved, and disputed no more"
    TO_BE_REFUNDED = "its oracle has forgotten it"
    TO_BE_COLLECTED = "paid out long ago"


class Kind(NamedTuple):
    """What a market is."""

    stage: Stage
    outcomes: int
    has_pool: bool
    """Whether the lazy pool is in it."""

    @property
    def is_binary(self) -> bool:
        return self.outcomes == 2


class Stake(NamedTuple):
    """A bet."""

    market: int
    account: int
    place: int
    amount: int
    is_queued: bool
    """Whether it waits for the end of its epoch."""


def scatter(number: int, salt: int) -> int:
    """A 32-bit number that looks like chance."""
    mixed = (number * 2_654_435_761 + salt * 40_503 + 12_345) % WORD
    mixed = (mixed ^ (mixed >> 15)) * 2_246_822_519 % WORD
    return mixed ^ (mixed >> 13)


def outcomes_of(number: int) -> int:
    """How many outcomes a market has: most have two."""
    if number % 1_000 == 999:
        return MOST_OUTCOMES
    return 2 if number % 10 < 7 else 3 + number % 7


def kind_of(number: int, scale: Scale) -> Kind:
    """The first markets are those with something to do: half of them are settled, a quarter each refunded, removed."""
    stage = Stage.OPEN
    if number < scale.due:
        stage = (Stage.TO_BE_SETTLED, Stage.TO_BE_REFUNDED, Stage.TO_BE_SETTLED, Stage.TO_BE_COLLECTED)[number % 4]
    return Kind(stage, outcomes_of(number), has_pool=number % 5 < 3 and stage is not Stage.TO_BE_COLLECTED)


def weight_of(amount: int, outcomes: int) -> int:
    """The tokens of a bet, at about the price at which a market opens."""
    return amount * outcomes * 9 // 10


def stake_of(number: int, scale: Scale) -> Stake:
    """A bet by its place among all: they come to all markets in turn, and often to a few that many know.

    One of the markets that are to be settled has so many that it takes several blocks.
    """
    chance, count = scatter(number, 1), scale.markets + scale.due
    known = count // 50 + 1
    market = 0 if chance % 200 == 0 else chance // 200 % (known if chance % 5 == 0 else count)
    return Stake(
        market=market,
        account=scatter(number, 2) % scale.accounts,
        place=scatter(number, 3) % outcomes_of(market),
        amount=1_000 + scatter(number, 4) % 50_000,
        is_queued=market >= scale.due and number % (scale.bets // scale.queued) == 7,
    )


class Plan:
    """All markets and bets of a scale, with their sums."""

    def __init__(self, scale: Scale) -> None:
        self.scale = scale
        self.kinds = [kind_of(number, scale) for number in range(scale.markets + scale.due)]
        self.first_place = array("I", [0])
        """Of each market, where its outcomes begin among those of all."""
        for kind in self.kinds:
            self.first_place.append(self.first_place[-1] + kind.outcomes)
        places = self.first_place[-1]
        self.amounts, self.weights = array("q", bytes(8 * places)), array("q", bytes(8 * places))
        """What stands on each outcome: bets that are queued do not."""
        self.counts = array("I", bytes(4 * places))
        self.staked = array("q", bytes(8 * scale.accounts))
        """What each account has in bets, the queued ones included, unless they are paid."""
        for stake in self.stakes():
            kind = self.kinds[stake.market]
            if kind.stage is not Stage.TO_BE_COLLECTED:
                self.staked[stake.account] += stake.amount
            if not stake.is_queued:
                where = self.first_place[stake.market] + stake.place
                self.amounts[where] += stake.amount
                self.weights[where] += weight_of(stake.amount, kind.outcomes)
                self.counts[where] += 1

    def stakes(self) -> Iterator[Stake]:
        """The bets in the order in which they came."""
        return (stake_of(number, self.scale) for number in range(self.scale.bets))

    def places_of(self, number: int) -> range:
        """Where the outcomes of a market stand among those of all."""
        return range(self.first_place[number], self.first_place[number + 1])

    def bets_sum(self, number: int) -> int:
        """What is bet on a market."""
        return sum(self.amounts[place] for place in self.places_of(number))
