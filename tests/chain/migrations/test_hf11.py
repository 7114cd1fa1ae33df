"""Hardfork 11 makes all accounts valid."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.migrations.hardforks import make_accounts_valid
from tests.chain.ledgers import create_account


def test_an_account_that_was_marked_invalid_is_valid_again(ledger: Ledger) -> None:
    alice = create_account(ledger, "alice", valid=False)

    make_accounts_valid(ledger)

    assert alice.valid
