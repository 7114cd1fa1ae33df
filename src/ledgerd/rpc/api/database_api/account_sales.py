"""Accounts and subaccounts for sale, in order (spec 05, sections 9.26 to 9.28; spec 10, section 10.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

import msgspec

from ledgerd.codec.types.numbers import UInt32
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.types.assets import Tokens
from ledgerd.protocol.types.names import text_order
from ledgerd.protocol.types.times import Time
from ledgerd.rpc.api.database_api.declared import DATABASE_API
from ledgerd.rpc.api.shared.kinds import record_of, require_limit
from ledgerd.rpc.call.counts import either
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_ON_SALE, ACCOUNT_BY_SUBACCOUNT_ON_SALE, Account
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.tables.tables import Index

MOST_SALES = 1000
"""Sales of one answer."""


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


@DATABASE_API.method(args=either(2, 3), examples=[[0, 10]])
def get_accounts_on_sale(
    view: ApiView, offset: UInt32, limit: UInt32, name_prefix: str = ""
) -> tuple[AccountOnSale, ...]:
    """Accounts whose sale has begun; with a prefix, those whose names begin with it."""
    now = view.state.get(DYNAMIC_GLOBAL_PROPERTIES, 0).time
    return _on_sale(view, offset, limit, name_prefix, lambda account: account.account_on_sale_start_time <= now)


@DATABASE_API.method(args=either(2, 3), examples=[[0, 10]])
def get_accounts_on_auction(
    view: ApiView, offset: UInt32, limit: UInt32, name_prefix: str = ""
) -> tuple[AccountOnSale, ...]:
    """Accounts on auction: their sale has not begun, and anybody may bid; with a prefix, those named so."""
    now = view.state.get(DYNAMIC_GLOBAL_PROPERTIES, 0).time

    def is_on_auction(account: Account) -> bool:
        return account.account_on_sale_start_time >= now and not account.target_buyer

    return _on_sale(view, offset, limit, name_prefix, is_on_auction)


def _on_sale(
    view: ApiView, offset: int, limit: int, prefix: str, is_wanted: Callable[[Account], bool]
) -> tuple[AccountOnSale, ...]:
    require_limit(limit, MOST_SALES)
    if prefix:
        named = _named(view, ACCOUNT_BY_ON_SALE, prefix)
        return tuple(
            record_of(AccountOnSale, each, account=each.name)
            for each in islice(filter(is_wanted, named), offset, offset + limit)
        )
    return _in_order_of_sale(view, offset, limit, is_wanted)


def _named(view: ApiView, for_sale: Index[Account], prefix: str) -> list[Account]:
    """The reference reads all accounts named so, and stops after 100,000; this reads those for sale alone."""
    accounts = view.state.under(for_sale, True)
    return sorted((each for each in accounts if each.name.startswith(prefix)), key=lambda each: text_order(each.name))


def _in_order_of_sale(
    view: ApiView, offset: int, limit: int, is_wanted: Callable[[Account], bool]
) -> tuple[AccountOnSale, ...]:
    """The offset is counted as in the reference, which tests each account but the first."""
    candidates = view.state.under(ACCOUNT_BY_ON_SALE, True)
    current = next(candidates, None)
    while offset and current is not None:
        current = next(candidates, None)
        if current is not None and is_wanted(current):
            offset -= 1
    found: list[AccountOnSale] = []
    while current is not None and len(found) < limit:
        if is_wanted(current):
            found.append(record_of(AccountOnSale, current, account=current.name))
        current = next(candidates, None)
    return tuple(found)


@DATABASE_API.method(args=either(2, 3), examples=[[0, 10]])
def get_subaccounts_on_sale(
    view: ApiView, offset: UInt32, limit: UInt32, name_prefix: str = ""
) -> tuple[SubaccountOnSale, ...]:
    """Accounts that sell the right to create subaccounts; with a prefix, those whose names begin with it."""
    require_limit(limit, MOST_SALES)
    accounts: Iterable[Account]
    if name_prefix:
        accounts = _named(view, ACCOUNT_BY_SUBACCOUNT_ON_SALE, name_prefix)
    else:
        accounts = view.state.under(ACCOUNT_BY_SUBACCOUNT_ON_SALE, True)
    page = islice(accounts, offset, offset + limit)
    return tuple(record_of(SubaccountOnSale, each, account=each.name) for each in page)
