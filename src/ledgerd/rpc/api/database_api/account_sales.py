"""Accounts and subaccounts that can be bought (spec 05, sections 9.26 to 9.28)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import msgspec

from ledgerd.codec.numbers import UInt32
from ledgerd.protocol.amounts import Tokens
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.times import Time
from ledgerd.rpc.api.database_api.declared import DATABASE_API
from ledgerd.rpc.api.kinds import require_limit
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.accounts import ACCOUNT_BY_ON_SALE, ACCOUNT_BY_SUBACCOUNT_ON_SALE, Account
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES

MOST_SALES = 1000


class AccountOnSale(msgspec.Struct, frozen=True):
    """An account that is for sale, with the current bid."""

    account: str
    account_seller: str
    account_offer_price: Tokens
    account_on_sale_start_time: Time
    target_buyer: str
    current_bid: Tokens
    current_bidder: str
    current_bidder_key: PublicKey
    last_bid: Tokens


class SubaccountOnSale(msgspec.Struct, frozen=True):
    """An account that sells the right to create subaccounts."""

    account: str
    subaccount_seller: str
    subaccount_offer_price: Tokens


@DATABASE_API.method(args=exactly(2), examples=[[0, 10]])
def get_accounts_on_sale(view: ApiView, offset: UInt32, limit: UInt32) -> tuple[AccountOnSale, ...]:
    """Accounts whose sale has begun."""
    now = view.state.get(DYNAMIC_GLOBAL_PROPERTIES, 0).time
    return _on_sale(view, offset, limit, lambda account: account.account_on_sale_start_time <= now)


@DATABASE_API.method(args=exactly(2), examples=[[0, 10]])
def get_accounts_on_auction(view: ApiView, offset: UInt32, limit: UInt32) -> tuple[AccountOnSale, ...]:
    """Accounts on auction: their sale has not begun, and anybody may bid."""
    now = view.state.get(DYNAMIC_GLOBAL_PROPERTIES, 0).time
    return _on_sale(
        view, offset, limit, lambda account: account.account_on_sale_start_time >= now and not account.target_buyer
    )


def _on_sale(view: ApiView, offset: int, limit: int, is_wanted: Callable[[Account], bool]) -> tuple[AccountOnSale, ...]:
    """A page of the accounts that satisfy a condition.

    The offset is counted as in the reference, which tests the account after each one that it passes: so the first
    account is counted even if it does not satisfy the condition.
    """
    require_limit(limit, MOST_SALES)
    candidates = view.state.scan(ACCOUNT_BY_ON_SALE, lower=(True,), upper=(True,))
    current = next(candidates, None)
    while offset and current is not None:
        current = next(candidates, None)
        if current is not None and is_wanted(current):
            offset -= 1
    found: list[AccountOnSale] = []
    while current is not None and len(found) < limit:
        if is_wanted(current):
            found.append(_record(current))
        current = next(candidates, None)
    return tuple(found)


def _record(account: Account) -> AccountOnSale:
    return AccountOnSale(
        account.name,
        account.account_seller,
        account.account_offer_price,
        account.account_on_sale_start_time,
        account.target_buyer,
        account.current_bid,
        account.current_bidder,
        account.current_bidder_key,
        account.last_bid,
    )


@DATABASE_API.method(args=exactly(2), examples=[[0, 10]])
def get_subaccounts_on_sale(view: ApiView, offset: UInt32, limit: UInt32) -> tuple[SubaccountOnSale, ...]:
    """Accounts that sell the right to create subaccounts."""
    require_limit(limit, MOST_SALES)
    accounts = view.state.scan(ACCOUNT_BY_SUBACCOUNT_ON_SALE, lower=(True,), upper=(True,))
    page = islice(accounts, offset, offset + limit)
    return tuple(SubaccountOnSale(each.name, each.subaccount_seller, each.subaccount_offer_price) for each in page)
