"""Prediction markets: the orders that rules walk, and the keys that may stand there once (spec 07, section 10)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.protocol.types.names import AccountName
from ledgerd.state import Store
from ledgerd.state.errors import NotUnique
from ledgerd.state.objects import TABLES
from ledgerd.state.objects.markets import markets
from ledgerd.state.objects.markets.bets import BET_BY_STATUS_MARKET, PM_BETS, QUEUED, PmBet
from ledgerd.state.objects.markets.commitments import COMMIT_BY_REVEAL_DEADLINE, PM_COMMITS, REVEALED, PmCommit
from ledgerd.state.objects.markets.disputes import PM_DISPUTE_VOTES, PM_DISPUTES, PmDispute, PmDisputeVote
from ledgerd.state.objects.markets.lazy_pool import (
    PM_LAZY_ALLOCATIONS,
    PM_LAZY_DEPOSITS,
    PmLazyAllocation,
    PmLazyDeposit,
)
from ledgerd.state.objects.markets.leverage import LEVERAGE_BY_FUNDING_DUE, PM_LEVERAGE_POSITIONS, PmLeveragePosition
from ledgerd.state.objects.markets.markets import (
    MARKET_BY_ORACLE,
    MARKET_BY_RESULT_EXPIRATION,
    MARKET_BY_STATUS,
    PM_MARKETS,
    PM_OUTCOMES,
    PmMarket,
    PmOutcome,
)
from ledgerd.state.objects.markets.oracles import ORACLE_BY_BAN, PM_ORACLES, PmOracle
from ledgerd.state.objects.markets.settlements import PM_SETTLEMENTS, PmSettlement
from ledgerd.state.tables.tables import Entity, Table

ALICE, BOB = AccountName("alice"), AccountName("bob")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, TABLES) as store:
        yield store


def test_deleted_markets_come_before_those_that_wait(store: Store) -> None:
    for status in (markets.RESOLVED, markets.WAITING, markets.DELETED, markets.ACTIVE):
        store.create(PM_MARKETS, PmMarket(status=status))

    assert [market.status for market in store.scan(MARKET_BY_STATUS)] == [-1, 0, 1, 3]


def test_markets_whose_result_is_due_come_by_their_times_and_finished_ones_last(store: Store) -> None:
    for finalized, due in ((0, 9), (7, 1), (0, 3), (0, 3)):
        store.create(PM_MARKETS, PmMarket(status=markets.CLOSED, finalized_time=finalized, result_expiration=due))

    due_first = store.scan(MARKET_BY_RESULT_EXPIRATION, lower=(markets.CLOSED,))
    assert [market.id for market in due_first] == [2, 3, 0, 1]


def test_markets_of_an_oracle_stand_in_the_order_in_which_they_came_to_it(store: Store) -> None:
    first, second, third = (store.create(PM_MARKETS, PmMarket(oracle=BOB)) for _ in range(3))
    for market in (third, second, first):
        with store.editing(market):
            market.oracle = ALICE

    # The last one of the others stays where it is, right behind what has become its equal (spec 02, section 2.3).
    assert [market.id for market in store.scan(MARKET_BY_ORACLE, lower=(ALICE,), upper=(ALICE,))] == [
        market.id for market in (third, second, first)
    ]


def test_bans_end_in_the_order_of_their_times(store: Store) -> None:
    for owner, until in ((ALICE, 9), (BOB, 0), (AccountName("carol"), 5)):
        store.create(PM_ORACLES, PmOracle(owner=owner, banned_until=until))

    assert [oracle.owner for oracle in store.scan(ORACLE_BY_BAN, lower=(1,))] == ["carol", "alice"]


def test_bets_that_wait_are_found_by_their_status(store: Store) -> None:
    for market, status in ((2, 0), (2, QUEUED), (1, 0), (2, 0)):
        store.create(PM_BETS, PmBet(market=market, status=status))

    assert [bet.id for bet in store.scan(BET_BY_STATUS_MARKET, lower=(QUEUED,))] == [1]


def test_what_is_due_comes_first_among_what_is_still_open(store: Store) -> None:
    for status, deadline in ((0, 9), (REVEALED, 1), (0, 4)):
        store.create(PM_COMMITS, PmCommit(status=status, reveal_deadline=deadline))
        store.create(PM_LEVERAGE_POSITIONS, PmLeveragePosition(status=status, funding_due_time=deadline))

    commits = store.scan(COMMIT_BY_REVEAL_DEADLINE, upper=(0, 9))
    positions = store.scan(LEVERAGE_BY_FUNDING_DUE, upper=(0, 9))
    assert [commit.id for commit in commits] == [position.id for position in positions] == [2, 0]


ONCE: tuple[tuple[Table[Entity], Entity, Entity], ...] = (
    (PM_ORACLES, PmOracle(owner=ALICE), PmOracle(owner=ALICE, insurance=1)),
    (PM_OUTCOMES, PmOutcome(market=1, outcome_index=2), PmOutcome(market=1, outcome_index=2, q=1)),
    (PM_DISPUTES, PmDispute(market=1), PmDispute(market=1, disputer=ALICE)),
    (PM_DISPUTE_VOTES, PmDisputeVote(market=1, voter=ALICE), PmDisputeVote(market=1, voter=ALICE, time=1)),
    (PM_LAZY_DEPOSITS, PmLazyDeposit(account=ALICE), PmLazyDeposit(account=ALICE, shares=1)),
    (PM_LAZY_ALLOCATIONS, PmLazyAllocation(market=1), PmLazyAllocation(market=1, amount=1)),
    (PM_SETTLEMENTS, PmSettlement(market=1), PmSettlement(market=1, cursor=1)),
)  # type: ignore[assignment]  # tables of different objects, each with its own


@pytest.mark.parametrize(("table", "one", "same"), ONCE, ids=[str(table) for table, _, _ in ONCE])
def test_some_things_are_there_once(store: Store, table: Table[Entity], one: Entity, same: Entity) -> None:
    store.create(table, one)

    with pytest.raises(NotUnique):
        store.create(table, same)
