"""Prices as rules ask for them: from a market to the numbers of `ledgerd.pricing` (spec 08, sections 3.4 to 3.6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ledgerd.chain.ledger.arithmetic import DivideByZero
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.pricing.constant_product import Reserves, reserves_without
from ledgerd.pricing.errors import DivisionByZero, PricingError
from ledgerd.pricing.parimutuel import PenaltyTerms, time_penalty
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations.markets.markets import MULTI
from ledgerd.protocol.types.assets import fits_int64
from ledgerd.state.objects.markets.markets import OUTCOME_BY_MARKET, PM_OUTCOMES, PmMarket, PmOutcome

P = ParamSpec("P")
R = TypeVar("R")


def priced(compute: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """What a function of `ledgerd.pricing` gives; what it refuses is a broken rule."""
    try:
        return compute(*args, **kwargs)
    except DivisionByZero as error:
        raise DivideByZero(error.message) from None
    except PricingError as error:
        raise RuleViolation(error.message) from None


def reserves_of(market: PmMarket) -> Reserves:
    """The binary curve of a market (spec 08, section 3.5)."""
    return Reserves(market.reserve_a, market.reserve_b, market.k)


def take_liquidity(market: PmMarket, amount: int, depth: int) -> None:
    """Out of a market that is being edited, with so much of the depth of a book. Quirk: what a book was founded with,
    its subsidy, stays.
    """
    liquidity = market.liquidity_sum
    market.liquidity_sum = fits_int64(liquidity - amount)
    if market.market_type == MULTI:
        market.lmsr_b = fits_int64(market.lmsr_b - depth)
    elif liquidity > 0:
        reserves = reserves_without(market.reserve_a, market.reserve_b, liquidity, amount)
        market.reserve_a, market.reserve_b, market.k = reserves


def time_penalty_of(ledger: Ledger, market: PmMarket, risk_time: int) -> int:
    """The penalty of a bet whose risk began at a time, by the median of now (spec 08, section 3.4)."""
    if not market.time_penalty_value or not market.betting_expiration:
        return 0
    terms = PenaltyTerms(
        market.created_time,
        market.betting_expiration,
        market.time_penalty_type,
        market.time_penalty_value,
        market.penalty_curve_type,
    )
    return priced(time_penalty, terms, risk_time, ledger.median.pm_max_time_penalty)


def find_outcome(ledger: Ledger, market: PmMarket, place: int) -> PmOutcome | None:
    return ledger.store.lookup(OUTCOME_BY_MARKET, market.id, place)


def outcomes_of(ledger: Ledger, market: PmMarket) -> list[PmOutcome]:
    """In order; each must be there (spec 08, 5.1, step 8). Their ids mostly follow the first one's, else each is
    looked up.
    """
    first = find_outcome(ledger, market, 0)
    found = [first]
    for place in range(1, market.outcome_count):
        outcome = None if first is None else ledger.store.find(PM_OUTCOMES, first.id + place)
        if outcome is None or outcome.market != market.id or outcome.outcome_index != place:
            outcome = find_outcome(ledger, market, place)
        found.append(outcome)
    present = [outcome for outcome in found if outcome is not None]
    require(
        len(present) == len(found),
        "it != oidx_out.end() && it->market == mkt.id && it->outcome_index == i: Outcome missing",
    )
    return present
