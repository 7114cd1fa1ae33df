"""Accounts that are made for whoever holds a key, and paid for by somebody else (spec 02, sections 7.1, 12 and 14.4).

Those that a creator describes in full are in `evaluators.accounts`.
"""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.authority import authority_of
from ledgerd.protocol.keys import PublicKey
from ledgerd.state.objects.accounts import (
    ACCOUNT_AUTHORITIES,
    ACCOUNT_METADATA,
    ACCOUNTS,
    Account,
    AccountAuthority,
    AccountMetadata,
)


def open_account(ledger: Ledger, account: Account, key: PublicKey) -> Account:
    """Take in an account whose one key is its memo key and all its authorities, with empty metadata."""
    account.memo_key = key
    account.created = ledger.now
    ledger.store.create(ACCOUNTS, account)
    authority = authority_of(key)
    ledger.store.create(
        ACCOUNT_AUTHORITIES,
        AccountAuthority(account=account.name, master=authority, active=authority, regular=authority),
    )
    ledger.store.create(ACCOUNT_METADATA, AccountMetadata(account=account.name))
    return account
