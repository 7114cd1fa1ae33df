from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.markets.liquidity import PmLazyDeposit, PmLazyWithdraw
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.markets import lazy_pool as objects
from ledgerd.state.objects.markets.lazy_pool import (
    LAZY_DEPOSIT_BY_ACCOUNT,
    PM_LAZY_DEPOSITS,
    PM_LAZY_WITHDRAW_REQUESTS,
    PmLazyWithdrawRequest,
)
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, carry_out, pass_time, set_median
from tests.chain.market_scenes import NOBODY, RICH, UNKNOWN, Rule, Scene, pool_of

DEPOSIT = PmLazyDeposit(account=BOB, amount=tokens(250_000), extensions=())
WITHDRAW = PmLazyWithdraw(account=BOB, shares=0, emergency=False, extensions=())
IN_HASTE = replace(WITHDRAW, emergency=True)

WEEK = 604_800
BILLION = 10**9


def deposit_of(ledger: Ledger, name: AccountName = BOB) -> objects.PmLazyDeposit | None:
    return ledger.store.lookup(LAZY_DEPOSIT_BY_ACCOUNT, name)


def create_deposit(ledger: Ledger, **fields: Any) -> objects.PmLazyDeposit:
    """A deposit of bob's, whose lock is over."""
    row = objects.PmLazyDeposit(account=BOB, unlock_time=NOW)
    for field, value in fields.items():
        setattr(row, field, value)
    return ledger.store.create(PM_LAZY_DEPOSITS, row)


def create_request(ledger: Ledger, name: AccountName, amount: int) -> PmLazyWithdrawRequest:
    return ledger.store.create(PM_LAZY_WITHDRAW_REQUESTS, PmLazyWithdrawRequest(account=name, amount=amount))


def requests_of(ledger: Ledger) -> list[tuple[int, AccountName, int]]:
    return [(row.id, row.account, row.amount) for row in ledger.store.scan(PM_LAZY_WITHDRAW_REQUESTS)]


def test_a_deposit_asks_in_this_order(markets: Ledger) -> None:
    pool = pool_of(markets, total_shares=1)
    scene = Scene(markets, DEPOSIT, pool=pool, bob=markets.account(BOB))

    caused = scene.asks_in_order(
        [
            Rule(
                "mp.pm_lazy_pool_enabled: Lazy pool not enabled",
                {"median": {"pm_lazy_pool_enabled": False}},
                {"median": {"pm_lazy_pool_enabled": True}},
            ),
            Rule("o.amount.symbol == TOKEN_SYMBOL: Amount must be VIZ", {"operation": {"amount": shares(1)}}),
            Rule(
                "o.amount.amount > 0: Amount must be positive",
                {"operation": {"amount": tokens(0)}},
                {"operation": {"amount": tokens(1)}},
            ),
            Rule(UNKNOWN, {"operation": {"account": NOBODY}}, {"operation": {"account": BOB}}),
            Rule("acct.balance >= o.amount: Insufficient balance", {"bob": {"balance": 0}}, {"bob": {"balance": 1}}),
            Rule(
                "new_shares.value > 0: Zero shares minted", {"pool": {"free_balance": 2}}, {"pool": {"free_balance": 1}}
            ),
        ]
    )

    assert caused == []
    assert (pool.total_shares, pool.free_balance, markets.account(BOB).balance) == (2, 2, 0)


def test_the_first_deposit_gets_a_share_for_each_unit(markets: Ledger) -> None:
    """Also where tokens of those who left are in the pool, and rewards were counted."""
    pool = pool_of(markets, free_balance=77, reward_per_share=5 * BILLION)

    assert carry_out(markets, DEPOSIT) == []

    assert (pool.total_shares, pool.free_balance, markets.account(BOB).balance) == (250_000, 250_077, RICH - 250_000)
    assert deposit_of(markets) == objects.PmLazyDeposit(
        id=0, account=BOB, shares=250_000, principal=250_000, reward_snapshot=5 * BILLION, unlock_time=NOW + WEEK
    )


def test_shares_cost_what_they_are_worth(markets: Ledger) -> None:
    """The figures of spec 08, section 13.5."""
    pool = pool_of(
        markets,
        total_shares=1_000_000,
        free_balance=600_000,
        allocated_balance=300_000,
        leverage_fund_used=50_000,
        pending_withdrawals=10_000,
    )

    carry_out(markets, DEPOSIT)

    deposit = deposit_of(markets)
    assert deposit is not None
    assert (deposit.shares, deposit.principal, pool.total_shares) == (265_957, 250_000, 1_265_957)


