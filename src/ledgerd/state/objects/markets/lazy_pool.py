"""The lazy pool: tokens that the chain spreads over markets (spec 07, sections 10.9 to 10.11 and 10.14)."""

from __future__ import annotations

from ledgerd.codec.types.numbers import ShareAmount, UInt8, UInt32, UInt128
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.tables.keys import NAME_TEXT, OBJECT_ID, OWN_ID, TIME, UINT8
from ledgerd.state.tables.tables import Entity, ObjectId, Table, ordered, unique

ACTIVE = 0
RETURNED = 1
"""Whether tokens of the pool are still in the market."""


class PmLazyPool(Entity):
    """There is one, from hardfork 14 on."""

    total_shares: ShareAmount = 0
    free_balance: ShareAmount = 0
    allocated_balance: ShareAmount = 0
    earned_balance: ShareAmount = 0
    reward_per_share: UInt128 = 0
    leverage_fund_used: ShareAmount = 0
    pending_withdrawals: ShareAmount = 0


class PmLazyDeposit(Entity):
    """An account's shares of the pool."""

    account: AccountName = NO_NAME
    shares: ShareAmount = 0
    principal: ShareAmount = 0
    reward_snapshot: UInt128 = 0
    pending_rewards: ShareAmount = 0
    unlock_time: Time = 0


class PmLazyAllocation(Entity):
    """What the pool has put into a market."""

    market: ObjectId = 0
    amount: ShareAmount = 0
    original_amount: ShareAmount = 0
    recalled_amount: ShareAmount = 0
    returned_amount: ShareAmount = 0
    bets_sum_at_check: ShareAmount = 0
    check_step: UInt32 = 0
    last_check_time: Time = 0
    status: UInt8 = ACTIVE


class PmLazyWithdrawRequest(Entity):
    """Tokens that the pool owes until enough of them come back from the markets."""

    account: AccountName = NO_NAME
    amount: ShareAmount = 0
    created: Time = 0


PM_LAZY_POOLS = Table(PmLazyPool, number=40)

PM_LAZY_DEPOSITS = Table(PmLazyDeposit, number=41)
LAZY_DEPOSIT_BY_ACCOUNT = unique(
    PM_LAZY_DEPOSITS, "by_deposit_account", lambda deposit: (deposit.account,), (NAME_TEXT,)
)

PM_LAZY_ALLOCATIONS = Table(PmLazyAllocation, number=42)
LAZY_ALLOCATION_BY_MARKET = unique(
    PM_LAZY_ALLOCATIONS, "by_market", lambda allocation: (allocation.market,), (OBJECT_ID,)
)
LAZY_ALLOCATION_BY_CHECK = unique(
    PM_LAZY_ALLOCATIONS,
    "by_alloc_check",
    lambda allocation: (allocation.status, allocation.last_check_time, allocation.id),
    (UINT8, TIME, OWN_ID),
)

PM_LAZY_WITHDRAW_REQUESTS = Table(PmLazyWithdrawRequest, number=45)
LAZY_REQUEST_BY_ACCOUNT = ordered(
    PM_LAZY_WITHDRAW_REQUESTS, "by_request_account", lambda request: (request.account,), (NAME_TEXT,)
)
