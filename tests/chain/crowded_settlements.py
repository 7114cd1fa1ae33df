"""Markets whose rows are due, and markets that just stand there: written as if all had been bet on long ago."""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.pricing.constant_product import opening_reserves
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import ACCOUNTS, Account
from ledgerd.state.objects.markets import bets
from ledgerd.state.objects.markets.bets import PM_BETS, PmBet
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_ALLOCATIONS, PmLazyAllocation
from ledgerd.state.objects.markets.liquidity import PM_LIQUIDITY, PmLiquidity
from ledgerd.state.objects.markets.markets import (
    ACTIVE,
    BEING_PAID,
    PAID,
    PM_MARKETS,
    PM_OUTCOMES,
    RESOLVED,
    TO_BE_PAID,
    PmMarket,
    PmOutcome,
)
from tests.chain.crowds import ACCOUNTS_A_COMMIT
from tests.chain.networks import VIZ, Network

STAKE, LIQUIDITY = 1_000, 10_000_000
LONG_AGO = 86_400 * 30


class Work(NamedTuple):
    """A kind of rows, and how a market of it looks whose time has come."""

    title: str
    status: int
    payout_status: int
    finalized_time: int
    rows_a_bet: int


def works(now: int) -> tuple[Work, ...]:
    """A bet is counted and paid; a collection removes it, and that is all."""
    return (
        Work("settlement", RESOLVED, TO_BE_PAID, 0, 2),
        Work("refund", ACTIVE, BEING_PAID, 0, 2),
        Work("collection", RESOLVED, PAID, now - LONG_AGO, 1),
    )


def ledger_of(net: Network) -> Ledger:
    """The ledger of a network's node, with nothing left to undo."""
    parts = net.chain.parts
    parts.store.irreversible(parts.store.revision)
    return parts.ledger


def write_market(ledger: Ledger, work: Work, count: int) -> None:
    """A market of many bets, each of another account, a third of which has won."""
    store = ledger.store
    due = ledger.now - LONG_AGO
    market = PmMarket(
        creator=VIZ,
        oracle=VIZ,
        status=work.status,
        payout_status=work.payout_status,
        finalized_time=work.finalized_time,
        result_expiration=due,
        resolved_outcome=0 if work.status == RESOLVED else -1,
        bets_sum=count * STAKE,
        liquidity_sum=LIQUIDITY,
    )
    market.reserve_a, market.reserve_b, market.k = opening_reserves(LIQUIDITY)
    store.create(PM_MARKETS, market)
    status = bets.RESOLVED if work.payout_status == PAID else bets.ACTIVE
    for number in range(count):
        account = store.create(ACCOUNTS, Account(name=AccountName(f"{work.title}-{count}-{number}")))
        bet = PmBet(market=market.id, account=account.name, amount=STAKE, weight=STAKE, status=status)
        bet.side = 0 if number % 3 == 0 else 1
        store.create(PM_BETS, bet)
        if number % ACCOUNTS_A_COMMIT == ACCOUNTS_A_COMMIT - 1:
            store.commit()
    store.commit()


def open_markets(net: Network, count: int) -> None:
    """Markets that take bets, each with liquidity of its creator and of the pool, and none with anything to do."""
    ledger, store = net.chain.parts.ledger, net.chain.parts.store
    now = ledger.now
    for number in range(count):
        market = PmMarket(
            creator=VIZ,
            oracle=VIZ,
            status=ACTIVE,
            created_time=now,
            betting_expiration=now + 10_000_000 + number,
            result_expiration=now + 20_000_000 + number,
            liquidity_sum=2 * LIQUIDITY,
        )
        market.reserve_a, market.reserve_b, market.k = opening_reserves(2 * LIQUIDITY)
        store.create(PM_MARKETS, market)
        for place in range(2):
            store.create(PM_OUTCOMES, PmOutcome(market=market.id, outcome_index=place))
        store.create(PM_LIQUIDITY, PmLiquidity(market=market.id, provider=VIZ, amount=LIQUIDITY, deposit_time=now))
        store.create(PM_LIQUIDITY, PmLiquidity(market=market.id, amount=LIQUIDITY, deposit_time=now))
        allocation = PmLazyAllocation(
            market=market.id, amount=LIQUIDITY, original_amount=LIQUIDITY, last_check_time=now
        )
        store.create(PM_LAZY_ALLOCATIONS, allocation)
        if number % ACCOUNTS_A_COMMIT == ACCOUNTS_A_COMMIT - 1:
            store.commit()
    store.commit()
