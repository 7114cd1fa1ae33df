"""Hardfork 11: accounts that hardfork 9 marked invalid are valid again (spec 03, section 21)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.state.objects.accounts import ACCOUNTS


def make_accounts_valid(ledger: Ledger) -> None:
    for account in ledger.store.scan(ACCOUNTS):
        if not account.valid:
            with ledger.editing(account):
                account.valid = True
