"""The history of keys: its orders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.protocol.crypto.keys import NULL_KEY, PublicKey
from ledgerd.protocol.types.names import AccountName
from ledgerd.state import Store
from ledgerd.state.objects import TABLES
from ledgerd.state.objects.accounts.accounts import (
    KEY_HISTORY,
    KEY_HISTORY_BY_KEY,
    KEY_HISTORY_BY_ROLE,
    KeyHistory,
    Role,
)

ALICE, BOB = AccountName("alice"), AccountName("bob")
KEY = PublicKey(b"\2" * 33)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, TABLES) as store:
        yield store


def test_the_last_change_of_a_role_is_the_last_in_its_order(store: Store) -> None:
    for account, role, time in (
        (ALICE, Role.MEMO, 5),
        (ALICE, Role.ACTIVE, 7),
        (BOB, Role.ACTIVE, 9),
        (ALICE, Role.ACTIVE, 8),
    ):
        store.create(KEY_HISTORY, KeyHistory(account=account, role=role, valid_until_time=time))

    of_role = (ALICE, Role.ACTIVE)
    last = store.first(KEY_HISTORY_BY_ROLE, lower=of_role, upper=of_role, reverse=True)
    assert last is not None
    assert last.valid_until_time == 8


def test_the_history_of_a_key_goes_over_all_accounts(store: Store) -> None:
    for account, key in ((BOB, KEY), (ALICE, NULL_KEY), (ALICE, KEY)):
        store.create(KEY_HISTORY, KeyHistory(account=account, key=key))

    assert [entry.account for entry in store.scan(KEY_HISTORY_BY_KEY, lower=(KEY,), upper=(KEY,))] == [BOB, ALICE]