@pytest.mark.parametrize(("pending", "bought"), [(1_000_001, 250_000), (1_000_000, 250_000), (999_999, 250_000 * 8)])
def test_a_pool_that_owes_everything_sells_a_share_for_each_unit(markets: Ledger, pending: int, bought: int) -> None:
    pool_of(markets, total_shares=8, free_balance=1_000_000, pending_withdrawals=pending)

    carry_out(markets, DEPOSIT)

    deposit = deposit_of(markets)
    assert deposit is not None
    assert deposit.shares == bought


def test_more_of_a_deposit_keeps_its_rewards_and_its_lock(markets: Ledger) -> None:
    pool = pool_of(markets, total_shares=3_000, free_balance=3_000, reward_per_share=7 * BILLION + BILLION // 2)
    deposit = create_deposit(
        markets, shares=1_001, principal=900, reward_snapshot=5 * BILLION, pending_rewards=9, unlock_time=NOW - 5
    )

    carry_out(markets, replace(DEPOSIT, amount=tokens(50)))

    assert (deposit.shares, deposit.principal, deposit.pending_rewards) == (1_051, 950, 9 + 2_502)
    assert (deposit.reward_snapshot, deposit.unlock_time) == (pool.reward_per_share, NOW - 5)
    assert markets.store.count(PM_LAZY_DEPOSITS) == 1


def test_a_lock_ends_within_32_bits(markets: Ledger) -> None:
    set_median(markets, pm_lazy_lock_sec=2**32 - 1)

    carry_out(markets, DEPOSIT)

    deposit = deposit_of(markets)
    assert deposit is not None
    assert deposit.unlock_time == NOW - 1


def test_a_deposit_pays_whoever_waits_longest(markets: Ledger) -> None:
    """One only, and no more than there is."""
    pool = pool_of(markets, pending_withdrawals=300_000)
    create_request(markets, CAROL, 200_000)
    create_request(markets, ALICE, 100_000)

    carry_out(markets, DEPOSIT)
    assert requests_of(markets) == [(1, ALICE, 100_000)]
    assert (markets.account(CAROL).balance, pool.free_balance) == (RICH + 200_000, 50_000)

    carry_out(markets, replace(DEPOSIT, amount=tokens(1)))
    assert requests_of(markets) == [(1, ALICE, 49_999)]
    assert (pool.free_balance, pool.pending_withdrawals) == (0, 49_999)


def test_a_withdrawal_asks_in_this_order(markets: Ledger) -> None:
    pool = pool_of(markets, total_shares=1_000, free_balance=2_000)
    deposit = create_deposit(markets, shares=1_000, principal=2_000)
    scene = Scene(markets, WITHDRAW, pool=pool, deposit=deposit)
    invalid = "burn_shares.value > 0 && burn_shares.value <= dep.shares.value: Invalid shares amount"

    caused = scene.asks_in_order(
        [
            Rule(
                "mp.pm_lazy_pool_enabled: Lazy pool not enabled",
                {"median": {"pm_lazy_pool_enabled": False}},
                {"median": {"pm_lazy_pool_enabled": True}},
            ),
            Rule(
                "it != didx.end(): No lazy deposit found",
                {"operation": {"account": CAROL}},
                {"operation": {"account": BOB}},
            ),
            Rule(
                "pool.total_shares.value > 0: Pool empty", {"pool": {"total_shares": 0}}, {"pool": {"total_shares": 1}}
            ),
            Rule(
                "!locked: Deposit is locked; use emergency withdrawal or wait for unlock",
                {"deposit": {"unlock_time": NOW + 1}},
                {"deposit": {"unlock_time": NOW}},
            ),
            Rule(invalid, {"operation": {"shares": -1}}),
            Rule(invalid, {"operation": {"shares": 1_001}}, {"operation": {"shares": 1_000}}),
        ]
    )

    assert caused == []
    assert deposit_of(markets) is None


def test_a_deposit_of_no_shares_cannot_be_withdrawn(markets: Ledger) -> None:
    pool = pool_of(markets, total_shares=1)
    deposit = create_deposit(markets)

    Scene(markets, WITHDRAW, pool=pool, deposit=deposit).asks_in_order(
        [
            Rule(
                "burn_shares.value > 0 && burn_shares.value <= dep.shares.value: Invalid shares amount",
                {"deposit": {"shares": 0}},
                {"deposit": {"shares": 1}},
            )
        ]
    )


def test_an_emergency_costs_rewards(markets: Ledger) -> None:
    """The figures of spec 08, section 13.5."""
    pool = pool_of(markets, total_shares=3_000_000, reward_per_share=123_456_789)
    deposit = create_deposit(
        markets,
        shares=1_000_000,
        principal=900_000,
        reward_snapshot=23_456_789,
        pending_rewards=77,
        unlock_time=NOW + 1,
    )

    carry_out(markets, replace(IN_HASTE, shares=400_000))

    assert (pool.total_shares, pool.pending_withdrawals, pool.reward_per_share) == (2_600_000, 380_015, 131_154_865)
    assert requests_of(markets) == [(0, BOB, 380_015)]
    assert markets.store.get(PM_LAZY_WITHDRAW_REQUESTS, 0).created == NOW
    assert (deposit.shares, deposit.principal, deposit.pending_rewards) == (600_000, 540_000, 60_047)
    assert (deposit.reward_snapshot, deposit.unlock_time) == (131_154_865, NOW + 1)


def test_who_is_not_locked_pays_nothing_for_haste(markets: Ledger) -> None:
    pool = pool_of(markets, total_shares=2_000, free_balance=5_000, reward_per_share=BILLION)
    create_deposit(markets, shares=1_000, principal=800)

    carry_out(markets, IN_HASTE)

    assert (pool.reward_per_share, markets.account(BOB).balance) == (BILLION, RICH + 1_800)


@pytest.mark.parametrize(
    ("percent", "paid", "per_share"),
    [(10_000, 800, 2 * BILLION), (9_999, 801, BILLION + 999_000_000), (0, 1_800, BILLION)],
)
def test_the_penalty_goes_to_those_who_stay(markets: Ledger, percent: int, paid: int, per_share: int) -> None:
    """A part below a unit is not taken."""
    set_median(markets, pm_lazy_emergency_penalty_percent=percent)
    pool = pool_of(markets, total_shares=2_000, free_balance=5_000, reward_per_share=BILLION)
    create_deposit(markets, shares=1_000, principal=800, unlock_time=NOW + 1)

    carry_out(markets, IN_HASTE)

    assert (markets.account(BOB).balance, pool.reward_per_share) == (RICH + paid, per_share)
    assert (pool.free_balance, pool.pending_withdrawals, pool.total_shares) == (5_000 - paid, 0, 1_000)


def test_the_penalty_of_the_last_one_stays(markets: Ledger) -> None:
    pool = pool_of(markets, total_shares=1_000, free_balance=5_000, reward_per_share=BILLION)
    create_deposit(markets, shares=1_000, principal=800, unlock_time=NOW + 1)

    carry_out(markets, IN_HASTE)

    assert (pool.total_shares, pool.free_balance, pool.reward_per_share) == (0, 3_700, BILLION)


def test_a_whole_withdrawal_is_paid_at_once_from_what_is_free(markets: Ledger) -> None:
    pool = pool_of(markets, total_shares=1_000, free_balance=1_300, reward_per_share=BILLION // 2)
    create_deposit(markets, shares=1_000, principal=800)

    assert carry_out(markets, WITHDRAW) == []

    assert deposit_of(markets) is None
    assert (markets.account(BOB).balance, pool.free_balance, pool.pending_withdrawals) == (RICH + 1_300, 0, 0)
    assert (requests_of(markets), markets.store.next_id(PM_LAZY_WITHDRAW_REQUESTS)) == ([], 1)


def test_who_waits_longer_is_paid_first(markets: Ledger) -> None:
    pool = pool_of(markets, total_shares=1_000, free_balance=900, pending_withdrawals=500)
    create_request(markets, CAROL, 500)
    create_deposit(markets, shares=1_000, principal=800)

    carry_out(markets, WITHDRAW)

    assert (requests_of(markets), markets.account(CAROL).balance) == ([(1, BOB, 800)], RICH + 500)
    assert (pool.free_balance, pool.pending_withdrawals) == (400, 800)


def test_a_part_takes_its_part_of_principal_and_rewards(markets: Ledger) -> None:
    """Both rounded down; the rest stays with the rest."""
    pool = pool_of(markets, total_shares=10, free_balance=10**6, reward_per_share=BILLION)
    deposit = create_deposit(markets, shares=7, principal=100, pending_rewards=4)

    carry_out(markets, replace(WITHDRAW, shares=2))

    assert markets.account(BOB).balance == RICH + 28 + 3
    assert (deposit.shares, deposit.principal, deposit.pending_rewards) == (5, 72, 8)
    assert (deposit.reward_snapshot, pool.total_shares) == (BILLION, 8)


def test_what_is_owed_to_nobody_does_not_wait(markets: Ledger) -> None:
    pool_of(markets, total_shares=10, free_balance=10**6)
    deposit = create_deposit(markets, shares=7, principal=3)

    carry_out(markets, replace(WITHDRAW, shares=2))

    assert (deposit.shares, deposit.principal) == (5, 3)
    assert (requests_of(markets), markets.store.next_id(PM_LAZY_WITHDRAW_REQUESTS)) == ([], 0)


def test_a_deposit_comes_back_after_its_lock(markets: Ledger) -> None:
    carry_out(markets, DEPOSIT)
    pass_time(markets, WEEK)

    carry_out(markets, WITHDRAW)

    assert (markets.account(BOB).balance, pool_of(markets).total_shares) == (RICH, 0)
