"""The lazy pool: what is in it, who has a part of it, and where it is (spec 11, section 6)."""

from __future__ import annotations

from ledgerd.codec.types.numbers import Int64, UInt32
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api.prediction_market.declared import PREDICTION_MARKET_API
from ledgerd.rpc.api.prediction_market.shared.id_lists import rows_page
from ledgerd.rpc.api.shared.kinds import existing, record_of
from ledgerd.rpc.call.counts import exactly, from_to
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.markets import lazy_pool


class LazyDeposit(lazy_pool.PmLazyDeposit):
    """An account's part of the lazy pool."""


@PREDICTION_MARKET_API.method(args=exactly(0, "_S"), examples=[[]])
def get_lazy_pool(view: ApiView) -> lazy_pool.PmLazyPool:
    """The pool that backs markets which nobody else backs."""
    return existing(view.state.find(lazy_pool.PM_LAZY_POOLS, 0), "p != nullptr: Lazy pool not initialized")


@PREDICTION_MARKET_API.method(args=exactly(1, "_S"), examples=[["alice"]])
def get_lazy_deposit(view: ApiView, account: AccountName) -> LazyDeposit:
    """An account's part of the pool."""
    deposit = view.state.lookup(lazy_pool.LAZY_DEPOSIT_BY_ACCOUNT, account)
    return record_of(LazyDeposit, existing(deposit, "itr != idx.end(): No lazy deposit for account"))


@PREDICTION_MARKET_API.method(args=exactly(1, "_S"), examples=[["alice"]])
def get_lazy_withdraw_requests(view: ApiView, account: AccountName) -> tuple[lazy_pool.PmLazyWithdrawRequest, ...]:
    """What the pool owes an account until markets give it back."""
    return tuple(view.state.under(lazy_pool.LAZY_REQUEST_BY_ACCOUNT, account))


@PREDICTION_MARKET_API.method(args=from_to(2, 2), examples=[[0, 10]])
def get_lazy_allocations(view: ApiView, from_: UInt32, limit: UInt32) -> tuple[lazy_pool.PmLazyAllocation, ...]:
    """What the pool has put into markets, the oldest first."""
    return rows_page(view, lazy_pool.PM_LAZY_ALLOCATIONS, lazy_pool.PM_LAZY_ALLOCATIONS.by_id, (), from_, limit)


@PREDICTION_MARKET_API.method(args=exactly(1, "_S"), examples=[[0]])
def get_market_lazy_allocation(view: ApiView, market: Int64) -> lazy_pool.PmLazyAllocation:
    """What the pool has put into a market."""
    allocation = view.state.lookup(lazy_pool.LAZY_ALLOCATION_BY_MARKET, market)
    return existing(allocation, "it != idx.end(): No lazy allocation for market")
