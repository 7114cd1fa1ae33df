"""What deposits in the lazy pool weigh in votes (spec 10, sections 7.2 and 12.6)."""

from __future__ import annotations

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.lazy_pool import NO_POOL_VOTES, pool_votes, voting_weight
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_DEPOSITS, PM_LAZY_POOLS, PmLazyDeposit, PmLazyPool
from tests.chain.ledgers import ALICE, CAROL, change, create_account

TURNOUT = 100_000


@pytest.fixture
def ledger(ledger: Ledger) -> Ledger:
    create_account(ledger, ALICE, shares=TURNOUT)
    create_account(ledger, CAROL, shares=9 * TURNOUT)
    return ledger


def with_pool(ledger: Ledger, *, value: int, shares: int, deposited: int, waiting: int = 0) -> None:
    """A pool whose tokens are in three places, with a deposit of Alice's."""
    pool = PmLazyPool(
        total_shares=shares,
        free_balance=value - 7,
        allocated_balance=4,
        leverage_fund_used=3,
        pending_withdrawals=waiting,
    )
    ledger.store.create(PM_LAZY_POOLS, pool)
    ledger.store.create(PM_LAZY_DEPOSITS, PmLazyDeposit(account=ALICE, shares=deposited))


def test_without_a_pool_shares_alone_weigh(ledger: Ledger) -> None:
    assert pool_votes(ledger) == NO_POOL_VOTES
    assert voting_weight(ledger, pool_votes(ledger), ALICE) == TURNOUT


def test_a_deposit_in_the_lazy_pool_weighs_as_the_shares_that_it_would_buy(ledger: Ledger) -> None:
    """The vector of spec 10, section 12.6, at a thousand shares a token."""
    with_pool(ledger, value=5_000_000, shares=4_000_000, deposited=1_234_567, waiting=4_999_999)
    pool = pool_votes(ledger)
    assert pool.weight == 5_000_000_000
    assert voting_weight(ledger, pool, ALICE) == TURNOUT + 1_543_208_000
    assert voting_weight(ledger, pool, CAROL) == 9 * TURNOUT


@pytest.mark.parametrize(
    "fields", [{"total_shares": 0}, {"free_balance": -8}, {"free_balance": -7}], ids=["shares", "less", "nothing"]
)
def test_a_pool_without_shares_or_tokens_weighs_nothing(ledger: Ledger, fields: dict[str, int]) -> None:
    with_pool(ledger, value=1_000, shares=1_000, deposited=1_000)
    change(ledger, ledger.store.get(PM_LAZY_POOLS, 0), **fields)
    pool = pool_votes(ledger)
    assert pool.weight == 0
    assert voting_weight(ledger, pool, ALICE) == TURNOUT


def test_a_deposit_that_is_worth_less_than_a_token_weighs_nothing(ledger: Ledger) -> None:
    with_pool(ledger, value=1_000, shares=1_001, deposited=1)
    assert voting_weight(ledger, pool_votes(ledger), ALICE) == TURNOUT
