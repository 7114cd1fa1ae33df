"""What holds after any traffic of the pool, of liquidity and of leverage: rows agree, tokens add up, undo is exact."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ledgerd.chain.ledger.evaluation import apply_operation
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.markets.bets import PmPlaceBet
from ledgerd.protocol.operations.markets.leverage import PmLeverageClose, PmLeverageConvert, PmLeverageOpen
from ledgerd.protocol.operations.markets.liquidity import (
    PmAddLiquidity,
    PmLazyDeposit,
    PmLazyWithdraw,
    PmWithdrawLiquidity,
)
from ledgerd.protocol.types.assets import tokens
from ledgerd.state.objects.markets import bets, leverage, liquidity
from ledgerd.state.objects.markets.bets import PM_BETS
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_DEPOSITS, PM_LAZY_POOLS, PM_LAZY_WITHDRAW_REQUESTS
from ledgerd.state.objects.markets.leverage import LEVERAGE_END_BY_MARKET, PM_LEVERAGE_POSITIONS
from ledgerd.state.objects.markets.liquidity import PM_LIQUIDITY
from ledgerd.state.objects.markets.markets import PM_MARKETS
from tests.chain.ledgers import ALICE, BOB, CAROL, pass_time, set_median
from tests.chain.leverage_scenes import DAY, create_deep_market
from tests.chain.market_scenes import RICH, create_multi_market, market_ledger
from tests.chain.whole_state import first_change, whole_state

ACCOUNTS = (ALICE, BOB, CAROL)

accounts = st.sampled_from(ACCOUNTS)
ids = st.integers(0, 5)
sides = st.integers(0, 1)
amounts = st.integers(100_000, 10**7)

traffic = st.lists(
    st.one_of(
        st.builds(lambda who, amount: PmLazyDeposit(who, tokens(amount), ()), accounts, st.integers(1, 10**11)),
        st.builds(
            lambda who, part, haste: PmLazyWithdraw(who, part, haste, ()),
            accounts,
            st.integers(0, 10**10),
            st.booleans(),
        ),
        st.builds(
            lambda who, market, amount: PmAddLiquidity(who, market, tokens(amount), ()), accounts, sides, amounts
        ),
        st.builds(
            lambda who, row, amount: PmWithdrawLiquidity(who, row, tokens(amount), ()),
            accounts,
            ids,
            st.just(0) | st.integers(1, 10**6),
        ),
        st.builds(
            lambda who, side, own, lent: PmLeverageOpen(who, 0, side, tokens(own), tokens(lent), 0, 0, ()),
            accounts,
            sides,
            st.integers(10**5, 3 * 10**6),
            st.integers(10**5, 10**6),
        ),
        st.builds(lambda who, position: PmLeverageClose(who, position, 0, ()), accounts, ids),
        st.builds(lambda who, position: PmLeverageConvert(who, position, 50, ()), accounts, ids),
        st.builds(
            lambda who, side, stake: PmPlaceBet(who, 0, side, -1, tokens(stake), 0, 0, ()),
            accounts,
            sides,
            st.integers(10**6, 10**8),
        ),
    ),
    min_size=10,
    max_size=20,
)


def try_out(ledger: Ledger, operation: Operation) -> bool:
    """Whether an operation was taken; one that was not leaves nothing."""
    before = whole_state(ledger.store)
    try:
        with ledger.store.begin() as session:
            apply_operation(ledger, operation)
            session.squash()
    except RuleViolation:
        assert first_change(before, whole_state(ledger.store)) is None
        return False
    return True


def aimed(ledger: Ledger, operation: Operation) -> Operation:
    """The same at a row that exists, if there is any, by whom it belongs to."""
    store = ledger.store
    if isinstance(operation, PmWithdrawLiquidity) and store.count(PM_LIQUIDITY):
        place = operation.liquidity_id % store.count(PM_LIQUIDITY)
        row = store.get(PM_LIQUIDITY, place)
        return replace(operation, provider=row.provider, liquidity_id=place)
    if isinstance(operation, PmLeverageClose | PmLeverageConvert) and store.count(PM_LEVERAGE_POSITIONS):
        place = operation.position_id % store.count(PM_LEVERAGE_POSITIONS)
        return replace(operation, account=store.get(PM_LEVERAGE_POSITIONS, place).account, position_id=place)
    deposits = list(store.scan(PM_LAZY_DEPOSITS))
    if isinstance(operation, PmLazyWithdraw) and deposits:
        deposit = deposits[operation.shares % len(deposits)]
        return replace(operation, account=deposit.account, shares=operation.shares % (deposit.shares + 1))
    return operation


def require_sound_pool(ledger: Ledger) -> None:
    pool = ledger.store.get(PM_LAZY_POOLS, 0)
    requests = list(ledger.store.scan(PM_LAZY_WITHDRAW_REQUESTS))
    positions = [row for row in ledger.store.scan(PM_LEVERAGE_POSITIONS) if row.status == leverage.ACTIVE]
    assert pool.total_shares == sum(row.shares for row in ledger.store.scan(PM_LAZY_DEPOSITS))
    assert pool.pending_withdrawals == sum(row.amount for row in requests)
    assert all(row.amount > 0 for row in requests)
    assert pool.leverage_fund_used == sum(row.loan for row in positions)
    assert min(pool.free_balance, pool.total_shares, pool.earned_balance) >= 0
    assert all(ledger.store.lookup(LEVERAGE_END_BY_MARKET, row.market) for row in positions)


def require_tokens_to_add_up(ledger: Ledger) -> None:
    """Everything that the accounts had is in one place or another, and their counters say so."""
    provided, staked, lent = Counter[str](), Counter[str](), Counter[str]()
    total = ledger.store.get(PM_LAZY_POOLS, 0).free_balance
    for row in ledger.store.scan(PM_LIQUIDITY):
        provided[row.provider] += row.amount if row.status == liquidity.ACTIVE else 0
    for bet in ledger.store.scan(PM_BETS):
        staked[bet.account] += bet.amount if bet.status == bets.ACTIVE else 0
    for position in ledger.store.scan(PM_LEVERAGE_POSITIONS):
        if position.status == leverage.ACTIVE:
            lent[position.account] += position.collateral
            total += position.total_bet
    for name in ACCOUNTS:
        account = ledger.account(name)
        assert account.pm_liquidity_committed == provided[name]
        assert account.pm_bets_staked == staked[name]
        assert account.pm_leverage_collateral == lent[name]
        total += account.balance
    total += sum(market.forfeit_pool for market in ledger.store.scan(PM_MARKETS))
    assert total + sum(provided.values()) + sum(staked.values()) == LENDABLE + RICH * len(ACCOUNTS)


LENDABLE = 10**10
"""What the pool has at first, of nobody in these tests."""


@settings(max_examples=60, deadline=None)
@given(operations=traffic, pauses=st.lists(st.integers(0, 20 * DAY), min_size=20, max_size=20))
def test_rows_agree_and_tokens_add_up(operations: list[Operation], pauses: list[int]) -> None:
    with TemporaryDirectory() as folder:
        ledger = market_ledger(Path(folder))
        create_deep_market(ledger, betting_expiration=0)
        create_multi_market(ledger, 3, betting_expiration=0)
        with ledger.editing(pool := ledger.store.get(PM_LAZY_POOLS, 0)):
            pool.free_balance = LENDABLE
        set_median(ledger, pm_leverage_funding_rate_ppm_per_day=1_000)
        before = whole_state(ledger.store)
        with ledger.store.begin():
            for operation, pause in zip(operations, pauses, strict=False):
                if try_out(ledger, aimed(ledger, operation)):
                    require_sound_pool(ledger)
                    require_tokens_to_add_up(ledger)
                pass_time(ledger, pause)
        assert first_change(before, whole_state(ledger.store)) is None
