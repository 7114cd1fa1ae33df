"""Accounts that operations name: those that have to exist."""

from __future__ import annotations

from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.operations.accounts.account_market import BuyAccount
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.transactions.operations.named_accounts import named_accounts, new_accounts

ALICE, BOB = AccountName("alice"), AccountName("bob")
KEY = PrivateKey(b"\5" * 32).public


def test_both_ends_of_a_transfer_are_named_and_nothing_is_created() -> None:
    transfer = Transfer(ALICE, BOB, tokens(1), "carol")

    assert [*named_accounts(transfer)] == [("from", "alice"), ("to", "bob")]
    assert [*new_accounts(transfer)] == []


def test_a_subaccount_that_is_bought_need_not_exist() -> None:
    assert [*named_accounts(BuyAccount(BOB, AccountName("shop.alice"), tokens(1), KEY, tokens(1)))] == [
        ("buyer", "bob")
    ]
