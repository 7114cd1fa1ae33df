"""Accounts by name (spec 05, sections 9.9 to 9.12)."""

from __future__ import annotations

from itertools import islice

from ledgerd.codec.types.numbers import UInt32, UInt64
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api.database_api.declared import DATABASE_API
from ledgerd.rpc.api.shared.account_record import AccountText, account_text
from ledgerd.rpc.api.shared.kinds import Names, require_limit
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_NAME, ACCOUNTS

MOST_NAMES = 1000
"""Names of one answer."""


@DATABASE_API.method(args=exactly(1), examples=[[["viz", "committee"]]])
def get_accounts(view: ApiView, names: Names) -> tuple[AccountText, ...]:
    """The accounts of these names, in their order; unknown names are left out."""
    texts = []
    for name in names:
        text = account_text(view.state, name)
        if text is not None:
            view.grow(len(text))
            texts.append(text)
    return tuple(texts)


@DATABASE_API.method(args=exactly(1), examples=[[["viz", "nobody"]]])
def lookup_account_names(view: ApiView, names: Names) -> tuple[AccountText | None, ...]:
    """The accounts of these names, with null for unknown ones, and without the votes of the accounts."""
    texts = []
    for name in names:
        text = account_text(view.state, name, with_votes=False)
        view.grow(len(text or ""))
        texts.append(text)
    return tuple(texts)


@DATABASE_API.method(args=exactly(2), examples=[["a", 10]])
def lookup_accounts(view: ApiView, lower_bound_name: AccountName, limit: UInt32) -> tuple[str, ...]:
    """Names of accounts from a name on, in alphabetical order of bytes."""
    require_limit(limit, MOST_NAMES)
    accounts = view.state.scan(ACCOUNT_BY_NAME, lower=(lower_bound_name,))
    return tuple(account.name for account in islice(accounts, limit))


@DATABASE_API.method(examples=[[]])
def get_account_count(view: ApiView) -> UInt64:
    """The number of accounts."""
    return view.state.count(ACCOUNTS)
